// Relation-aware multi-head attention (RAT-SQL, Wang et al. 2020, section 4.2), in factored form.
//
//   score[h,i,j] = query[h,i] . (key[h,j] + relation_key[relations[i,j]]) / sqrt(head_size)
//   weight[h,i]  = softmax over j of score[h,i]
//   output[h,i]  = sum over j of weight[h,i,j] * (value[h,j] + relation_value[relations[i,j]])
//
// No tensor of size rows x columns x head_size is built: query . relation_key is one number per relation and
// row, gathered; the value side is the attention mass of each relation times relation_value.
#pragma once

#include <cstdint>

#include "core/instruction_set.h"
#include "core/tensor.h"

namespace fastsql {

struct RelationAttentionInput {
  Tensor<const float, 3> query;           // [heads, rows, head_size]
  Tensor<const float, 3> key;             // [heads, columns, head_size]
  Tensor<const float, 3> value;           // [heads, columns, head_size]
  Tensor<const float, 2> relation_key;    // [relations, head_size], shared by the heads
  Tensor<const float, 2> relation_value;  // [relations, head_size], shared by the heads
  Tensor<const std::uint8_t, 2> relations;  // [rows, columns], each below the number of relations
};

// Writes output[heads, rows, head_size]. Memory beyond it grows with columns, never with rows x columns.
// Thread-safe; runs on the calling thread. Throws ModelError where shapes disagree, where an axis other than
// rows is empty, where there are more than 256 relations, or where an id in `relations` is out of range; the
// output is then untouched.
void relation_attention(const RelationAttentionInput& input, const Tensor<float, 3>& output,
                        InstructionSet set = best_instruction_set());

}  // namespace fastsql
