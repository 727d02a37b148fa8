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

// Plain attention of the same `count` queries, at most kQueryBlock, to two blocks of rows, in the layout of decode/head_layout.h.
struct HeadAttention {
  const float* queries;  // [count, width], query_stride floats apart
  std::size_t count, query_stride;
  AttendedRows blocks[2];  // not both empty
  std::size_t width, padded_heads;
  float scale;    // of the products
  float* scores;  // workspace, head_scores_size floats: scores, then weights, and behind them one over the sums of the weights
  float* output;  // [count, width]

  constexpr std::size_t rows() const { return blocks[0].n + blocks[1].n; }
};

constexpr std::size_t kMostLanes = 16;  // of a vector register
constexpr std::size_t kQueryBlock = 4;  // queries that share what is loaded of a row
constexpr std::size_t kMixedTogether =
    64;  // floats of a row's values; parts of the width that begin at its multiples are mixed best

constexpr std::size_t head_scores_size(std::size_t padded_heads, std::size_t rows) {
  return kQueryBlock * (rows + 1) * (padded_heads > kMostLanes ? padded_heads : kMostLanes);
}

// The three steps of attention; each may be done in parts, in any order. A part's numbers do not depend on what the parts are.
// Scores of the rows from `first` to, not including, `last`.
FASTSQL_DECLARE_KERNEL(void score_heads(const HeadAttention& attention, std::size_t first, std::size_t last))
// Turns the scores of a query into weights.
FASTSQL_DECLARE_KERNEL(void weigh_heads(const HeadAttention& attention, std::size_t query))
// Weighted sums of the values' floats from `first` to, not including, `last`; both are multiples of the widest register.
FASTSQL_DECLARE_KERNEL(void mix_heads(const HeadAttention& attention, std::size_t first, std::size_t last))

// scores[i] = scale * (query . rows[places[i]]), vectors of d floats.
FASTSQL_DECLARE_KERNEL(void pointer_scores(const float* query, const float* rows, const std::int32_t* places, std::size_t n,
                                           std::size_t d, float scale, float* scores))

// Subtracts the largest of n >= 1 scores from all of them; returns the sum of their exponentials then.
FASTSQL_DECLARE_KERNEL(float shift_and_sum(float* scores, std::size_t n))

}  // namespace fastsql::cpu
