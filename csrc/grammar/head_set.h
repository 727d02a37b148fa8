// Sets of heads. The head of an alternative is what it begins with: a production, or a kind of pointer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grammar/bits.h"

namespace fastsql::grammar {

// Kinds of pointer, in the order of POINTERS in python/fastsql/grammar/reading.py.
enum class Pointer : std::uint8_t {
  kTable,
  kColumn,
  kEarlier,
  kNewest,
  kWhich,
  kTime,
  kValue,
  kNumber,
  kDate,
  kText,
  kPattern,
  kStart,
  kEnd
};
constexpr std::size_t kPointers = 13;

// Productions are the elements 0 to kMostProductions - 1; pointers follow, in a word of their own.
constexpr std::size_t kHeadWords = 4;
constexpr std::size_t kPointerWord = kHeadWords - 1;
constexpr std::size_t kMostProductions = kPointerWord * kWordBits;

constexpr std::size_t head_of(Pointer pointer) { return kMostProductions + static_cast<std::size_t>(pointer); }

struct HeadSet {
  Word words[kHeadWords] = {};

  bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  void add(std::size_t head) { set_bit(words, head); }
  HeadSet& operator|=(const HeadSet& other) {
    for (std::size_t i = 0; i < kHeadWords; ++i) words[i] |= other.words[i];
    return *this;
  }
  HeadSet& operator&=(const HeadSet& other) {
    for (std::size_t i = 0; i < kHeadWords; ++i) words[i] &= other.words[i];
    return *this;
  }
  HeadSet& remove(const HeadSet& other) {
    for (std::size_t i = 0; i < kHeadWords; ++i) words[i] &= ~other.words[i];
    return *this;
  }
  void remove(std::size_t head) { clear_bit(words, head); }
};

inline HeadSet only(std::size_t head) {
  HeadSet set;
  set.add(head);
  return set;
}

}  // namespace fastsql::grammar
