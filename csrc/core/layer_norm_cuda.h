// Layer norm on the GPU, by itself or on the way into a linear map.
#pragma once

#include <cstddef>
#include <vector>

#include "core/device.h"

namespace fastsql::cuda {

// Parameters in device memory, [width] each.
struct LayerNormView {
  const float* weight;
  const float* bias;
  float epsilon;
  int width;
};

class LayerNorm {
 public:
  // Copies the parameters. Throws ModelError where there is no weight, or another number of biases.
  LayerNorm(const std::vector<float>& weight, const std::vector<float>& bias, float epsilon = 1e-5f);

  std::size_t width() const { return parameters_.size() / 2; }
  LayerNormView view() const;

  // Queues x [rows, width] to y [rows, width], which may be the same memory. A row's result does not depend on the others.
  void apply(const float* x, std::size_t rows, float* y, cudaStream_t stream) const;

 private:
  DeviceArray<float> parameters_;  // weight, then bias
  float epsilon_;
};

}  // namespace fastsql::cuda
