// Relation-aware multi-head attention (RAT-SQL, Wang et al. 2020, section 4.2), in factored form.
//
//   score[h,i,j] = scale * query[h,i] . (key[h,j] + relation_key[relations[i,j]])
//   weight[h,i]  = softmax over j of score[h,i]
//   mixed[h,i]   = sum over j of weight[h,i,j] * (value[h,j] + relation_value[relations[i,j]])
//   log_sum[h,i] = log of the sum over j of e^score[h,i,j]
//
// No tensor of size rows x columns x head_size is built: query . relation_key is one number per relation and
// row, gathered; the value side is the attention mass of each relation times relation_value. Two attentions of
// the same rows to different columns are put together by their log_sum.
#pragma once

#include <vector>

#include "attention/head_rows.h"
#include "core/instruction_set.h"
#include "core/tensor.h"
#include "core/workers.h"

namespace fastsql {

struct KeysAndValues {
  HeadRows<const float> key;
  HeadRows<const float> value;
};

struct RelationAttentionInput {
  HeadRows<const float> query;
  KeysAndValues first;                    // the columns: those of `first`,
  KeysAndValues second;                   // then those of `second`, which may have no rows
  Tensor<const float, 2> relation_key;    // [relations, head_size], shared by the heads
  Tensor<const float, 2> relation_value;  // [relations, head_size], shared by the heads
  RelationRows relations;                 // [rows, columns], each below the number of relations
  float scale = 1.0f;                     // usually 1 / sqrt(head_size); 1 where the query is scaled already
};

struct RelationAttentionOutput {
  HeadRows<float> mixed;     // heads, rows and head_size of the query
  float* log_sum = nullptr;  // [heads, rows], or null where nobody asks
};

// Memory beyond the output is taken from `workspace`, which grows where it must and can serve any number of calls, one at a
// time; its size grows with columns, never with rows x columns. The result of a row depends neither on the other rows nor on
// the number of workers. Thread-safe. Throws ModelError where shapes disagree, where there are no columns, heads or relations
// or an empty head, where there are more than 256 relations, or where an id in `relations` is out of range; the output is then
// untouched.
void relation_attention(const RelationAttentionInput& input, const RelationAttentionOutput& output, std::vector<float>& workspace,
                        const Workers& workers = {}, InstructionSet set = best_instruction_set());

}  // namespace fastsql
