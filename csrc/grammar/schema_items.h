// What the automaton knows of a schema: made once a schema, shared by all its questions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "grammar/grammar.h"

namespace fastsql::grammar {

class SchemaItems {
 public:
  static constexpr std::int32_t kVersion = 4;

  // Reads what `schema_table` of python/fastsql/grammar/tables.py writes; the layout is described there.
  // Throws ModelError where a size or a number is out of range.
  SchemaItems(std::shared_ptr<const Grammar> grammar, const Table& table);
  SchemaItems(const SchemaItems&) = delete;
  SchemaItems& operator=(const SchemaItems&) = delete;

  const Grammar& grammar() const { return *grammar_; }
  // Runs of the named constants that stand with no column: numbers may be compared with them.
  const std::vector<Range>& constants() const { return constants_; }

  const SchemaView& view() const { return view_; }
  // All arrays of the view, one block of memory; and the view of a copy of it at `base`, which is not looked at.
  const std::byte* image() const { return image_.start(); }
  std::size_t image_bytes() const { return image_.bytes(); }
  SchemaView view(const std::byte* base) const;

 private:
  std::shared_ptr<const Grammar> grammar_;
  std::vector<Range> constants_;
  SchemaView view_{};
  Image image_;  // made after the view, whose pointers it sets
};

}  // namespace fastsql::grammar
