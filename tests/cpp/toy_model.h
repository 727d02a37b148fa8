// A model that is small enough for a test: sizes, and random weights under the names of a bundle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <random>
#include <string>
#include <vector>

#include "grammar/grammar.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql::test {

// For the grammar of toy_grammar.h.
inline model::Config toy_config(std::size_t cached_layers = 2, std::size_t joint_layers = 1) {
  model::Config config;
  config.productions = 1;
  config.symbols = 5;
  config.d = 16;
  config.heads = 4;
  config.ffn = 24;
  config.cached_layers = cached_layers;
  config.joint_layers = joint_layers;
  config.decoder_layers = 2;
  config.relations = 7;
  config.max_steps = 64;
  config.encoder = {24, 2, 3, 40, 50, 30};  // hidden, layers, heads, ffn, vocabulary, positions
  return config;
}

// Calls use(name, shape) for every weight of the decoder, names without "decoder.".
template <typename Use>
void for_decoder_weights(const model::Config& config, Use use) {
  const std::size_t d = config.d;
  using Shape = std::vector<std::size_t>;
  const auto linear = [&](const std::string& name, std::size_t out, std::size_t in) {
    use(name + ".weight", Shape{out, in});
    use(name + ".bias", Shape{out});
  };
  const auto norm = [&](const std::string& name) {
    use(name + ".weight", Shape{d});
    use(name + ".bias", Shape{d});
  };
  use("production.weight", Shape{config.productions + 2, d});
  use("kind.weight", Shape{grammar::kWeightedKinds + 1, d});
  use("symbol.weight", Shape{config.symbols, d});
  use("parent.weight", Shape{config.productions + 1, d});
  use("position.weight", Shape{config.max_steps, d});
  linear("row", d, d);
  for (std::size_t index = 0; index < config.decoder_layers; ++index) {
    const std::string layer = "layers." + std::to_string(index) + ".";
    for (const char* name : {"self_norm", "cross_norm", "ffn_norm"}) norm(layer + name);
    linear(layer + "self_qkv", 3 * d, d);
    linear(layer + "self_out", d, d);
    linear(layer + "cross_query", d, d);
    linear(layer + "cross_kv", 2 * d, d);
    linear(layer + "cross_out", d, d);
    linear(layer + "ffn_in", config.ffn, d);
    linear(layer + "ffn_out", d, config.ffn);
  }
  norm("norm");
  linear("production_scores", config.productions, d);
  linear("pointer_query", (grammar::kWeightedKinds - 1) * d, d);
  for (const char* kind : {"table", "column", "candidate", "value", "start", "end", "step"}) {
    use("pointer_key." + std::string(kind) + ".weight", Shape{d, d});
  }
}

// All weights of a model, by default large enough that every part shows; matrices of at least `int8_from` entries are int8.
// `spread` is their standard deviation: where it is larger than the root of a matrix's inputs allows, a layer enlarges differences.
class ToyWeights {
 public:
  explicit ToyWeights(const model::Config& config, std::size_t int8_from = 1000, float spread = 0.3f)
      : int8_from_(int8_from), spread_(spread), normal_(0.0f, spread) {
    const std::size_t d = config.d, hidden = config.encoder.hidden;
    add("encoder.word.weight", {config.encoder.vocabulary, hidden});
    add("encoder.position.weight", {config.encoder.positions, hidden});
    norm("encoder.norm", hidden);
    for (std::size_t index = 0; index < config.encoder.layers; ++index) {
      const std::string layer = "encoder.layers." + std::to_string(index) + ".";
      linear(layer + "qkv", 3 * hidden, hidden);
      linear(layer + "out", hidden, hidden);
      norm(layer + "attention_norm", hidden);
      linear(layer + "ffn_in", config.encoder.ffn, hidden);
      linear(layer + "ffn_out", hidden, config.encoder.ffn);
      norm(layer + "ffn_norm", hidden);
    }
    for (const char* name : {"token_in", "item_in", "owner_in", "value_in"}) linear(name, d, hidden);
    add("item_type.weight", {11, d});
    for (std::size_t feature = 0; feature < 4; ++feature) add("candidate." + std::to_string(feature) + ".weight", {5, d});
    for (std::size_t index = 0; index < config.cached_layers + config.joint_layers; ++index) {
      const std::string layer = "graph." + std::to_string(index) + ".";
      norm(layer + "norm", d);
      linear(layer + "qkv", 3 * d, d);
      add(layer + "relation_key", {config.relations, config.head_size()});
      add(layer + "relation_value", {config.relations, config.head_size()});
      linear(layer + "out", d, d);
      norm(layer + "ffn_norm", d);
      linear(layer + "ffn_in", config.ffn, d);
      linear(layer + "ffn_out", d, config.ffn);
    }
    norm("graph_norm", d);
    norm("value_norm", d);
    for_decoder_weights(config, [this](const std::string& name, const std::vector<std::size_t>& shape) {
      add("decoder." + name, shape, name.ends_with("norm.weight") ? 1.0f : 0.0f);
    });
  }

  const model::Weights& weights() const { return weights_; }

 private:
  void linear(const std::string& name, std::size_t out, std::size_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }

  void norm(const std::string& name, std::size_t width) {
    add(name + ".weight", {width}, 1.0f);
    add(name + ".bias", {width});
  }

  void add(const std::string& name, const std::vector<std::size_t>& shape, float centre = 0.0f) {
    const std::size_t size = shape.size() == 2 ? shape[0] * shape[1] : shape[0];
    if (shape.size() == 2 && size >= int8_from_) {
      std::vector<std::int8_t>& entries = bytes_.emplace_back(size);
      for (auto& entry : entries) entry = static_cast<std::int8_t>(static_cast<int>(generator_() % 255) - 127);
      weights_.add(name, {shape, nullptr, entries.data()});
      weights_.add(name + ".scale", {{shape[0]}, floats_.emplace_back(shape[0], spread_ / 75.0f).data(), nullptr});
      return;
    }
    std::vector<float>& entries = floats_.emplace_back(size);
    for (float& entry : entries) entry = centre + normal_(generator_);
    weights_.add(name, {shape, entries.data(), nullptr});
  }

  std::size_t int8_from_;
  float spread_;
  std::mt19937 generator_{11};
  std::normal_distribution<float> normal_;
  std::deque<std::vector<float>> floats_;
  std::deque<std::vector<std::int8_t>> bytes_;
  model::Weights weights_;
};

}  // namespace fastsql::test
