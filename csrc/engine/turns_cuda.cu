#include "engine/turns_cuda.h"

#include "core/device_functions.h"
#include "model/weights_cuda.h"

namespace fastsql::cuda {
namespace {

constexpr unsigned kThreads = 128;

struct EntryEmbeddings {
  const float* features[kEntryFeatures];  // [.., d] each
  std::size_t d;
};

// A block writes an entry.
__global__ void __launch_bounds__(kThreads)
    begin_entry(const EntryRow* entries, const EntryEmbeddings embeddings, float* states) {
  const EntryRow& entry = entries[blockIdx.x];
  const std::size_t d = embeddings.d;
  for (std::size_t i = threadIdx.x; i < d; i += kThreads) {
    float sum = entry.turn[i];
    for (std::size_t feature = 0; feature < kEntryFeatures; ++feature) {
      sum += embeddings.features[feature][entry.features[feature] * d + i];
    }
    states[blockIdx.x * d + i] = entry.item == nullptr ? sum : sum + entry.item[i];
  }
}

}  // namespace

Turns::Turns(const model::Config& config, const model::Weights& weights)
    : d_(config.d),
      question_(linear_at(weights, "turn.question", config.d, config.d)),
      entry_norm_(norm_at(weights, "turn.entry_norm", config.d)) {
  const auto embedding = [&](const char* name) {
    return DeviceArray<float>(weights.floats(name, {weights.rows(name), config.d}), "the model");
  };
  for (const char* name : kTurnEmbeddings) features_.push_back(embedding(name));
  for (const char* name : kEntryEmbeddings) entry_.push_back(embedding(name));
}

void Turns::entry_states(const EntryRow* entries, std::size_t count, float* states, cudaStream_t stream) const {
  if (count == 0) return;
  EntryEmbeddings embeddings{{}, d_};
  for (std::size_t feature = 0; feature < kEntryFeatures; ++feature) embeddings.features[feature] = entry_[feature].data();
  launch("entries of earlier turns", begin_entry, {static_cast<unsigned>(count), kThreads}, stream, entries, embeddings, states);
  entry_norm_.apply(states, count, states, stream);
}

}  // namespace fastsql::cuda
