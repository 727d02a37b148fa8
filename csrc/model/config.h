// This room holds what a bundle says, for all that compute with it: sizes (here), tensors by name (weights.h, weights_cuda.h onto a
// GPU), embeddings (embedding.h). Layers are in encoder/, graph/, attention/ and decode/, which engine/ puts together.
//
// Sizes of a model; mirrors ModelConfig and EncoderConfig of python/fastsql/model/config.py.
#pragma once

#include <cstddef>

namespace fastsql::model {

struct EncoderConfig {
  std::size_t hidden = 0, layers = 0, heads = 0, ffn = 0, vocabulary = 0, positions = 0;
};

struct Config {
  std::size_t productions = 0, symbols = 0;
  std::size_t d = 0, heads = 0, ffn = 0;
  std::size_t cached_layers = 0, joint_layers = 0, decoder_layers = 0;
  std::size_t relations = 0, max_steps = 0;
  bool turns = false;  // whether it reads earlier turns of a conversation
  EncoderConfig encoder;

  std::size_t head_size() const { return d / heads; }
};

}  // namespace fastsql::model
