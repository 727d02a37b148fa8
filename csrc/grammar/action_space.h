// The action space of one question over one schema: how actions are numbered, and which literals fit what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "grammar/schema_items.h"

namespace fastsql::grammar {

class ActionSpace {
 public:
  static constexpr std::int32_t kVersion = 3;

  // Reads what `question_table` of python/fastsql/grammar/tables.py writes; the layout is described there.
  // Throws ModelError where a size or a number is out of range.
  ActionSpace(std::shared_ptr<const SchemaItems> schema, const Table& table);
  ActionSpace(const ActionSpace&) = delete;
  ActionSpace& operator=(const ActionSpace&) = delete;

  const SchemaItems& schema() const { return *schema_; }
  const std::shared_ptr<const SchemaItems>& shared_schema() const { return schema_; }
  const Grammar& grammar() const { return schema_->grammar(); }

  // Number of flat ids, and of the words of a set of them.
  std::int32_t size() const { return view_.size(); }
  std::size_t words() const { return view_.words(); }
  std::int32_t offset(Kind kind) const { return view_.offset(kind); }
  // First flat id behind a kind.
  std::int32_t end(Kind kind) const { return view_.end(kind); }
  // Kind and index of a flat id, which must be one.
  Action locate(std::int32_t action) const { return view_.locate(action); }

  const SpaceView& view() const { return view_; }
  // All arrays of the view beside those of grammar and schema, one block of memory; and the view of a copy of it at `base`, which
  // is not looked at.
  const std::byte* image() const { return image_.start(); }
  std::size_t image_bytes() const { return image_.bytes(); }
  SpaceView view(const GrammarView& grammar, const SchemaView& schema, const std::byte* base) const;

 private:
  std::shared_ptr<const SchemaItems> schema_;
  SpaceView view_{};
  Image image_;  // made after the view, whose pointers it sets
};

}  // namespace fastsql::grammar
