// Which words of a text are a part of some value, as python/fastsql/linking/value_parts.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "linking/gram_table.h"
#include "linking/near_places.h"
#include "linking/value_table.h"

namespace fastsql::linking {

// A text whose runs of words are asked for, or it alone.
struct Said {
  std::string_view plain;       // in small letters where it is ASCII, else nothing
  std::string_view key;         // its words in UTF-8 with one blank between two
  std::vector<WordRun> places;  // [words], where these stand in `plain`
  bool whole = false;
};

// A run of words that a value has: it begins with the word `fixed` (ends with it where kind is kEnded), and reaches as far as `furthest`.
struct ValuePart {
  enum Kind : std::uint8_t { kWithin, kBegun, kEnded };
  static constexpr std::int32_t kEvery = -1;
  std::size_t text;
  Kind kind;
  std::size_t fixed, furthest;
  std::int32_t holders;  // the number of a set of columns, or kEvery
};

// The runs of all texts, of values that a set of columns with allowed[set] != 0 holds. Thread-safe; throws ModelError where a table is
// damaged, or a text has not one place for each word.
std::vector<ValuePart> find_parts(const ValueTable& table, const GramTable& grams, const std::vector<Said>& texts,
                                  const std::vector<std::uint8_t>& allowed);

}  // namespace fastsql::linking
