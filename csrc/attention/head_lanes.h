// For kernel files only: heads beside each other in the lanes of a vector.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/vectors.h"

// The elements of two vectors, numbered through, that make up a new one.
#if defined(__clang__)
#define FASTSQL_SHUFFLE(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define FASTSQL_SHUFFLE(a, b, ...) __builtin_shuffle(a, b, Order{__VA_ARGS__})
#endif

namespace fastsql::cpu::FASTSQL_SET {
namespace {

// Vectors of one float for each of `group` heads.
template <std::size_t group>
struct Heads;

template <>
struct Heads<4> {
  typedef float Vector __attribute__((vector_size(16)));
  typedef float Loose __attribute__((vector_size(16), aligned(4), may_alias));
  typedef std::int32_t Order __attribute__((vector_size(16)));

  static void transpose(Vector* rows) {
    const Vector a = FASTSQL_SHUFFLE(rows[0], rows[1], 0, 4, 1, 5), b = FASTSQL_SHUFFLE(rows[0], rows[1], 2, 6, 3, 7);
    const Vector c = FASTSQL_SHUFFLE(rows[2], rows[3], 0, 4, 1, 5), d = FASTSQL_SHUFFLE(rows[2], rows[3], 2, 6, 3, 7);
    rows[0] = FASTSQL_SHUFFLE(a, c, 0, 1, 4, 5);
    rows[1] = FASTSQL_SHUFFLE(a, c, 2, 3, 6, 7);
    rows[2] = FASTSQL_SHUFFLE(b, d, 0, 1, 4, 5);
    rows[3] = FASTSQL_SHUFFLE(b, d, 2, 3, 6, 7);
  }
};

template <>
struct Heads<8> {
  typedef float Vector __attribute__((vector_size(32)));
  typedef float Loose __attribute__((vector_size(32), aligned(4), may_alias));
  typedef std::int32_t Order __attribute__((vector_size(32)));

  // Pairs of rows, then pairs of pairs, then halves: every step but the last stays within 128 bits, where a shuffle is cheap.
  static void transpose(Vector* rows) {
    Vector pairs[8], fours[8];
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 8; i += 2) {
      pairs[i] = FASTSQL_SHUFFLE(rows[i], rows[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
      pairs[i + 1] = FASTSQL_SHUFFLE(rows[i], rows[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
    }
#pragma GCC unroll 2
    for (std::size_t i = 0; i < 8; i += 4) {
#pragma GCC unroll 2
      for (std::size_t j = 0; j < 2; ++j) {
        fours[i + 2 * j] = FASTSQL_SHUFFLE(pairs[i + j], pairs[i + j + 2], 0, 1, 8, 9, 4, 5, 12, 13);
        fours[i + 2 * j + 1] = FASTSQL_SHUFFLE(pairs[i + j], pairs[i + j + 2], 2, 3, 10, 11, 6, 7, 14, 15);
      }
    }
#pragma GCC unroll 4
    for (std::size_t i = 0; i < 4; ++i) {
      rows[i] = FASTSQL_SHUFFLE(fours[i], fours[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
      rows[i + 4] = FASTSQL_SHUFFLE(fours[i], fours[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
    }
  }
};

template <std::size_t group>
inline typename Heads<group>::Vector load_heads(const float* from) {
  return *reinterpret_cast<const typename Heads<group>::Loose*>(from);
}

template <std::size_t group>
inline void store_heads(float* to, typename Heads<group>::Vector values) {
  *reinterpret_cast<typename Heads<group>::Loose*>(to) = values;
}

// from[heads][size], heads `stride` apart, to vectors of one entry of every head: put(i, k, vector) for entry i + k, where i is a
// multiple of the group and k is below it. Heads that are missing in the group are zeros.
template <std::size_t group, typename Put>
inline void transpose_heads(const float* from, std::size_t stride, std::size_t heads, std::size_t size, Put put) {
  typedef typename Heads<group>::Vector Lanes;
  std::size_t i = 0;
  if (heads == group) {
    for (; i + group <= size; i += group) {
      Lanes rows[group];
#pragma GCC unroll 8
      for (std::size_t head = 0; head < group; ++head) rows[head] = load_heads<group>(from + head * stride + i);
      Heads<group>::transpose(rows);
#pragma GCC unroll 8
      for (std::size_t k = 0; k < group; ++k) put(i, k, rows[k]);
    }
  }
  for (; i < size; ++i) {
    float entries[group] = {};
    for (std::size_t head = 0; head < heads; ++head) entries[head] = from[head * stride + i];
    put(i / group * group, i % group, load_heads<group>(entries));
  }
}

// The way back: get(i) gives entry i of every head, written to to[heads][size].
template <std::size_t group, typename Get>
inline void untranspose_heads(float* to, std::size_t stride, std::size_t heads, std::size_t size, Get get) {
  typedef typename Heads<group>::Vector Lanes;
  std::size_t i = 0;
  if (heads == group) {
    for (; i + group <= size; i += group) {
      Lanes rows[group];
#pragma GCC unroll 8
      for (std::size_t k = 0; k < group; ++k) rows[k] = get(i + k);
      Heads<group>::transpose(rows);
#pragma GCC unroll 8
      for (std::size_t head = 0; head < group; ++head) store_heads<group>(to + head * stride + i, rows[head]);
    }
  }
  for (; i < size; ++i) {
    float entries[group];
    store_heads<group>(entries, get(i));
    for (std::size_t head = 0; head < heads; ++head) to[head * stride + i] = entries[head];
  }
}

}  // namespace
}  // namespace fastsql::cpu::FASTSQL_SET
