// The CPU kernel that puts the two halves of an attention together. Sizes and pointers are trusted here.
#pragma once

#include <cstddef>

#include "core/kernels.h"

namespace fastsql::cpu {

struct AttentionHalf {
  const float* mixed;    // [rows, heads * head_size]
  const float* log_sum;  // [heads, rows]
};

// Writes to output [rows, heads * head_size] what attention to the columns of both halves at once gives; the output may be the
// memory of either half.
FASTSQL_DECLARE_KERNEL(void merge_halves(const AttentionHalf& one, const AttentionHalf& other, std::size_t rows,
                                         std::size_t heads, std::size_t head_size, float* output))

}  // namespace fastsql::cpu
