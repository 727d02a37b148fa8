// The decoder's weights as the search kernel reads them: device pointers and sizes.
#pragma once

#include "core/layer_norm_cuda.h"
#include "grammar/numbering.h"
#include "linear/linear_fragments.h"

namespace fastsql::cuda {

// A pre-norm layer: attention to earlier decisions, to the graph's rows, feed-forward. Element e of head h is number
// h * head_size + e of a vector.
struct DecoderLayerView {
  LayerNormView self_norm;
  LinearView self_qkv, self_out;
  LayerNormView cross_norm;
  LinearView cross_query, cross_out;
  LayerNormView ffn_norm;
  LinearView ffn_in, ffn_out;
};

// Kinds of pointer that there are queries for: all, those at earlier turns included.
constexpr std::size_t kQueryKinds = grammar::kPointerKinds + 1;
static_assert(grammar::pointer_number(grammar::Kind::kTurn) == grammar::kPointerKinds);

// The row of DecoderView::kind of an action; kWeightedKinds stands for none.
FASTSQL_HOST_DEVICE constexpr std::int32_t kind_row(grammar::Kind kind) {
  return static_cast<std::int32_t>(kind) + (kind == grammar::Kind::kTurn ? 1 : 0);
}

struct DecoderView {
  int productions, symbols, d, heads, ffn, layers, max_steps;
  // Embeddings; see decode/decoder_weights.h.
  const float* production;        // [productions + 2, d]
  const float* kind;              // [kinds + 1, d], and behind these that of earlier turns, if the model reads them
  const float* symbol;            // [symbols, d]
  const float* parent;            // [productions + 1, d]
  const float* position;          // [max_steps, d]
  const float* row_bias;          // [d]
  const DecoderLayerView* layer;  // [layers]
  LayerNormView norm;
  LinearView production_scores;
  // By pointer_number. That of decisions includes the map of their keys, so that it is compared with states
  // themselves. That of earlier turns is empty where the model reads none.
  LinearView pointer_queries[kQueryKinds];
};

}  // namespace fastsql::cuda
