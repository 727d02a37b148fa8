#include "engine/engine.h"

#include <algorithm>
#include <chrono>
#include <string>
#include <utility>

#include "core/error.h"

namespace fastsql {
namespace {

LayerNorm norm_at(const model::Weights& weights, const std::string& name, std::size_t d, InstructionSet set) {
  return LayerNorm(weights.floats(name + ".weight", {d}), weights.floats(name + ".bias", {d}), 1e-5f, set);
}

}  // namespace

Engine::Engine(const model::Config& config, const model::Weights& weights, std::int32_t cls, std::int32_t sep,
               std::size_t threads, InstructionSet set)
    : config_(config),
      cls_(cls),
      sep_(sep),
      workers_(threads),
      token_in_(weights.linear("token_in", config.d, config.encoder.hidden, set)),
      item_in_(weights.linear("item_in", config.d, config.encoder.hidden, set)),
      owner_in_(weights.linear("owner_in", config.d, config.encoder.hidden, set)),
      value_in_(weights.linear("value_in", config.d, config.encoder.hidden, set)),
      item_type_(weights, "item_type.weight", weights.rows("item_type.weight"), config.d),
      graph_norm_(norm_at(weights, "graph_norm", config.d, set)),
      value_norm_(norm_at(weights, "value_norm", config.d, set)),
      decoder_(config, weights, set) {
  if (config.turns) turns_.emplace(config, weights, set);
  if (weights.has("encoder.word.weight")) encoder_.emplace(config.encoder, weights, set);
  for (std::size_t index = 0; index < kCandidateFeatures; ++index) {
    const std::string name = "candidate." + std::to_string(index) + ".weight";
    candidate_.emplace_back(weights, name, weights.rows(name), config.d);
  }
  for (std::size_t index = 0; index < config.cached_layers + config.joint_layers; ++index) {
    graph_.emplace_back(config, weights, "graph." + std::to_string(index) + ".", set);
  }
}

void mean_of_rows(const float* rows, std::size_t count, std::size_t d, std::vector<float>& mean) {
  mean.assign(d, 0.0f);
  for (std::size_t row = 0; row < count; ++row) {
    for (std::size_t i = 0; i < d; ++i) mean[i] += rows[row * d + i];
  }
  for (float& entry : mean) entry /= static_cast<float>(std::max<std::size_t>(count, 1));
}

const Encoder& Engine::encoder() const {
  if (encoder_) return *encoder_;
  throw ModelError("the weights hold no encoder, and no states from another one were given");
}

void Engine::encode_texts(const TextGroup& group, float* states) const {
  const auto workspace = workspaces_.take();
  workspace->graph.scratch.clear();
  encoder().encode(group.ids, group.texts, group.tokens, states, workspace->graph.scratch, workers_);
}

std::vector<float> Engine::graph_rows(const SchemaState& schema, const QuestionInputs& question) const {
  const auto workspace = workspaces_.take();
  encode_question(schema, question, *workspace);
  const decode::Memory& memory = workspace->memory;
  const std::size_t own = memory.question.n * config_.d, items = memory.items.n * config_.d;
  std::vector<float> rows(own + items);
  std::copy_n(memory.question.rows, own, rows.data());
  std::copy_n(memory.items.rows, items, rows.data() + own);
  return rows;
}

Engine::Reading::Reading(const Engine& engine, const SchemaState& schema, const QuestionInputs& question)
    : workspace_(engine.workspaces_.take()), milliseconds_(engine.encode_question(schema, question, *workspace_)) {
  mean_of_rows(workspace_->memory.question.rows, question.tokens, engine.config_.d, mean_state_);
}

Parse Engine::search(const Reading& reading, std::shared_ptr<const grammar::ActionSpace> space, decode::Breadth breadth) const {
  Parse parse;
  parse.mean_state = reading.mean_state_;
  parse.pooled = reading.workspace_->pooled;
  parse.milliseconds = reading.milliseconds_;

  const auto start = std::chrono::steady_clock::now();
  parse.search = decode::beam_search(decoder_, reading.workspace_->memory, std::move(space), breadth, workers_);
  parse.milliseconds.decode = std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now() - start).count();
  return parse;
}

Parse Engine::parse(const SchemaState& schema, const QuestionInputs& question, std::shared_ptr<const grammar::ActionSpace> space,
                    decode::Breadth breadth) const {
  return search(Reading(*this, schema, question), std::move(space), breadth);
}

std::size_t SchemaState::bytes() const {
  std::size_t floats = items.size() + value_states.size() + value_keys.size() + memory.rows.size() + memory.keyed.size() +
                       memory.table_keys.size() + memory.column_keys.size();
  for (const SchemaLayer& layer : layers) {
    floats += layer.keys_values.size() + layer.query.size() + layer.mixed.size() + layer.log_sum.size();
  }
  return floats * sizeof(float);
}

}  // namespace fastsql
