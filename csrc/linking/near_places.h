// Where a question nearly says a value, as `NearIndex.said` in python/fastsql/linking/near.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "linking/gram_table.h"
#include "linking/value_table.h"

namespace fastsql::linking {

// Words [begin, end) of a question that may stand for a value, and how far they are from it.
struct NearPlace {
  double distance = 0;
  std::uint32_t begin = 0, end = 0, value = 0;
};

// The words of a key: UTF-8 with one blank between two words and a NUL for a blank within one. Throws ModelError where it is no text.
std::vector<std::u32string> words_of(std::string_view key);

using WordRun = std::pair<std::size_t, std::size_t>;  // [begin, end)

// The place of each value that has one, of those that a set of columns with allowed[set] != 0 holds. `words` are the question's,
// empty ones where nothing is looked for; a place does not begin or end with a word that is `idle`, [words], and holds words that are
// `settled` with others or not at all. Thread-safe; throws ModelError where a table is damaged.
std::vector<NearPlace> find_near(const ValueTable& table, const GramTable& grams, const std::vector<std::u32string>& words,
                                 const std::vector<std::uint8_t>& idle, const std::vector<WordRun>& settled,
                                 const std::vector<std::uint8_t>& allowed);

}  // namespace fastsql::linking
