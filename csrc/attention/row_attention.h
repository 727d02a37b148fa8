// Multi-head attention (Vaswani et al., 2017) of a few rows to others: every query mixes the values of all columns, or of those up
// to its own.
#pragma once

#include <cstddef>
#include <functional>

#include "core/instruction_set.h"
#include "core/scratch.h"
#include "core/workers.h"

namespace fastsql {

// Heads lie beside each other: a row has heads * head_size floats.
struct RowAttention {
  const float* query = nullptr;  // [rows], query_stride floats apart
  std::size_t rows = 0, query_stride = 0;
  const float *key = nullptr, *value = nullptr;  // [columns] each, `stride` floats apart
  std::size_t columns = 0, stride = 0;           // at least one column
  std::size_t heads = 0, head_size = 0;
  bool causal = false;     // row i sees the columns up to i; there are as many of both
  float* mixed = nullptr;  // [rows, heads * head_size]
};

// Writes `mixed` of `count` inputs with the same heads; input_of(i) gives the one of that number, on any thread, and must not throw.
// Memory is taken from `scratch`. What an input gets depends neither on the others nor on the number of workers; what a causal row
// gets does not depend on those behind it.
void row_attention(std::size_t count, const std::function<RowAttention(std::size_t)>& input_of, Scratch& scratch,
                   const Workers& workers = {}, InstructionSet set = best_instruction_set());

}  // namespace fastsql
