// Values and the words they are recognised by, in the flat arrays that python/fastsql/linking/value_table.py writes; a file of
// them is mapped into memory. Nothing that is read is trusted: every number is checked before it is used as a place, and a
// block of a file is compared with its checksum when it is first read.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "linking/checked_bytes.h"

namespace fastsql::linking {

class ValueTable {
 public:
  // In the order in which they lie in memory.
  enum Section : std::size_t { kRecords, kKeyBuckets, kKeyRows, kWordBuckets, kWordRows, kLengths, kTexts, kSections };

  // `body` [size] belongs to the caller and must not change. Section s lies at bytes [bounds[s], bounds[s + 1]).
  // `checksums` are the CRC-32 of each block of the body, or empty: then what it holds is what was written, though it may
  // still be nonsense. Throws ModelError where the sections cannot be those of a table.
  ValueTable(const std::uint8_t* body, std::size_t size, const std::array<std::uint64_t, kSections + 1>& bounds,
             std::vector<std::uint32_t> checksums);

  // Thread-safe. All throw ModelError where what they read is damaged.

  // Appends the numbers of the values with this key, ascending; `checksum` is the key's CRC-32.
  void find(std::string_view key, std::uint32_t checksum, std::vector<std::uint32_t>& numbers) const;

  // The number of values.
  std::size_t size() const { return count(kRecords) / 4; }

  // A value's key, its text where it has no words; the text itself; and the number of the set of columns that hold it.
  std::string_view key_of(std::uint32_t number) const;
  std::string_view text_of(std::uint32_t number) const;
  std::uint32_t holders_of(std::uint32_t number) const;

  // Sets `lengths` to the lengths, in words, of the keys that begin with a word, the longest first.
  void lengths_of(std::string_view word, std::vector<std::uint32_t>& lengths) const;

 private:
  struct Rows {
    std::uint64_t first, last;
  };
  Rows bucket(Section buckets, Section rows, std::size_t width, std::uint32_t checksum) const;
  std::string_view text(std::uint64_t begin, std::uint64_t end) const;
  bool text_is(std::uint64_t begin, std::uint64_t end, std::string_view text) const;
  std::uint32_t integer(Section section, std::uint64_t place) const;
  std::uint64_t count(Section section) const { return (bounds_[section + 1] - bounds_[section]) / 4; }
  // Where the record of a value begins, in integers, its block checked.
  std::uint64_t record_of(std::uint32_t number) const;
  // Checks the blocks of bytes [begin, end) of a section.
  void expect(Section section, std::uint64_t begin, std::uint64_t end) const;

  CheckedBytes bytes_;
  std::array<std::uint64_t, kSections + 1> bounds_;
};

}  // namespace fastsql::linking
