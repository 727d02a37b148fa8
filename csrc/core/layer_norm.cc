#include "core/layer_norm.h"

#include <string>
#include <utility>

#include "core/error.h"
#include "core/kernels.h"
#include "core/layer_norm_cpu.h"

namespace fastsql {

LayerNorm::LayerNorm(std::vector<float> weight, std::vector<float> bias, float epsilon, InstructionSet set)
    : weight_(std::move(weight)), bias_(std::move(bias)), epsilon_(epsilon), kernel_(FASTSQL_KERNEL(layer_norm, set)) {
  if (!weight_.empty() && weight_.size() == bias_.size()) return;
  throw ModelError("a layer norm has " + std::to_string(weight_.size()) + " weights and " + std::to_string(bias_.size()) +
                   " biases; it needs equally many, and at least one");
}

void LayerNorm::apply(const float* x, std::size_t rows, float* y) const {
  kernel_(x, rows, weight_.size(), weight_.data(), bias_.data(), epsilon_, y);
}

}  // namespace fastsql
