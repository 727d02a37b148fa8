#include "core/layer_norm_cpu.h"

#include "core/vectors.h"

namespace fastsql::cpu::FASTSQL_SET {
namespace {

// The sum of term(x[i]) over a row: as many partial sums as a panel is wide, then those in pairs.
template <typename Term>
float sum(const float* x, std::size_t width, Term term) {
  float lanes[kPanel] = {};
  std::size_t i = 0;
  for (; i + kPanel <= width; i += kPanel) {
    for (std::size_t lane = 0; lane < kPanel; ++lane) lanes[lane] += term(x[i + lane]);
  }
  for (std::size_t lane = 0; i < width; ++i, ++lane) lanes[lane] += term(x[i]);
  for (std::size_t half = kPanel / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

}  // namespace

void layer_norm(const float* x, std::size_t rows, std::size_t width, const float* weight, const float* bias, float epsilon,
                float* y) {
  const float share = 1.0f / static_cast<float>(width);
  for (std::size_t row = 0; row < rows; ++row, x += width, y += width) {
    const float mean = sum(x, width, [](float value) { return value; }) * share;
    const auto square = [mean](float value) { return (value - mean) * (value - mean); };
    const float factor = 1.0f / __builtin_sqrtf(sum(x, width, square) * share + epsilon);
    for (std::size_t i = 0; i < width; ++i) y[i] = (x[i] - mean) * factor * weight[i] + bias[i];
  }
}

}  // namespace fastsql::cpu::FASTSQL_SET
