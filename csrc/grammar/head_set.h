// Sets of heads. The head of an alternative is what it begins with: a production, or a kind of pointer.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grammar/bits.h"
#include "grammar/numbering.h"

namespace fastsql::grammar {

// Productions are the elements 0 to kMostProductions - 1; pointers follow, in a word of their own.
constexpr std::size_t kHeadWords = 4;
constexpr std::size_t kPointerWord = kHeadWords - 1;
constexpr std::size_t kMostProductions = kPointerWord * kWordBits;

FASTSQL_HOST_DEVICE constexpr std::size_t head_of(Pointer pointer) {
  return kMostProductions + static_cast<std::size_t>(pointer);
}

struct alignas(16) HeadSet {
  Word words[kHeadWords] = {};

  FASTSQL_HOST_DEVICE bool empty() const { return (words[0] | words[1] | words[2] | words[3]) == 0; }
  FASTSQL_HOST_DEVICE void add(std::size_t head) { set_bit(words, head); }
  FASTSQL_HOST_DEVICE HeadSet& operator|=(const HeadSet& other) {
    for (std::size_t i = 0; i < kHeadWords; ++i) words[i] |= other.words[i];
    return *this;
  }
  FASTSQL_HOST_DEVICE HeadSet& operator&=(const HeadSet& other) {
    for (std::size_t i = 0; i < kHeadWords; ++i) words[i] &= other.words[i];
    return *this;
  }
  FASTSQL_HOST_DEVICE HeadSet& remove(const HeadSet& other) {
    for (std::size_t i = 0; i < kHeadWords; ++i) words[i] &= ~other.words[i];
    return *this;
  }
  FASTSQL_HOST_DEVICE void remove(std::size_t head) { clear_bit(words, head); }
  // Keeps one head at most.
  FASTSQL_HOST_DEVICE void keep_only(std::size_t head) {
    for (std::size_t i = 0; i < kHeadWords; ++i) words[i] &= i == head / kWordBits ? Word{1} << head % kWordBits : 0;
  }
};

}  // namespace fastsql::grammar
