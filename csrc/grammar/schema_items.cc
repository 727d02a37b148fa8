#include "grammar/schema_items.h"

#include <string>
#include <utility>

namespace fastsql::grammar {
namespace {

constexpr std::int32_t kMostTables = 1 << 16, kMostColumns = 1 << 20, kMostValues = 1 << 24;
// In place of a value's column: a named constant without one, and a value that meets nothing.
constexpr std::int32_t kConstant = -1, kNowhere = -2;

}  // namespace

SchemaItems::SchemaItems(std::shared_ptr<const Grammar> grammar, const Table& table) : grammar_(std::move(grammar)) {
  TableReader reader("schema table", table, kVersion);
  const std::size_t tables = reader.count("tables", kMostTables, 1);
  const std::size_t columns = reader.count("columns", kMostColumns, 1);
  values_ = static_cast<std::int32_t>(reader.count("values", kMostValues, 1));
  columns_of_.resize(tables);
  types_.resize(columns);
  table_of_.resize(columns);
  has_time_.assign(tables, 0);
  read_columns(reader);
  read_values(reader);
  reader.end();
}

void SchemaItems::read_columns(TableReader& reader) {
  std::int32_t next = 0;
  for (Range& range : columns_of_) {
    range.begin = next;
    next += reader.next("columns of a table", 0, columns() - next);
    range.end = next;
  }
  if (next != columns()) reader.fail("has columns that are in no table");
  times_.resize(words_for(static_cast<std::size_t>(first_candidate())));
  for (std::int32_t table = 0; table < tables(); ++table) {
    for (std::int32_t column = columns_of(table).begin; column < columns_of(table).end; ++column) {
      const auto number = static_cast<std::size_t>(column);
      types_[number] =
          static_cast<TypeClass>(reader.next("type of a column", 0, static_cast<std::int32_t>(kTypeClasses) - 1));
      table_of_[number] = table;
      if (!can_hold_time(types_[number])) continue;
      has_time_[static_cast<std::size_t>(table)] = 1;
      set_bit(times_.data(), static_cast<std::size_t>(first_column() + column));
    }
  }
}

void SchemaItems::read_values(TableReader& reader) {
  struct Run {
    std::int32_t column;
    Range values;
  };
  std::vector<Run> found;
  for (std::int32_t value = 0; value < values_; ++value) {
    const std::int32_t column = reader.next("column of a value", kNowhere, columns() - 1);
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
  runs_.resize(first_run_.back());
  std::vector<std::size_t> place(first_run_.begin(), first_run_.end() - 1);
  for (const Run& run : found) {
    if (run.column >= 0) runs_[place[static_cast<std::size_t>(run.column)]++] = run.values;
  }
}

}  // namespace fastsql::grammar
