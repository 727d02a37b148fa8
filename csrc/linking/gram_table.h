// Which values have letters in common with a text, read from the arrays that python/fastsql/linking/gram_table.py writes. As in
// value_table.h, nothing that is read is trusted.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "linking/checked_bytes.h"
#include "linking/value_table.h"

namespace fastsql::linking {

class GramTable {
 public:
  enum Section : std::size_t { kBuckets, kPostings, kSizes, kSections };
  static constexpr std::size_t kProposed = 200, kRead = std::size_t{1} << 16;

  // As for ValueTable, for `count` values.
  GramTable(const std::uint8_t* body, std::size_t size, const std::array<std::uint64_t, kSections + 1>& bounds,
            std::vector<std::uint32_t> checksums, std::size_t count);

  // Numbers of the kProposed values at most that have parts in common with some texts, each a row of words, best first: those
  // that a set of columns with allowed[set] != 0 holds. Thread-safe; throws ModelError where what it reads is damaged.
  std::vector<std::uint32_t> propose(const std::vector<std::vector<std::u32string>>& texts, const ValueTable& table,
                                     const std::vector<std::uint8_t>& allowed) const;

  // Sets `found` to the numbers of the values that may have a word, ascending, and returns true; false where it has no grams, or each
  // is of more values than `most`. Thread-safe; throws ModelError where what it reads is damaged.
  bool holding(const std::u32string& word, std::size_t most, std::vector<std::uint32_t>& found) const;

 private:
  struct Row {
    std::uint64_t next, last;  // postings
    std::uint32_t weight;
  };
  // The postings of different hashes that have any, the rarest first.
  std::vector<Row> rows_of(std::vector<std::uint32_t> hashes) const;
  // The postings of the texts' grams, the rarest first, kRead at most.
  std::vector<Row> rows_of(const std::vector<std::vector<std::u32string>>& texts) const;

  CheckedBytes bytes_;
  std::array<std::uint64_t, kSections + 1> bounds_;
  std::size_t count_;
  unsigned bits_ = 0;
};

}  // namespace fastsql::linking
