// Which runs of a question's words are known values: n-gram look-up, as `ValueIndex` in python/fastsql/linking/value_index.py.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "linking/value_table.h"

namespace fastsql::linking {

// A run of words [begin, end) that is the key of some values, but for a plural s at its end.
struct ValueHit {
  std::uint32_t begin = 0, end = 0;
  std::vector<std::uint32_t> values;  // their numbers, ascending
};

// Every hit in a question, by first word, then the longest first. `key` is the question's words with one blank between two,
// in UTF-8. Thread-safe; throws ModelError where the table is damaged.
std::vector<ValueHit> find_values(const ValueTable& table, std::string_view key);

}  // namespace fastsql::linking
