#include "decode/decoder.h"

#include "core/error.h"
#include "decode/decoder_weights.h"
#include "decode/workspace.h"

namespace fastsql::decode {

Decoder::Decoder(const model::Config& config, const model::Weights& weights, InstructionSet set)
    : weights_(std::make_unique<DecoderWeights>(config, weights, set)), workspaces_(std::make_unique<Pool<Workspace>>()) {}

Decoder::~Decoder() = default;
Decoder::Decoder(Decoder&&) noexcept = default;
Decoder& Decoder::operator=(Decoder&&) noexcept = default;

const model::Config& Decoder::config() const { return weights_->config; }

std::size_t Decoder::keyed_size(std::size_t n) const { return 2 * weights_->layers.size() * n * weights_->layout.width; }

Keyed Decoder::read_rows(const float* rows, std::size_t n, float* storage, const Workers& workers) const {
  const std::size_t size = n * weights_->layout.width, layers = weights_->layers.size();
  float* keys = storage;
  float* values = storage + layers * size;
  for (std::size_t layer = 0; layer < layers; ++layer) {
    weights_->layers[layer].cross_key.apply(rows, n, keys + layer * size, Then::kStore, workers);
    weights_->layers[layer].cross_value.apply(rows, n, values + layer * size, Then::kStore, workers);
  }
  return {n, rows, keys, values};
}

void Decoder::pointer_keys(grammar::Kind kind, const float* rows, std::size_t n, float* keys, const Workers& workers) const {
  if (kind == grammar::Kind::kProduction || kind == grammar::Kind::kStep || kind == grammar::Kind::kTurn) {
    throw ModelError("pointer keys are of graph rows; productions, steps and turns have none");
  }
  weights_->pointer_key(kind).apply(rows, n, keys, Then::kStore, workers);
}

}  // namespace fastsql::decode
