// Layer norm (Ba et al., 2016): y = (x - mean) / sqrt(variance + epsilon) * weight + bias over each row.
#pragma once

#include <cstddef>
#include <vector>

#include "core/instruction_set.h"

namespace fastsql {

class LayerNorm {
 public:
  // Throws ModelError where there is no weight, or another number of biases.
  LayerNorm(std::vector<float> weight, std::vector<float> bias, float epsilon = 1e-5f,
            InstructionSet set = best_instruction_set());

  std::size_t width() const { return weight_.size(); }

  // x [rows, width] to y [rows, width], which may be the same memory. Thread-safe; allocates nothing.
  void apply(const float* x, std::size_t rows, float* y) const;

 private:
  using Kernel = void(const float* x, std::size_t rows, std::size_t width, const float* weight, const float* bias, float epsilon,
                      float* y);
  std::vector<float> weight_, bias_;
  float epsilon_;
  Kernel* kernel_;
};

}  // namespace fastsql
