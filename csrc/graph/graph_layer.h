// A layer of the relation graph: pre-norm, relation-aware attention (RAT-SQL, Wang et al., 2020, section 4), then a feed-forward
// net. Mirrors GraphLayer of python/fastsql/model/graph.py: schema rows are read once; question rows attend to them online; in a
// joint layer each schema row's softmax over schema and question is put together from the two halves by their logarithmic sums.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "attention/head_rows.h"
#include "attention/relation_attention.h"
#include "core/instruction_set.h"
#include "core/layer_norm.h"
#include "core/scratch.h"
#include "core/workers.h"
#include "linear/linear.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql {

// Memory that layers work in, for one computation at a time.
struct GraphWorkspace {
  Scratch scratch;
  std::vector<float> attention;
};

// Queries [n, d], and keys and values beside each other [n, 2 d], of n rows; heads beside each other in each.
struct Projected {
  std::size_t n = 0;
  const float* query = nullptr;
  const float* keys_values = nullptr;
};

// What a layer makes of S schema rows before any question.
struct SchemaRows {
  const float* rows = nullptr;     // [S, d], the layer's input
  Projected projected;             // of these
  const float* mixed = nullptr;    // [S, d], attention of the schema rows to schema rows
  const float* log_sum = nullptr;  // [heads, S], log of the sum of exponentials of that attention
};

class GraphLayer {
 public:
  // Copies the weights whose names begin with `prefix`. Throws ModelError where one is missing or of another shape.
  GraphLayer(const model::Config& config, const model::Weights& weights, const std::string& prefix,
             InstructionSet set = best_instruction_set());

  // Queries, keys and values of rows [n, d]; the results lie in `query` [n, d] and `keys_values` [n, 2 d].
  Projected project(const float* rows, std::size_t n, float* query, float* keys_values, Scratch& scratch,
                    const Workers& workers) const;

  // Attention of schema rows to themselves; writes mixed [S, d] and log_sum [heads, S]. `relations` [S, S].
  void read_schema(const Projected& schema, RelationRows relations, float* mixed, float* log_sum, GraphWorkspace& workspace,
                   const Workers& workers) const;

  // What follows attention: makes the layer's output [n, d] of its input rows [n, d] and their `mixed` values [n, d]; `output` may
  // be the memory of `input`. For schema rows that see schema rows only, this is all there is to do after `read_schema`.
  void finish(const float* input, std::size_t n, const float* mixed, float* output, Scratch& scratch,
              const Workers& workers) const;

  // Replaces question rows [q, d] by the layer's output for rows that see everything; `relations` [q, q + S].
  void question(float* rows, const Projected& question, const Projected& schema, RelationRows relations,
                GraphWorkspace& workspace, const Workers& workers) const;

  // Writes the layer's output for schema rows that see schema and question rows to `output` [S, d], which is not the memory of
  // schema.rows; `relations` [S, q].
  void schema_with_question(const SchemaRows& schema, const Projected& question, RelationRows relations, float* output,
                            GraphWorkspace& workspace, const Workers& workers) const;

 private:
  void finish_block(const float* input, std::size_t n, const float* mixed, float* output, float* memory,
                    const Workers& workers) const;
  KeysAndValues keys_values_of(const Projected& projected) const;
  void attend(const Projected& rows, const Projected& first, const Projected& second, RelationRows relations, float* mixed,
              float* log_sum, GraphWorkspace& workspace, const Workers& workers) const;

  std::size_t d_, heads_, ffn_;
  InstructionSet set_;
  LayerNorm norm_;
  Linear query_, keys_values_;
  std::vector<float> relation_key_, relation_value_;  // [relations, head_size]
  Linear out_;
  LayerNorm ffn_norm_;
  Linear ffn_in_, ffn_out_;
};

}  // namespace fastsql
