// This room puts the layers together to whole parses: what is done once a schema (encode_schema.cc), for every question
// (encode_question.cc, engine.cc), and the same for batches on a GPU (engine_cuda.h, batch_cuda.h). It has no arithmetic of its own but
// the graph's first rows and their mean.
//
// The model behind one call: encoder, graph, decoder and search. Mirrors python/fastsql/model/model.py and decode/beam.py.
//
// An engine is immutable and may be shared by threads. What it computes does not depend on how many there are, or on what else is
// being computed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "core/layer_norm.h"
#include "core/pool.h"
#include "core/workers.h"
#include "decode/beam_search.h"
#include "decode/decoder.h"
#include "encoder/encoder.h"
#include "engine/inputs.h"
#include "engine/schema_state.h"
#include "engine/turns.h"
#include "grammar/action_space.h"
#include "graph/graph_layer.h"
#include "linear/linear.h"
#include "model/config.h"
#include "model/embedding.h"
#include "model/weights.h"

namespace fastsql {

// Wall-clock time of the stages of a parse.
struct Milliseconds {
  double encoder = 0, graph = 0, decode = 0;
};

struct Parse {
  decode::Search search;
  std::vector<float> mean_state;  // [d], of the graph's final rows of the tokens; zeros where there is no token
  std::vector<float> pooled;      // [d], of their first rows: what later questions of a conversation are given of this one
  Milliseconds milliseconds;
};

// Makes `mean` [d] that of rows [count, d]; zeros where there is none.
void mean_of_rows(const float* rows, std::size_t count, std::size_t d, std::vector<float>& mean);

class Engine {
  // What one question needs beside the model; kept for the questions after it.
  struct Workspace {
    GraphWorkspace graph;
    std::vector<std::int32_t> ids;
    std::vector<float> pooled;
    decode::Memory memory;
  };

 public:
  // A question behind the encoder and the graph, in which any number of searches may begin, several at a time. It keeps a
  // workspace as long as it lives; engine and schema must outlive it.
  class Reading {
   public:
    // Throws ModelError where an index is out of range, the parts do not belong together, or no states are given and the weights
    // hold no encoder.
    Reading(const Engine& engine, const SchemaState& schema, const QuestionInputs& question);

   private:
    friend class Engine;
    Pool<Workspace>::Lease workspace_;
    std::vector<float> mean_state_;
    Milliseconds milliseconds_;
  };

  // Copies the weights; where they hold none of an encoder, every text needs the states of another one. `cls` and `sep` are the ids
  // that the tokenizer puts around a text; `threads` work on one question.
  // Throws ModelError where a weight is missing or of another shape.
  Engine(const model::Config& config, const model::Weights& weights, std::int32_t cls, std::int32_t sep, std::size_t threads,
         InstructionSet set = best_instruction_set());

  const model::Config& config() const { return config_; }

  // ids [texts, tokens] with [CLS] and [SEP] to states [texts, tokens, hidden]. Throws ModelError where an id or the number of
  // tokens is out of range, or the weights hold no encoder.
  void encode_texts(const TextGroup& group, float* states) const;

  // Texts of the schema through the encoder, its rows through the cached graph layers. Throws ModelError where there is no table
  // or an index is out of range, or no states are given and the weights hold no encoder.
  std::shared_ptr<const SchemaState> encode_schema(const SchemaInputs& inputs) const;

  // Throws ModelError where a number of earlier turns is out of range, for a schema of so many tables and columns, or the model has no
  // weights for turns.
  void check_turns(const TurnInputs& turns, std::size_t items) const;

  // The graph's final rows [N, d] for a question: tokens, candidates, turns, tables, columns. Throws as a Reading does.
  std::vector<float> graph_rows(const SchemaState& schema, const QuestionInputs& question) const;

  // The likeliest queries for a question that this engine has read. `space` must be of the same schema and question. The times of
  // encoder and graph are those of the reading. Throws as `decode::beam_search` does.
  Parse search(const Reading& reading, std::shared_ptr<const grammar::ActionSpace> space, decode::Breadth breadth) const;

  // The same for one that it reads first. Throws as a Reading does, too.
  Parse parse(const SchemaState& schema, const QuestionInputs& question, std::shared_ptr<const grammar::ActionSpace> space,
              decode::Breadth breadth) const;

 private:
  const Encoder& encoder() const;

  // Of a schema (encode_schema.cc).
  void check(const SchemaInputs& inputs) const;
  std::vector<float> mean_states(const std::vector<TextGroup>& groups, const float* given, Scratch& scratch) const;
  std::vector<float> item_states(const SchemaInputs& inputs, Scratch& scratch) const;
  std::vector<float> value_states(const SchemaInputs& inputs, const std::vector<float>& items, Scratch& scratch) const;
  SchemaLayer read_layer(const GraphLayer& layer, const std::vector<float>& rows, RelationRows relations,
                         GraphWorkspace& workspace) const;

  // Of a question (encode_question.cc).
  void check(const SchemaState& schema, const QuestionInputs& question) const;
  void encode_tokens(const QuestionInputs& question, float* rows, Workspace& workspace) const;
  void candidate_states(const QuestionInputs& question, float* rows) const;
  const float* run_graph(const SchemaState& schema, const QuestionInputs& question, float* rows, Workspace& workspace) const;
  void read_memory(const SchemaState& schema, const QuestionInputs& question, float* rows, const float* items,
                   Workspace& workspace) const;
  Milliseconds encode_question(const SchemaState& schema, const QuestionInputs& question, Workspace& workspace) const;

  model::Config config_;
  std::int32_t cls_, sep_;
  Workers workers_;
  std::optional<Encoder> encoder_;
  Linear token_in_, item_in_, owner_in_, value_in_;
  model::Embedding item_type_;
  std::vector<model::Embedding> candidate_;  // of each feature
  std::vector<GraphLayer> graph_;
  LayerNorm graph_norm_, value_norm_;
  decode::Decoder decoder_;
  std::optional<Turns> turns_;
  mutable Pool<Workspace> workspaces_;
};

}  // namespace fastsql
