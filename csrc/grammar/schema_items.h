// What the automaton knows of a schema: made once a schema, shared by all its questions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "grammar/grammar.h"

namespace fastsql::grammar {

// Type classes, in the order of TYPE_CLASSES in python/fastsql/schema/sqltypes.py.
enum class TypeClass : std::uint8_t { kNumber, kText, kTime, kBoolean, kOther };
constexpr std::size_t kTypeClasses = 5;

// SQLite keeps times as text, and some schemas name no type.
constexpr bool can_hold_time(TypeClass type) {
  return type == TypeClass::kTime || type == TypeClass::kText || type == TypeClass::kOther;
}

// Whether an expression of this class may be compared with free text of the question.
constexpr bool takes_span(TypeClass type) { return type == TypeClass::kText || type == TypeClass::kOther; }

// [begin, end)
struct Range {
  std::int32_t begin = 0, end = 0;
  std::int32_t size() const { return end - begin; }
};

class SchemaItems {
 public:
  static constexpr std::int32_t kVersion = 1;

  // Reads what `schema_table` of python/fastsql/grammar/tables.py writes; the layout is described there.
  // Throws ModelError where a size or a number is out of range.
  SchemaItems(std::shared_ptr<const Grammar> grammar, const Table& table);

  const Grammar& grammar() const { return *grammar_; }
  std::int32_t tables() const { return static_cast<std::int32_t>(columns_of_.size()); }
  std::int32_t columns() const { return static_cast<std::int32_t>(types_.size()); }
  std::int32_t values() const { return values_; }

  TypeClass type(std::int32_t column) const { return types_[static_cast<std::size_t>(column)]; }
  std::int32_t table_of(std::int32_t column) const { return table_of_[static_cast<std::size_t>(column)]; }
  const Range& columns_of(std::int32_t table) const { return columns_of_[static_cast<std::size_t>(table)]; }
  bool has_time(std::int32_t table) const { return has_time_[static_cast<std::size_t>(table)] != 0; }

  // Flat ids of all columns that can hold a time; words up to the last column.
  const std::vector<Word>& times() const { return times_; }
  // First flat ids of tables, columns and candidates: the kinds whose place does not depend on the question.
  std::int32_t first_table() const { return static_cast<std::int32_t>(grammar_->productions()); }
  std::int32_t first_column() const { return first_table() + tables(); }
  std::int32_t first_candidate() const { return first_column() + columns(); }

  // Runs of schema values that stand with a column: [first, last).
  struct Runs {
    const Range* first;
    const Range* last;
    const Range* begin() const { return first; }
    const Range* end() const { return last; }
  };
  Runs values_of(std::int32_t column) const {
    const auto number = static_cast<std::size_t>(column);
    return {runs_.data() + first_run_[number], runs_.data() + first_run_[number + 1]};
  }
  // Runs of the named constants that stand with no column: numbers may be compared with them.
  const std::vector<Range>& constants() const { return constants_; }

 private:
  void read_columns(TableReader& reader);
  void read_values(TableReader& reader);

  std::shared_ptr<const Grammar> grammar_;
  std::vector<Range> columns_of_;
  std::vector<TypeClass> types_;
  std::vector<std::int32_t> table_of_;
  std::vector<std::uint8_t> has_time_;
  std::vector<Word> times_;
  std::int32_t values_ = 0;
  std::vector<Range> runs_;               // by column
  std::vector<std::size_t> first_run_;    // [columns + 1]
  std::vector<Range> constants_;
};

}  // namespace fastsql::grammar
