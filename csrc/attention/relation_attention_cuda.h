// Relation-aware attention on a GPU, for many questions at once: the formula of attention/relation_attention.h in bfloat16, with
// sums in float32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/head_rows.h"
#include "core/bfloat16.h"

struct CUstream_st;  // what cudaStream_t points to

namespace fastsql::cuda {

// One question; all pointers are to device memory. Sizes differ from question to question, heads and head_size do not.
struct AttentionItem {
  HeadRows<const Bfloat16> query;
  // The columns, in two blocks, such as the question's and its schema's; the second may have no rows.
  HeadRows<const Bfloat16> key[2], value[2];
  RelationRows relations;  // [rows, columns]
  HeadRows<Bfloat16> mixed;
  float* log_sum;  // [heads, rows], or null
};

struct AttentionBatch {
  const AttentionItem* items;  // [count], in device memory
  std::size_t count;
  std::size_t largest_rows;  // of any item
  std::size_t heads, head_size, relations;
  const Bfloat16* relation_key;    // [relations, head_size], in device memory
  const Bfloat16* relation_value;  // [relations, head_size], in device memory
  float scale;                     // of the scores
};

// Queues the attention of all items; returns before it has run. Every vector of queries, keys, values and results begins at a
// multiple of 16 bytes, every item has a column, and every relation is below `relations`: items lie in device memory, so nobody
// checks this here. Throws ModelError where heads, head_size (32 or 64) or relations (1 to 64) are not what the kernels are
// compiled for, and Error where CUDA refuses the launch.
void relation_attention(const AttentionBatch& batch, CUstream_st* stream);

}  // namespace fastsql::cuda
