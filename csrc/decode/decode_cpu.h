// The CPU kernels of a decoder step. Sizes and pointers are trusted here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels.h"

namespace fastsql::cpu {

// Rows that queries attend to, `stride` floats apart: those at `places`, or the first n where it is null.
struct AttendedRows {
  const float* keys;
  const float* values;
  const std::int32_t* places;
  std::size_t n, stride;
};

// Plain attention of the same `count` queries to two blocks of rows, in the layout of decode/head_layout.h.
struct HeadAttention {
  const float* queries;  // [count, width], query_stride floats apart
  std::size_t count, query_stride;
  AttendedRows blocks[2];  // not both empty
  std::size_t width, padded_heads;
  float scale;    // of the products
  float* scores;  // workspace, head_scores_size floats
  float* output;  // [count, width]
};

constexpr std::size_t kMostLanes = 16;   // of a vector register
constexpr std::size_t kQueryBlock = 4;  // queries that share what is loaded of a row

// Scores of a block of queries, and behind them one over the sums of their exponentials.
constexpr std::size_t head_scores_size(std::size_t padded_heads, std::size_t rows) {
  return kQueryBlock * (rows + 1) * (padded_heads > kMostLanes ? padded_heads : kMostLanes);
}

FASTSQL_DECLARE_KERNEL(void head_attention(const HeadAttention& attention))

// scores[i] = scale * (query . rows[places[i]]), vectors of d floats.
FASTSQL_DECLARE_KERNEL(void pointer_scores(const float* query, const float* rows, const std::int32_t* places, std::size_t n,
                                           std::size_t d, float scale, float* scores))

// Subtracts the largest of n >= 1 scores from all of them; returns the sum of their exponentials then.
FASTSQL_DECLARE_KERNEL(float shift_and_sum(float* scores, std::size_t n))

}  // namespace fastsql::cpu
