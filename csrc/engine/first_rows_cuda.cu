#include "engine/first_rows_cuda.h"

#include "core/device_functions.h"

namespace fastsql::cuda {
namespace {

constexpr unsigned kThreads = 128;

// A block writes a row.
__global__ void __launch_bounds__(kThreads) begin_row(const FirstRows given, float* rows) {
  const FirstRow& row = given.rows[blockIdx.x];
  const float* tokens = given.tokens + row.state * given.d;
  for (std::size_t i = threadIdx.x; i < given.d; i += kThreads) {
    float entry = row.inside < 0 ? tokens[i] : 0.0f;
    if (row.inside >= 0) {
      const float* weights = given.inside + row.inside;
      for (std::int32_t token = 0; token < row.token_count; ++token) {
        if (weights[token] != 0.0f) entry += weights[token] * tokens[token * given.d + i];
      }
      for (std::size_t feature = 0; feature < kCandidateFeatures; ++feature) {
        entry += given.features[feature][row.features[feature] * given.d + i];
      }
    }
    if (row.is_turn) {
      for (std::size_t feature = 0; feature < kTurnFeatures; ++feature) {
        entry += given.turn_features[feature][row.turn[feature] * given.d + i];
      }
    }
    rows[blockIdx.x * given.d + i] = entry;
  }
}

// A block writes a mean.
__global__ void __launch_bounds__(kThreads) mean_of_run(const Run* runs, const float* rows, std::size_t d, float* means) {
  const Run run = runs[blockIdx.x];
  for (std::size_t i = threadIdx.x; i < d; i += kThreads) {
    float sum = 0.0f;
    for (std::int32_t row = run.first; row < run.first + run.count; ++row) sum += rows[row * d + i];
    means[blockIdx.x * d + i] = sum / static_cast<float>(run.count > 0 ? run.count : 1);
  }
}

}  // namespace

void first_rows(const FirstRows& given, float* rows, cudaStream_t stream) {
  if (given.count == 0) return;
  launch("first rows", begin_row, {static_cast<unsigned>(given.count), kThreads}, stream, given, rows);
}

void mean_rows(const Run* runs, std::size_t count, const float* rows, std::size_t d, float* means, cudaStream_t stream) {
  if (count == 0) return;
  launch("mean rows", mean_of_run, {static_cast<unsigned>(count), kThreads}, stream, runs, rows, d, means);
}

}  // namespace fastsql::cuda
