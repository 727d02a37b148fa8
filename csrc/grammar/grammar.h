// The compiled action grammar: which alternatives each symbol has, what they need and what they expand to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "grammar/image.h"
#include "grammar/table_reader.h"
#include "grammar/views.h"

namespace fastsql::grammar {

// The pointers that an action of a kind may stand for: POINTERS_OF in python/fastsql/grammar/actions.py. A symbol that knows several
// takes the first.
std::initializer_list<Pointer> pointers_of(Kind kind);

class Grammar {
 public:
  static constexpr std::int32_t kVersion = 2;

  // Reads what `grammar_table` of python/fastsql/grammar/tables.py writes; the layout is described there.
  // Throws ModelError where a size or a number is out of range, or where an effect stands where it can never be
  // carried out.
  explicit Grammar(const Table& table);
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  std::size_t productions() const { return static_cast<std::size_t>(view_.productions); }

  const GrammarView& view() const { return view_; }
  // All arrays of the view, one block of memory; and the view of a copy of it at `base`, which is not looked at.
  const std::byte* image() const { return image_.start(); }
  std::size_t image_bytes() const { return image_.bytes(); }
  GrammarView view(const std::byte* base) const;

 private:
  GrammarView view_{};
  Image image_;  // made after the view, whose pointers it sets
};

}  // namespace fastsql::grammar
