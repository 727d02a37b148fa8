// Multi-head attention (Vaswani et al., 2017) of texts to themselves: every token mixes the values of its own text's tokens.
#pragma once

#include <cstddef>

#include "core/instruction_set.h"
#include "core/scratch.h"
#include "core/workers.h"

namespace fastsql {

struct SelfAttention {
  const float* qkv = nullptr;  // [texts * tokens, 3 * heads * head_size]: queries, keys and values, heads beside each other
  std::size_t texts = 0, tokens = 0, heads = 0, head_size = 0;
};

// Writes mixed [texts * tokens, heads * head_size]. Memory is taken from `scratch`. What a text gets depends neither on the
// others nor on the number of workers.
void self_attention(const SelfAttention& input, float* mixed, Scratch& scratch, const Workers& workers = {},
                    InstructionSet set = best_instruction_set());

}  // namespace fastsql
