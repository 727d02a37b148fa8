#include "encoder/encoder.h"

#include <algorithm>
#include <string>

#include "attention/self_attention.h"
#include "core/error.h"

namespace fastsql {
namespace {

constexpr float kEpsilon = 1e-12f;

LayerNorm norm_at(const model::Weights& weights, const std::string& name, std::size_t width, InstructionSet set) {
  return LayerNorm(weights.floats(name + ".weight", {width}), weights.floats(name + ".bias", {width}), kEpsilon, set);
}

}  // namespace

Encoder::Encoder(const model::EncoderConfig& config, const model::Weights& weights, InstructionSet set)
    : config_(config),
      set_(set),
      word_(weights, "encoder.word.weight", config.vocabulary, config.hidden),
      position_(weights, "encoder.position.weight", config.positions, config.hidden),
      norm_(norm_at(weights, "encoder.norm", config.hidden, set)) {
  const std::size_t hidden = config.hidden;
  for (std::size_t index = 0; index < config.layers; ++index) {
    const std::string layer = "encoder.layers." + std::to_string(index) + ".";
    layers_.push_back(
        {weights.linear(layer + "qkv", 3 * hidden, hidden, set), weights.linear(layer + "out", hidden, hidden, set),
         norm_at(weights, layer + "attention_norm", hidden, set), weights.linear(layer + "ffn_in", config.ffn, hidden, set),
         weights.linear(layer + "ffn_out", hidden, config.ffn, set), norm_at(weights, layer + "ffn_norm", hidden, set)});
  }
}

void Encoder::encode(const std::int32_t* ids, std::size_t texts, std::size_t tokens, float* states, Scratch& scratch,
                     const Workers& workers) const {
  if (tokens == 0 || tokens > position_.rows()) {
    throw ModelError("the encoder was given texts of " + std::to_string(tokens) + " tokens; it takes from 1 to " +
                     std::to_string(position_.rows()));
  }
  const std::size_t rows = texts * tokens, hidden = config_.hidden;
  for (std::size_t i = 0; i < rows; ++i) word_.expect("a token's id", ids[i]);
  embed(ids, texts, tokens, states);
  norm_.apply(states, rows, states);

  const Scratch::Scope scope(scratch);
  float* qkv = scratch.take(rows * 3 * hidden);
  float* mixed = scratch.take(rows * hidden);
  float* inner = scratch.take(rows * config_.ffn);
  for (const Layer& layer : layers_) {
    layer.qkv.apply(states, rows, qkv, Then::kStore, workers);
    self_attention({qkv, texts, tokens, config_.heads, hidden / config_.heads}, mixed, scratch, workers, set_);
    layer.out.apply(mixed, rows, states, Then::kAdd, workers);
    layer.attention_norm.apply(states, rows, states);
    layer.ffn_in.apply(states, rows, inner, Then::kGelu, workers);
    layer.ffn_out.apply(inner, rows, states, Then::kAdd, workers);
    layer.ffn_norm.apply(states, rows, states);
  }
}

void Encoder::embed(const std::int32_t* ids, std::size_t texts, std::size_t tokens, float* states) const {
  std::fill_n(states, texts * tokens * config_.hidden, 0.0f);
  for (std::size_t row = 0; row < texts * tokens; ++row) {
    float* state = states + row * config_.hidden;
    word_.add(static_cast<std::size_t>(ids[row]), state);
    position_.add(row % tokens, state);
  }
}

}  // namespace fastsql
