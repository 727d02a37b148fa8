// The decoder's weights on the GPU, and what is made of a question's rows before its search.
#include <algorithm>

#include "core/error.h"
#include "decode/cuda/decoder.h"
#include "decode/pointing.h"
#include "model/weights_cuda.h"

namespace fastsql::cuda {
namespace {

using model::Weights;

using decode::pointer_key_name;
using grammar::Kind;
using grammar::kPointerKinds;

DeviceArray<float> embedding_at(const Weights& weights, const std::string& name, std::size_t rows, std::size_t d) {
  return DeviceArray<float>(weights.floats("decoder." + name + ".weight", {rows, d}), "the decoder");
}

// Embeddings of kinds of action, in the order of kind_row.
DeviceArray<float> kinds_of(const model::Config& config, const Weights& weights) {
  std::vector<float> rows = weights.floats("decoder.kind.weight", {grammar::kWeightedKinds + 1, config.d});
  if (config.turns) {
    const std::vector<float> turn = weights.floats("decoder.turn.kind.weight", {1, config.d});
    rows.insert(rows.end(), turn.begin(), turn.end());
  }
  return DeviceArray<float>(rows, "the decoder");
}

// The query of pointers to decisions and the map of their keys in one: a state s is compared as q . (K s) = (K^T q) . s, so that no
// step makes keys.
Linear query_of_steps(const Weights& weights, std::size_t d) {
  const std::vector<float> queries = weights.floats("decoder.pointer_query.weight", {kPointerKinds * d, d});
  const std::vector<float> biases = weights.floats("decoder.pointer_query.bias", {kPointerKinds * d});
  const std::vector<float> keys = weights.floats(pointer_key_name(Kind::kStep) + ".weight", {d, d});
  const float* query = queries.data() + grammar::pointer_number(Kind::kStep) * d * d;
  const float* bias = biases.data() + grammar::pointer_number(Kind::kStep) * d;
  std::vector<double> product(d * d, 0.0), shift(d, 0.0);
  for (std::size_t k = 0; k < d; ++k) {
    for (std::size_t i = 0; i < d; ++i) {
      const double factor = keys[k * d + i];
      for (std::size_t j = 0; j < d; ++j) product[i * d + j] += factor * static_cast<double>(query[k * d + j]);
      shift[i] += factor * static_cast<double>(bias[k]);
    }
  }
  const std::vector<float> weight(product.begin(), product.end()), added(shift.begin(), shift.end());
  return Linear(Matrix{d, d, weight.data(), nullptr, nullptr}, added.data());
}

int attribute(cudaDeviceAttr which) {
  int device = 0, value = 0;
  expect(cudaGetDevice(&device), "the current device");
  expect(cudaDeviceGetAttribute(&value, which, device), "an attribute of the device");
  return value;
}

const model::Config& validated(const model::Config& config) {
  const std::size_t head = config.heads == 0 ? 0 : config.head_size();
  if ((head != 32 && head != 64) || head * config.heads != config.d) {
    throw ModelError("the decoder has " + std::to_string(config.heads) + " heads over " + std::to_string(config.d) +
                     " numbers; the CUDA core takes heads of 32 and 64");
  }
  if (config.decoder_layers == 0 || config.ffn == 0 || config.max_steps == 0) {
    throw ModelError("the decoder has no layer, no hidden units or no steps");
  }
  return config;
}

}  // namespace

Decoder::Layer::Layer(const model::Config& config, const Weights& weights, const std::string& prefix)
    : self_norm(norm_at(weights, prefix + "self_norm", config.d)),
      self_qkv(linear_at(weights, prefix + "self_qkv", 3 * config.d, config.d)),
      self_out(linear_at(weights, prefix + "self_out", config.d, config.d)),
      cross_norm(norm_at(weights, prefix + "cross_norm", config.d)),
      cross_query(linear_at(weights, prefix + "cross_query", config.d, config.d)),
      cross_kv(linear_at(weights, prefix + "cross_kv", 2 * config.d, config.d)),
      cross_out(linear_at(weights, prefix + "cross_out", config.d, config.d)),
      ffn_norm(norm_at(weights, prefix + "ffn_norm", config.d)),
      ffn_in(linear_at(weights, prefix + "ffn_in", config.ffn, config.d)),
      ffn_out(linear_at(weights, prefix + "ffn_out", config.d, config.ffn)) {}

DecoderLayerView Decoder::Layer::view() const {
  return {self_norm.view(), self_qkv.view(), self_out.view(), cross_norm.view(), cross_query.view(),
          cross_out.view(), ffn_norm.view(), ffn_in.view(),   ffn_out.view()};
}

Decoder::Decoder(const model::Config& config, const Weights& weights)
    : config_(validated(config)),
      production_(embedding_at(weights, "production", config.productions + 2, config.d)),
      kind_(kinds_of(config, weights)),
      symbol_(embedding_at(weights, "symbol", config.symbols, config.d)),
      parent_(embedding_at(weights, "parent", config.productions + 1, config.d)),
      position_(embedding_at(weights, "position", config.max_steps, config.d)),
      row_bias_(weights.floats("decoder.row.bias", {config.d}), "the decoder"),
      row_(linear_at(weights, "decoder.row", config.d, config.d)),
      norm_(norm_at(weights, "decoder.norm", config.d)),
      production_scores_(linear_at(weights, "decoder.production_scores", config.productions, config.d)) {
  processors_ = attribute(cudaDevAttrMultiProcessorCount);
  largest_team_ = attribute(cudaDevAttrComputeCapabilityMajor) >= 9 ? 8 : 1;
  std::vector<DecoderLayerView> views;
  for (std::size_t index = 0; index < config.decoder_layers; ++index) {
    layers_.emplace_back(config, weights, "decoder.layers." + std::to_string(index) + ".");
    views.push_back(layers_.back().view());
  }
  const Matrix queries = weights.matrix("decoder.pointer_query.weight", kPointerKinds * config.d, config.d);
  const std::vector<float> biases = weights.floats("decoder.pointer_query.bias", {kPointerKinds * config.d});
  for (std::size_t pointer = 0; pointer < kPointerKinds; ++pointer) {
    const Kind kind = grammar::pointer_kind(pointer);
    const std::size_t first = pointer * config.d;
    if (kind == Kind::kStep) {
      pointer_queries_.push_back(query_of_steps(weights, config.d));
      continue;
    }
    pointer_queries_.emplace_back(queries.rows(first, config.d), biases.data() + first);
    pointer_keys_.emplace(kind, linear_at(weights, pointer_key_name(kind), config.d, config.d));
  }
  if (config.turns) {
    pointer_queries_.push_back(linear_at(weights, "decoder.turn.query", config.d, config.d));
    pointer_keys_.emplace(Kind::kTurn, linear_at(weights, pointer_key_name(Kind::kTurn), config.d, config.d));
  }
  layer_views_ = DeviceArray<DecoderLayerView>(views, "the decoder");
  view_ = DeviceArray<DecoderView>(std::vector<DecoderView>{view()}, "the decoder");
}

DecoderView Decoder::view() const {
  const auto size = [](std::size_t number) { return static_cast<int>(number); };
  DecoderView view{};
  view.productions = size(config_.productions);
  view.symbols = size(config_.symbols);
  view.d = size(config_.d);
  view.heads = size(config_.heads);
  view.ffn = size(config_.ffn);
  view.layers = size(config_.decoder_layers);
  view.max_steps = size(config_.max_steps);
  view.production = production_.data();
  view.kind = kind_.data();
  view.symbol = symbol_.data();
  view.parent = parent_.data();
  view.position = position_.data();
  view.row_bias = row_bias_.data();
  view.layer = layer_views_.data();
  view.norm = norm_.view();
  view.production_scores = production_scores_.view();
  for (std::size_t pointer = 0; pointer < pointer_queries_.size(); ++pointer)
    view.pointer_queries[pointer] = pointer_queries_[pointer].view();
  return view;
}

void Decoder::read_rows(const float* rows, std::size_t n, float* keys_values, float* pointed, cudaStream_t stream) const {
  for (std::size_t layer = 0; layer < layers_.size(); ++layer) {
    layers_[layer].cross_kv.apply(rows, n, keys_values + layer * n * 2 * config_.d, Then::kStore, stream);
  }
  read_pointed(rows, n, pointed, stream);
}

void Decoder::read_pointed(const float* rows, std::size_t n, float* pointed, cudaStream_t stream) const {
  row_.apply(rows, n, pointed, Then::kStore, stream);
}

void Decoder::pointer_keys(Kind kind, const float* rows, std::size_t n, float* keys, cudaStream_t stream) const {
  const auto map = pointer_keys_.find(kind);
  if (map == pointer_keys_.end()) throw ModelError("pointer keys are of graph rows; productions and steps have none");
  map->second.apply(rows, n, keys, Then::kStore, stream);
}

int Decoder::team_of(int questions) const {
  // A team's blocks lie in one cluster of processors, which their number seldom fills: some of all are left over.
  const int usable = processors_ - processors_ / 8;
  int team = largest_team_;
  while (team > 1 && team * questions > usable) team /= 2;
  return team;
}

}  // namespace fastsql::cuda
