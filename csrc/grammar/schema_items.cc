#include "grammar/schema_items.h"

#include <utility>

namespace fastsql::grammar {
namespace {

constexpr std::int32_t kMostTables = 1 << 16, kMostColumns = 1 << 20, kMostValues = 1 << 24;
// In place of a value's column: a named constant without one, and a value that meets nothing.
constexpr std::int32_t kConstant = -1, kNowhere = -2;

// Distances that one number of the table holds, and the bits of each.
constexpr std::int32_t kDistances = 10, kDistanceBits = 3;

// The arrays of a SchemaView while they grow.
class Reading {
 public:
  Reading(const Table& table, std::int32_t productions, SchemaView& view, std::vector<Range>& constants)
      : reader_("schema table", table, SchemaItems::kVersion), view_(view), constants_(constants) {
    const std::size_t tables = reader_.count("tables", kMostTables, 1);
    const std::size_t columns = reader_.count("columns", kMostColumns, 1);
    view_.tables = static_cast<std::int32_t>(tables);
    view_.columns = static_cast<std::int32_t>(columns);
    view_.values = static_cast<std::int32_t>(reader_.count("values", kMostValues, 1));
    view_.first_table = productions;
    columns_of_.resize(tables);
    types_.resize(columns);
    table_of_.resize(columns);
    has_time_.resize(tables);
    times_.resize(words_for(static_cast<std::size_t>(view_.first_candidate())));
    key_group_.resize(columns);
    key_name_.resize(columns);
    is_unique_.resize(columns);
    read_columns();
    for (std::int32_t& group : key_group_) group = reader_.next("key group of a column", -1, view_.columns - 1);
    for (std::int32_t& key : key_name_) key = reader_.next("key named like a column", -1, view_.columns - 1);
    for (std::uint8_t& unique : is_unique_) unique = static_cast<std::uint8_t>(reader_.next("uniqueness of a column", 0, 1));
    for (std::size_t row = 0; row < tables; ++row) read_distances(tables);
    read_values();
    reader_.end();
  }

  Image image() const {
    return Image(Image::Array{columns_of_, view_.columns_of}, Image::Array{types_, view_.types},
                 Image::Array{table_of_, view_.table_of}, Image::Array{key_group_, view_.key_group},
                 Image::Array{key_name_, view_.key_name}, Image::Array{is_unique_, view_.is_unique},
                 Image::Array{distances_, view_.distances}, Image::Array{has_time_, view_.has_time},
                 Image::Array{times_, view_.times}, Image::Array{runs_, view_.runs}, Image::Array{first_run_, view_.first_run});
  }

 private:
  void read_columns() {
    std::int32_t next = 0;
    for (Range& range : columns_of_) {
      range.begin = next;
      next += reader_.next("columns of a table", 0, view_.columns - next);
      range.end = next;
    }
    if (next != view_.columns) reader_.fail("has columns that are in no table");
    for (std::size_t table = 0; table < columns_of_.size(); ++table) {
      for (std::int32_t column = columns_of_[table].begin; column < columns_of_[table].end; ++column) {
        const auto number = static_cast<std::size_t>(column);
        types_[number] = static_cast<TypeClass>(reader_.next("type of a column", 0, static_cast<std::int32_t>(kTypeClasses) - 1));
        table_of_[number] = static_cast<std::int32_t>(table);
        if (!can_hold_time(types_[number])) continue;
        has_time_[table] = 1;
        set_bit(times_.data(), static_cast<std::size_t>(view_.first_column() + column));
      }
    }
  }

  // Those of one table; the array grows no faster than the table is read.
  void read_distances(std::size_t tables) {
    constexpr std::int32_t kMost = (1 << kDistanceBits) - 1;
    std::int32_t held = 0;
    for (std::size_t place = 0; place < tables; ++place) {
      if (place % kDistances == 0) held = reader_.next("distances of a table", 0, (1 << kDistances * kDistanceBits) - 1);
      distances_.push_back(static_cast<std::uint8_t>(held & kMost));
      held >>= kDistanceBits;
    }
  }

  void read_values() {
    struct Run {
      std::int32_t column;
      Range values;
    };
    std::vector<Run> found;
    for (std::int32_t value = 0; value < view_.values; ++value) {
      const std::int32_t column = reader_.next("column of a value", kNowhere, view_.columns - 1);
      if (!found.empty() && found.back().column == column) {
        ++found.back().values.end;
      } else {
        found.push_back({column, {value, value + 1}});
      }
    }
    first_run_.assign(types_.size() + 1, 0);
    for (const Run& run : found) {
      if (run.column >= 0) ++first_run_[static_cast<std::size_t>(run.column) + 1];
      if (run.column == kConstant) constants_.push_back(run.values);
    }
    for (std::size_t column = 0; column < types_.size(); ++column) first_run_[column + 1] += first_run_[column];
    runs_.resize(static_cast<std::size_t>(first_run_.back()));
    std::vector<std::int32_t> place(first_run_.begin(), first_run_.end() - 1);
    for (const Run& run : found) {
      if (run.column < 0) continue;
      const std::int32_t next = place[static_cast<std::size_t>(run.column)]++;
      runs_[static_cast<std::size_t>(next)] = run.values;
    }
  }

  TableReader reader_;
  SchemaView& view_;
  std::vector<Range>& constants_;
  std::vector<Range> columns_of_, runs_;
  std::vector<TypeClass> types_;
  std::vector<std::int32_t> table_of_, key_group_, key_name_, first_run_;
  std::vector<std::uint8_t> is_unique_, distances_, has_time_;
  std::vector<Word> times_;
};

}  // namespace

SchemaItems::SchemaItems(std::shared_ptr<const Grammar> grammar, const Table& table)
    : grammar_(std::move(grammar)), image_(Reading(table, grammar_->view().productions, view_, constants_).image()) {}

SchemaView SchemaItems::view(const std::byte* base) const { return image_.rebased(view_, base); }

}  // namespace fastsql::grammar
