#include "attention/self_attention.h"

#include <functional>

#include "attention/row_attention.h"

namespace fastsql {

void self_attention(const SelfAttention& input, float* mixed, Scratch& scratch, const Workers& workers, InstructionSet set) {
  const std::size_t tokens = input.tokens, width = input.heads * input.head_size;
  const auto one_text = [&](std::size_t text) {
    const float* qkv = input.qkv + text * tokens * 3 * width;
    RowAttention one;
    one.query = qkv;
    one.key = qkv + width;
    one.value = qkv + 2 * width;
    one.rows = one.columns = tokens;
    one.query_stride = one.stride = 3 * width;
    one.heads = input.heads;
    one.head_size = input.head_size;
    one.mixed = mixed + text * tokens * width;
    return one;
  };
  row_attention(input.texts, std::cref(one_text), scratch, workers, set);
}

}  // namespace fastsql
