// Multi-head attention of texts to themselves (attention/self_attention.h) on the GPU, for texts of different lengths at once; float32.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device.h"

namespace fastsql::cuda {

struct SelfAttentionBatch {
  const float* qkv = nullptr;           // [tokens, 3 * heads * head_size]: queries, keys and values, heads beside each other
  const std::int32_t* first = nullptr;  // [texts + 1], in device memory: where each text begins, and the number of tokens
  std::size_t texts = 0;
  std::size_t longest = 0;  // tokens of any text
  std::size_t heads = 0, head_size = 0;
};

// Queues the attention of all texts; writes mixed [tokens, heads * head_size]. Both arrays lie at multiples of 16 bytes. What a text
// gets does not depend on the others. Throws ModelError where head_size is not 32 or 64.
void self_attention(const SelfAttentionBatch& batch, float* mixed, cudaStream_t stream);

}  // namespace fastsql::cuda
