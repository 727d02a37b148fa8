// Sets of small integers as arrays of 64-bit words; element i is bit i % 64 of word i / 64.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastsql::grammar {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;

constexpr std::size_t words_for(std::size_t bits) { return (bits + kWordBits - 1) / kWordBits; }

inline void set_bit(Word* words, std::size_t bit) { words[bit / kWordBits] |= Word{1} << bit % kWordBits; }
inline void clear_bit(Word* words, std::size_t bit) { words[bit / kWordBits] &= ~(Word{1} << bit % kWordBits); }
inline bool has_bit(const Word* words, std::size_t bit) { return words[bit / kWordBits] >> bit % kWordBits & 1; }

// Calls `use(word, mask)` for every word that [begin, end) touches, with the bits of the range in it.
template <typename Use>
inline void for_words_of_range(std::size_t begin, std::size_t end, Use use) {
  if (begin >= end) return;
  const std::size_t first = begin / kWordBits, last = (end - 1) / kWordBits;
  const Word head = ~Word{0} << begin % kWordBits;
  const Word tail = ~Word{0} >> (kWordBits - 1 - (end - 1) % kWordBits);
  if (first == last) {
    use(first, head & tail);
    return;
  }
  use(first, head);
  for (std::size_t word = first + 1; word < last; ++word) use(word, ~Word{0});
  use(last, tail);
}

// Adds [begin, end).
inline void set_range(Word* words, std::size_t begin, std::size_t end) {
  for_words_of_range(begin, end, [&](std::size_t word, Word mask) { words[word] |= mask; });
}

// Adds those elements of `from` that lie in [begin, end).
inline void or_range(Word* words, const Word* from, std::size_t begin, std::size_t end) {
  for_words_of_range(begin, end, [&](std::size_t word, Word mask) { words[word] |= from[word] & mask; });
}

// Whether an element lies in [begin, end).
inline bool any_in_range(const Word* words, std::size_t begin, std::size_t end) {
  Word found = 0;
  for_words_of_range(begin, end, [&](std::size_t word, Word mask) { found |= words[word] & mask; });
  return found != 0;
}

inline std::size_t lowest_bit(Word word) { return static_cast<std::size_t>(__builtin_ctzll(word)); }

constexpr std::int32_t kNone = -1, kSeveral = -2;

// The element of a set that has exactly one; kNone or kSeveral otherwise.
inline std::int32_t only_element(const Word* words, std::size_t count) {
  std::int32_t found = kNone;
  for (std::size_t i = 0; i < count; ++i) {
    const Word word = words[i];
    if (word == 0) continue;
    if (found != kNone || (word & (word - 1)) != 0) return kSeveral;
    found = static_cast<std::int32_t>(i * kWordBits + lowest_bit(word));
  }
  return found;
}

}  // namespace fastsql::grammar
