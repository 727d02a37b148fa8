// The decoder's weights, in the form in which a step reads them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/layer_norm.h"
#include "decode/head_layout.h"
#include "grammar/grammar.h"
#include "linear/linear.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql::decode {

// A pre-norm layer: attention to earlier decisions, to the graph's rows, feed-forward. Vectors of attention are in HeadLayout.
struct DecoderLayer {
  LayerNorm self_norm;
  Linear self_qkv, self_out;
  LayerNorm cross_norm;
  Linear cross_query, cross_key, cross_value, cross_out;
  LayerNorm ffn_norm;
  Linear ffn_in, ffn_out;

  DecoderLayer(const model::Config& config, const HeadLayout& layout, const model::Weights& weights, const std::string& prefix,
               InstructionSet set);
};

struct DecoderWeights {
  model::Config config;
  InstructionSet set;
  HeadLayout layout;

  // Embeddings. `production` has two rows more than there are productions: for a pointer, and for the start; `kind` has one
  // more than there are kinds, for the start; `parent` one more than productions, for no parent.
  std::vector<float> production;  // [productions + 2, d]
  std::vector<float> kind;        // [kinds + 1, d]
  std::vector<float> symbol;      // [symbols, d]
  std::vector<float> parent;      // [productions + 1, d]
  std::vector<float> position;    // [max_steps, d]
  std::vector<float> row_bias;    // [d]
  std::vector<float> turn_kind;   // [d], of a pointer to an earlier turn; empty where the model reads none
  Linear row;                     // what a pointer pointed at

  std::vector<DecoderLayer> layers;
  LayerNorm norm;
  Linear production_scores;                           // d to productions
  std::vector<Linear> pointer_queries, pointer_keys;  // by pointer_number, d to d; those of turns last, if the model reads them

  DecoderWeights(const model::Config& sizes, const model::Weights& weights, InstructionSet instructions);

  const Linear& pointer_query(grammar::Kind pointed) const { return pointer_queries[grammar::pointer_number(pointed)]; }
  const Linear& pointer_key(grammar::Kind pointed) const { return pointer_keys[grammar::pointer_number(pointed)]; }
};

}  // namespace fastsql::decode
