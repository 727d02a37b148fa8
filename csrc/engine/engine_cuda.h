// The model on a GPU behind one call: token ids in, hypotheses out, for many questions at once and without the host in between. What a
// question gets does not depend on the others.
//
// An engine is immutable and may be shared by threads; each call has a stream and memory of its own. A schema is read by the CPU core,
// once, and its state kept on the GPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <optional>
#include <vector>

#include "core/pool.h"
#include "decode/cuda/decoder.h"
#include "encoder/encoder_cuda.h"
#include "engine/engine.h"
#include "engine/schema_state_cuda.h"
#include "engine/turns_cuda.h"
#include "graph/graph_layer_cuda.h"

namespace fastsql::cuda {

class Batch;
struct BatchMemory;

struct Question {
  QuestionInputs inputs;  // token_states are not read: states of a batch lie on the GPU
  std::shared_ptr<const grammar::ActionSpace> space;
};

// What became of a question.
struct Outcome {
  Parse parse;                 // its milliseconds are the batch's, on the GPU
  std::exception_ptr failure;  // of this question alone, or null
};

class Engine {
 public:
  // Copies the weights to the first GPU. `threads` of the processor read a schema. Throws ModelError where there is no GPU, or where a
  // weight is missing or of another shape.
  Engine(const model::Config& config, const model::Weights& weights, std::int32_t cls, std::int32_t sep, std::size_t threads);
  ~Engine();

  const model::Config& config() const { return reader_.config(); }

  // See fastsql::Engine.
  std::shared_ptr<const SchemaState> encode_schema(const SchemaInputs& inputs) const;

  // The likeliest queries for every question, in their order. Throws ModelError where an index is out of range or the parts do not
  // belong together, and LimitError where the GPU has no memory for so many questions: both leave the engine as it was.
  // `states` [tokens of all texts with [CLS] and [SEP], hidden] in device memory are from another encoder, complete before the call;
  // null: this one encodes.
  std::vector<Outcome> parse(const SchemaState& schema, const std::vector<Question>& questions, decode::Breadth breadth,
                             const float* states = nullptr) const;

 private:
  friend class Batch;

  void check(const SchemaState& schema, const Question& question) const;

  fastsql::Engine reader_;
  std::int32_t cls_, sep_;
  std::optional<Encoder> encoder_;  // none where the weights hold none
  Linear token_in_;
  std::vector<DeviceArray<float>> candidate_;  // embeddings of each feature, [.., d]
  std::vector<GraphLayer> graph_;
  LayerNorm graph_norm_;
  Decoder decoder_;
  std::optional<Turns> turns_;  // none where the model reads no turns
  mutable Pool<BatchMemory> memories_;
};

}  // namespace fastsql::cuda
