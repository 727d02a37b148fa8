#include "engine/engine_cuda.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/gpus_cuda.h"
#include "engine/batch_cuda.h"
#include "model/weights_cuda.h"

namespace fastsql::cuda {
namespace {

// The sizes, where there is a GPU.
const model::Config& expected(const model::Config& config) {
  expect_gpu();
  return config;
}

}  // namespace

Engine::Engine(const model::Config& config, const model::Weights& weights, std::int32_t cls, std::int32_t sep,
               std::size_t threads)
    : reader_(expected(config), weights, cls, sep, threads),
      cls_(cls),
      sep_(sep),
      token_in_(linear_at(weights, "token_in", config.d, config.encoder.hidden)),
      graph_norm_(norm_at(weights, "graph_norm", config.d)),
      decoder_(config, weights) {
  if (config.turns) turns_.emplace(config, weights);
  if (weights.has("encoder.word.weight")) encoder_.emplace(config.encoder, weights);
  for (std::size_t index = 0; index < kCandidateFeatures; ++index) {
    const std::string name = "candidate." + std::to_string(index) + ".weight";
    candidate_.emplace_back(weights.floats(name, {weights.rows(name), config.d}), "the model");
  }
  for (std::size_t index = 0; index < config.cached_layers + config.joint_layers; ++index) {
    graph_.emplace_back(config, weights, "graph." + std::to_string(index) + ".");
  }
}

Engine::~Engine() = default;

std::shared_ptr<const SchemaState> Engine::encode_schema(const SchemaInputs& inputs) const {
  return std::make_shared<const SchemaState>(*reader_.encode_schema(inputs), config().d, decoder_);
}

std::vector<Outcome> Engine::parse(const SchemaState& schema, const std::vector<Question>& questions, decode::Breadth breadth,
                                   const float* states) const {
  if (questions.empty()) return {};
  if (states == nullptr && !encoder_) throw ModelError("the weights hold no encoder, and no states from another one were given");
  for (const Question& question : questions) check(schema, question);
  const auto memory = memories_.take();
  Batch batch(*this, schema, questions, breadth, states, *memory);
  batch.plan();
  batch.stage();
  batch.queue();
  return batch.wait();
}

// Nothing is looked at on the GPU any more.
void Engine::check(const SchemaState& schema, const Question& question) const {
  const QuestionInputs& inputs = question.inputs;
  const auto expect_below = [](const char* what, std::int64_t found, std::size_t bound) {
    if (found >= 0 && static_cast<std::uint64_t>(found) < bound) return;
    throw ModelError(std::string(what) + " is " + std::to_string(found) + "; the model has " + std::to_string(bound));
  };
  const std::size_t n = inputs.rows() + schema.n_items();
  const RelationRows& relations = inputs.relations;
  if (relations.rows != n || relations.columns != n) {
    throw ModelError("a question of " + std::to_string(inputs.tokens) + " tokens, " + std::to_string(inputs.candidates) +
                     " candidates and " + std::to_string(inputs.turns.turns) + " earlier turns over " +
                     std::to_string(schema.n_items()) + " tables and columns has relations [" + std::to_string(relations.rows) +
                     ", " + std::to_string(relations.columns) + "]");
  }
  for (std::size_t token = 0; token < inputs.tokens; ++token) {
    expect_below("a token's id", inputs.token_ids[token], config().encoder.vocabulary);
  }
  for (std::size_t i = 0; i < inputs.candidates * kCandidateFeatures; ++i) {
    expect_below("a candidate's feature", inputs.features[i], candidate_[i % kCandidateFeatures].size() / config().d);
  }
  reader_.check_turns(inputs.turns, schema.n_items());
  std::uint8_t largest = 0;
  for (std::size_t row = 0; row < n; ++row) {
    const std::uint8_t* first = relations.data + row * relations.row_stride;
    // Of schema rows, their relations to the question. Those among themselves belong to the schema; a further joint layer reads them.
    const std::size_t columns = row < inputs.rows() || config().joint_layers > 1 ? n : inputs.rows();
    for (std::size_t column = 0; column < columns; ++column) largest = std::max(largest, first[column]);
  }
  expect_below("a relation", largest, config().relations);
}

}  // namespace fastsql::cuda
