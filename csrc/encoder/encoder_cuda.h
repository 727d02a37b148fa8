// The BERT encoder of encoder/encoder.h on the GPU, for texts of different lengths at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device.h"
#include "core/layer_norm_cuda.h"
#include "linear/linear_cuda.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql::cuda {

// Texts one behind the other; both arrays lie in device memory. Nobody checks them there: ids must be in the vocabulary.
struct Texts {
  const std::int32_t* ids = nullptr;    // [tokens], each text with [CLS] and [SEP]
  const std::int32_t* first = nullptr;  // [texts + 1], where each begins; the last is `tokens`
  std::size_t texts = 0, tokens = 0;
  std::size_t longest = 0;  // tokens of any text
};

class Encoder {
 public:
  // Copies the weights whose names begin with "encoder.". Throws ModelError where one is missing or of another shape, or where heads
  // are of another size than 32 or 64.
  Encoder(const model::EncoderConfig& config, const model::Weights& weights);

  const model::EncoderConfig& config() const { return config_; }

  // Bytes of scratch memory that `encode` takes for texts of so many tokens together.
  std::size_t scratch_bytes(std::size_t tokens) const;

  // Queues texts to states [tokens, hidden]. A text's states do not depend on the other texts. Throws ModelError where a text has
  // more tokens than the model has positions.
  void encode(const Texts& texts, float* states, DeviceScratch& scratch, cudaStream_t stream) const;

 private:
  struct Layer {
    Linear qkv, out;
    LayerNorm attention_norm;
    Linear ffn_in, ffn_out;
    LayerNorm ffn_norm;
  };

  model::EncoderConfig config_;
  DeviceArray<float> position_;         // [positions, hidden]
  DeviceArray<std::int8_t> word_int8_;  // [vocabulary, hidden], with `word_scale_` [vocabulary],
  DeviceArray<float> word_scale_;
  DeviceArray<float> word_;  // or this
  LayerNorm norm_;
  std::vector<Layer> layers_;
};

}  // namespace fastsql::cuda
