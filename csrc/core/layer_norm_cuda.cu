// One warp a row.
#include <string>

#include "core/layer_norm_cuda.h"
#include "core/warp_sums.h"

namespace fastsql::cuda {
namespace {

constexpr int kWarps = 4;

__global__ void __launch_bounds__(kWarps* kLanes) normalise(const LayerNormView norm, const float* x, int rows, float* y) {
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const int row = static_cast<int>(blockIdx.x) * kWarps + static_cast<int>(threadIdx.x) / kLanes;
  if (row >= rows) return;  // the whole warp, and no barrier follows
  const float* from = x + static_cast<std::size_t>(row) * norm.width;
  float* to = y + static_cast<std::size_t>(row) * norm.width;
  const RowStatistics statistics = row_statistics(from, norm.width, norm.epsilon, lane);
  for (int i = lane; i < norm.width; i += kLanes) to[i] = normalised(from[i], statistics, norm.weight[i], norm.bias[i]);
}

std::vector<float> joined(const std::vector<float>& weight, const std::vector<float>& bias) {
  if (weight.empty() || weight.size() != bias.size()) {
    throw ModelError("a layer norm has " + std::to_string(weight.size()) + " weights and " + std::to_string(bias.size()) +
                     " biases");
  }
  std::vector<float> all = weight;
  all.insert(all.end(), bias.begin(), bias.end());
  return all;
}

}  // namespace

LayerNorm::LayerNorm(const std::vector<float>& weight, const std::vector<float>& bias, float epsilon)
    : parameters_(joined(weight, bias), "the model"), epsilon_(epsilon) {}

LayerNormView LayerNorm::view() const {
  return {parameters_.data(), parameters_.data() + width(), epsilon_, static_cast<int>(width())};
}

void LayerNorm::apply(const float* x, std::size_t rows, float* y, cudaStream_t stream) const {
  if (rows == 0) return;
  const Shape shape{dim3(static_cast<unsigned>((rows + kWarps - 1) / kWarps)), kWarps * kLanes};
  launch("layer norm", normalise, shape, stream, view(), x, static_cast<int>(rows), y);
}

}  // namespace fastsql::cuda
