// The BERT encoder (Devlin et al., 2019): tokens in, one state per token out. Mirrors NumpyEncoder of
// python/fastsql/model/encoder.py. Texts come in groups of equal length, so that nothing is padded and nothing masked.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/instruction_set.h"
#include "core/layer_norm.h"
#include "core/scratch.h"
#include "core/workers.h"
#include "linear/linear.h"
#include "model/config.h"
#include "model/embedding.h"
#include "model/weights.h"

namespace fastsql {

class Encoder {
 public:
  // Copies the weights whose names begin with "encoder.". Throws ModelError where one is missing or of another shape.
  Encoder(const model::EncoderConfig& config, const model::Weights& weights, InstructionSet set = best_instruction_set());

  const model::EncoderConfig& config() const { return config_; }

  // ids [texts, tokens], with [CLS] and [SEP], to states [texts, tokens, hidden]. Memory is taken from `scratch`; allocates
  // nothing where that is warm. A text's states depend neither on the other texts nor on the number of workers. Thread-safe.
  // Throws ModelError where an id is not in the vocabulary, or there are no tokens or more than the model has positions.
  void encode(const std::int32_t* ids, std::size_t texts, std::size_t tokens, float* states, Scratch& scratch,
              const Workers& workers = {}) const;

 private:
  struct Layer {
    Linear qkv, out;
    LayerNorm attention_norm;
    Linear ffn_in, ffn_out;
    LayerNorm ffn_norm;
  };

  void embed(const std::int32_t* ids, std::size_t texts, std::size_t tokens, float* states) const;

  model::EncoderConfig config_;
  InstructionSet set_;
  model::Embedding word_, position_;
  LayerNorm norm_;
  std::vector<Layer> layers_;
};

}  // namespace fastsql
