// Earlier turns of a conversation on the GPU. Mirrors engine/turns.h, addition for addition.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device.h"
#include "core/layer_norm_cuda.h"
#include "engine/inputs.h"
#include "linear/linear_cuda.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql::cuda {

constexpr std::size_t kEntryFeatures = kEntryNumbers - 2;

// What one thing that a turn offers begins as: final states in device memory, and what it is.
struct EntryRow {
  const float* turn;  // [d]
  const float* item;  // [d], of a table or column; null: neither
  std::int32_t features[kEntryFeatures];
};

// Immutable.
class Turns {
 public:
  // Copies the weights whose names begin with "turn.". Throws ModelError where one is missing or of another shape.
  Turns(const model::Config& config, const model::Weights& weights);

  // What a pooled question [d] becomes in the first state of its node, and the embeddings that are added to it, [.., d] each.
  const Linear& question() const { return question_; }
  const float* feature(std::size_t number) const { return features_[number].data(); }

  // Queues states [count, d] of entries, which lie in device memory.
  void entry_states(const EntryRow* entries, std::size_t count, float* states, cudaStream_t stream) const;

 private:
  std::size_t d_;
  Linear question_;
  std::vector<DeviceArray<float>> features_, entry_;
  LayerNorm entry_norm_;
};

}  // namespace fastsql::cuda
