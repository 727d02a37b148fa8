// Sets of small integers as arrays of 64-bit words; element i is bit i % 64 of word i / 64.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"

namespace fastsql::grammar {

using Word = std::uint64_t;
constexpr std::size_t kWordBits = 64;

FASTSQL_HOST_DEVICE constexpr std::size_t words_for(std::size_t bits) { return (bits + kWordBits - 1) / kWordBits; }

FASTSQL_HOST_DEVICE void set_bit(Word* words, std::size_t bit) { words[bit / kWordBits] |= Word{1} << bit % kWordBits; }
FASTSQL_HOST_DEVICE void clear_bit(Word* words, std::size_t bit) { words[bit / kWordBits] &= ~(Word{1} << bit % kWordBits); }
FASTSQL_HOST_DEVICE bool has_bit(const Word* words, std::size_t bit) { return words[bit / kWordBits] >> bit % kWordBits & 1; }

// Who writes a set. The threads of a warp may share the writing of one, so that none waits for another: a thread writes the
// words whose number leaves its rank when divided by kThreads, and no others.
struct Alone {
  static constexpr std::size_t kThreads = 1, rank = 0;
};
struct OneOfWarp {
  static constexpr std::size_t kThreads = 32;
  std::size_t rank;  // the lane
};

template <class Writer>
FASTSQL_HOST_DEVICE bool owns(Writer writer, std::size_t word) {
  return word % Writer::kThreads == writer.rank;
}

// The first word from `word` on that is the writer's.
template <class Writer>
FASTSQL_HOST_DEVICE std::size_t first_owned(Writer writer, std::size_t word) {
  return word + (writer.rank + Writer::kThreads - word % Writer::kThreads) % Writer::kThreads;
}

// Calls `use(word, mask)` for every word of the writer that [begin, end) touches, with the bits of the range in it.
template <class Writer, typename Use>
FASTSQL_HOST_DEVICE void for_words_of_range(Writer writer, std::size_t begin, std::size_t end, Use use) {
  if (begin >= end) return;
  const std::size_t first = begin / kWordBits, last = (end - 1) / kWordBits;
  const Word head = ~Word{0} << begin % kWordBits;
  const Word tail = ~Word{0} >> (kWordBits - 1 - (end - 1) % kWordBits);
  if (first == last) {
    if (owns(writer, first)) use(first, head & tail);
    return;
  }
  if (owns(writer, first)) use(first, head);
  for (std::size_t word = first_owned(writer, first + 1); word < last; word += Writer::kThreads) use(word, ~Word{0});
  if (owns(writer, last)) use(last, tail);
}

// A writer's part of a set that is being made.
template <class Writer>
class SetPart {
 public:
  FASTSQL_HOST_DEVICE SetPart(Word* words, Writer writer) : words_(words), writer_(writer) {}

  // Makes the first `count` words empty.
  FASTSQL_HOST_DEVICE void clear(std::size_t count) {
    for (std::size_t word = writer_.rank; word < count; word += Writer::kThreads) words_[word] = 0;
  }
  FASTSQL_HOST_DEVICE void add(std::size_t bit) {
    if (owns(writer_, bit / kWordBits)) set_bit(words_, bit);
  }
  FASTSQL_HOST_DEVICE void remove(std::size_t bit) {
    if (owns(writer_, bit / kWordBits)) clear_bit(words_, bit);
  }
  FASTSQL_HOST_DEVICE void add_word(std::size_t word, Word elements) {
    if (owns(writer_, word)) words_[word] |= elements;
  }
  // Adds [begin, end).
  FASTSQL_HOST_DEVICE void add_range(std::size_t begin, std::size_t end) {
    Word* words = words_;
    for_words_of_range(writer_, begin, end, [words](std::size_t word, Word mask) { words[word] |= mask; });
  }
  // Adds those elements of `from` that lie in [begin, end).
  FASTSQL_HOST_DEVICE void add_from(const Word* from, std::size_t begin, std::size_t end) {
    Word* words = words_;
    for_words_of_range(writer_, begin, end, [words, from](std::size_t word, Word mask) { words[word] |= from[word] & mask; });
  }

 private:
  Word* words_;
  Writer writer_;
};

// Whether an element lies in [begin, end).
FASTSQL_HOST_DEVICE bool any_in_range(const Word* words, std::size_t begin, std::size_t end) {
  Word found = 0;
  for_words_of_range(Alone(), begin, end, [&](std::size_t word, Word mask) { found |= words[word] & mask; });
  return found != 0;
}

FASTSQL_HOST_DEVICE std::size_t lowest_bit(Word word) {
#ifdef __CUDA_ARCH__
  return static_cast<std::size_t>(__ffsll(static_cast<long long>(word)) - 1);
#else
  return static_cast<std::size_t>(__builtin_ctzll(word));
#endif
}

constexpr std::int32_t kNone = -1, kSeveral = -2;

// The element of a set that has exactly one; kNone or kSeveral otherwise.
FASTSQL_HOST_DEVICE std::int32_t only_element(const Word* words, std::size_t count) {
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
