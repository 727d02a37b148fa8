#include "encoder/encoder_cuda.h"

#include <string>

#include "attention/self_attention_cuda.h"
#include "core/device_functions.h"
#include "core/warp_sums.h"
#include "model/weights_cuda.h"

namespace fastsql::cuda {
namespace {

constexpr float kEpsilon = 1e-12f;
constexpr int kWarps = 4;

struct Embeddings {
  const std::int8_t* word_int8;  // [vocabulary, hidden], with word_scale [vocabulary], or null
  const float* word_scale;
  const float* word;      // [vocabulary, hidden] otherwise
  const float* position;  // [positions, hidden]
  LayerNormView norm;
};

// states[token] = norm(word[id] + position); a warp is a token.
__global__ void __launch_bounds__(kWarps* kLanes)
    embed(const Embeddings embeddings, const std::int32_t* ids, const std::int32_t* first, float* states) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes, width = embeddings.norm.width;
  const int begin = first[blockIdx.x], tokens = first[blockIdx.x + 1] - begin;
  const int position = static_cast<int>(blockIdx.y) * kWarps + static_cast<int>(threadIdx.x) / kLanes;
  if (position >= tokens) return;  // the whole warp, and no barrier follows
  const auto word = static_cast<std::size_t>(ids[begin + position]);
  const float* of_position = embeddings.position + static_cast<std::size_t>(position) * width;
  float* state = states + static_cast<std::size_t>(begin + position) * width;
  for (int i = lane; i < width; i += kLanes) {
    const float of_word = embeddings.word_int8 == nullptr
                              ? embeddings.word[word * width + i]
                              : static_cast<float>(embeddings.word_int8[word * width + i]) * embeddings.word_scale[word];
    state[i] = of_word + of_position[i];
  }
  const LayerNormView& norm = embeddings.norm;
  const RowStatistics statistics = row_statistics(state, width, norm.epsilon, lane);  // each lane reads what it has written
  for (int i = lane; i < width; i += kLanes) state[i] = normalised(state[i], statistics, norm.weight[i], norm.bias[i]);
}

}  // namespace

Encoder::Encoder(const model::EncoderConfig& config, const model::Weights& weights)
    : config_(config),
      position_(weights.floats("encoder.position.weight", {config.positions, config.hidden}), "the model"),
      norm_(norm_at(weights, "encoder.norm", config.hidden, kEpsilon)) {
  const std::size_t hidden = config.hidden, entries = config.vocabulary * hidden;
  const std::size_t head_size = config.heads == 0 ? 0 : hidden / config.heads;
  if ((head_size != 32 && head_size != 64) || head_size * config.heads != hidden) {
    throw ModelError("the encoder has " + std::to_string(config.heads) + " heads in " + std::to_string(hidden) +
                     " numbers; the CUDA kernels take heads of 32 and 64");
  }
  const Matrix word = weights.matrix("encoder.word.weight", config.vocabulary, hidden);
  if (word.quantised != nullptr) {
    word_int8_ = DeviceArray<std::int8_t>(std::vector<std::int8_t>(word.quantised, word.quantised + entries), "the model");
    word_scale_ = DeviceArray<float>(std::vector<float>(word.scale, word.scale + config.vocabulary), "the model");
  } else {
    word_ = DeviceArray<float>(std::vector<float>(word.values, word.values + entries), "the model");
  }
  for (std::size_t index = 0; index < config.layers; ++index) {
    const std::string layer = "encoder.layers." + std::to_string(index) + ".";
    layers_.push_back(
        {linear_at(weights, layer + "qkv", 3 * hidden, hidden), linear_at(weights, layer + "out", hidden, hidden),
         norm_at(weights, layer + "attention_norm", hidden, kEpsilon), linear_at(weights, layer + "ffn_in", config.ffn, hidden),
         linear_at(weights, layer + "ffn_out", hidden, config.ffn), norm_at(weights, layer + "ffn_norm", hidden, kEpsilon)});
  }
}

std::size_t Encoder::scratch_bytes(std::size_t tokens) const {
  const auto bytes = [tokens](std::size_t width) { return DeviceScratch::rounded(tokens * width * sizeof(float)); };
  return bytes(3 * config_.hidden) + bytes(config_.hidden) + bytes(config_.ffn);
}

void Encoder::encode(const Texts& texts, float* states, DeviceScratch& scratch, cudaStream_t stream) const {
  if (texts.longest > config_.positions) {
    throw ModelError("the encoder was given a text of " + std::to_string(texts.longest) + " tokens; it takes " +
                     std::to_string(config_.positions));
  }
  if (texts.tokens == 0) return;
  const std::size_t rows = texts.tokens, hidden = config_.hidden;
  const Embeddings embeddings{word_int8_.data(), word_scale_.data(), word_.data(), position_.data(), norm_.view()};
  const dim3 blocks(static_cast<unsigned>(texts.texts), static_cast<unsigned>((texts.longest + kWarps - 1) / kWarps));
  launch("embeddings", embed, {blocks, kWarps * kLanes}, stream, embeddings, texts.ids, texts.first, states);

  auto* qkv = scratch.take<float>(rows * 3 * hidden);
  auto* mixed = scratch.take<float>(rows * hidden);
  auto* inner = scratch.take<float>(rows * config_.ffn);
  for (const Layer& layer : layers_) {
    layer.qkv.apply(states, rows, qkv, Then::kStore, stream);
    self_attention({qkv, texts.first, texts.texts, texts.longest, config_.heads, hidden / config_.heads}, mixed, stream);
    layer.out.apply(mixed, rows, states, Then::kAdd, stream);
    layer.attention_norm.apply(states, rows, states, stream);
    layer.ffn_in.apply(states, rows, inner, Then::kGelu, stream);
    layer.ffn_out.apply(inner, rows, states, Then::kAdd, stream);
    layer.ffn_norm.apply(states, rows, states, stream);
  }
}

}  // namespace fastsql::cuda
