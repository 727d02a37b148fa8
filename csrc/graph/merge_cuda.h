// Puts the two halves of a joint layer's attention together on the GPU: schema rows to schema rows, which is cached, and schema rows to
// question rows. The formula is that of graph/merge_cpu.h.
#pragma once

#include <cstddef>

#include "core/bfloat16.h"
#include "core/device.h"

namespace fastsql::cuda {

// The schema rows of one question; pointers to device memory.
struct MergeItem {
  const float* input;         // [n, d], the layer's input
  const float* cached_mixed;  // [n, d], attention to schema rows,
  const float* cached_sum;    // [heads, n], and the logarithm of its sum of exponentials
  const float* question_sum;  // [heads, n], of the attention to question rows; minus infinity where there is none
  Bfloat16* mixed;            // [n, d], attention to question rows; replaced by what attention to both gives
  float* rows;                // [n, d], written: the input, to which the layer adds
  int n;
};

struct MergeBatch {
  const MergeItem* items;  // [count], in device memory
  std::size_t count;
  std::size_t largest_n;  // of any item
  std::size_t heads, head_size;
};

// Queues the merges of all items. Arrays lie at multiples of 16 bytes, and head_size is a multiple of 4.
void merge_halves(const MergeBatch& batch, cudaStream_t stream);

}  // namespace fastsql::cuda
