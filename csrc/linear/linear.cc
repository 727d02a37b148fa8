#include "linear/linear.h"

#include <algorithm>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "core/kernels.h"
#include "linear/linear_cpu.h"

namespace fastsql {
namespace {

// Multiplications below which handing over to another thread costs more than it brings.
constexpr std::size_t kWorthSharing = std::size_t{1} << 18;

// weight[out, in] to panels[out / width][in][width], zero where channels run out.
template <typename T>
std::vector<T> pack(const T* weight, std::size_t out, std::size_t in, std::size_t width) {
  const std::size_t panels = (out + width - 1) / width;
  std::vector<T> packed(panels * in * width, T{});
  for (std::size_t channel = 0; channel < out; ++channel) {
    T* to = packed.data() + channel / width * in * width + channel % width;
    for (std::size_t k = 0; k < in; ++k) to[k * width] = weight[channel * in + k];
  }
  return packed;
}

std::vector<float> pad(const float* values, std::size_t size, std::size_t padded, float otherwise) {
  std::vector<float> result(padded, otherwise);
  if (values != nullptr) std::copy_n(values, size, result.begin());
  return result;
}

}  // namespace

struct Linear::Panels {
  std::size_t in, out, width, count;
  std::vector<std::int8_t> quantised;
  std::vector<float> values, scale, bias;
  Kernel *kernel, *sparse_kernel;

  cpu::LinearWeights weights() const {
    return {in, out, quantised.empty() ? nullptr : quantised.data(), values.data(), scale.data(), bias.data()};
  }
};

Linear::Linear(const Matrix& weight, const float* bias, InstructionSet set) {
  if (weight.out == 0 || weight.in == 0) {
    throw ModelError("a linear map has the shape [" + std::to_string(weight.out) + ", " + std::to_string(weight.in) +
                     "]; neither axis may be empty");
  }
  const std::size_t width = FASTSQL_KERNEL(linear_panel, set)();
  const std::size_t count = (weight.out + width - 1) / width;
  auto panels = std::make_unique<Panels>();
  panels->in = weight.in;
  panels->out = weight.out;
  panels->width = width;
  panels->count = count;
  panels->kernel = FASTSQL_KERNEL(linear, set);
  panels->sparse_kernel = FASTSQL_KERNEL(linear_sparse, set);
  if (weight.quantised != nullptr) {
    panels->quantised = pack(weight.quantised, weight.out, weight.in, width);
  } else {
    panels->values = pack(weight.values, weight.out, weight.in, width);
  }
  panels->scale = pad(weight.quantised != nullptr ? weight.scale : nullptr, weight.out, count * width, 1.0f);
  panels->bias = pad(bias, weight.out, count * width, 0.0f);
  panels_ = std::move(panels);
}

Linear::~Linear() = default;
Linear::Linear(Linear&&) noexcept = default;
Linear& Linear::operator=(Linear&&) noexcept = default;

std::size_t Linear::in() const { return panels_->in; }
std::size_t Linear::out() const { return panels_->out; }

void Linear::apply(const float* x, std::size_t rows, float* y, Then then, const Workers& workers, std::size_t y_stride) const {
  run(panels_->kernel, {x, rows, in(), y, y_stride == 0 ? out() : y_stride, then}, workers);
}

void Linear::apply_to_sparse(const float* x, std::size_t rows, float* y, Then then, const Workers& workers) const {
  run(panels_->sparse_kernel, {x, rows, in(), y, out(), then}, workers);
}

void Linear::run(Kernel* kernel, const cpu::LinearRows& task, const Workers& workers) const {
  const Panels& panels = *panels_;
  const cpu::LinearWeights weights = panels.weights();
  if (workers.threads() == 1 || task.rows * panels.in * panels.out < kWorthSharing) {
    kernel(weights, task, 0, panels.count);
    return;
  }
  // Several parts a thread, as threads are seldom equally fast; each part is a run of neighbouring panels.
  const std::size_t parts = std::min(panels.count, 4 * workers.threads());
  const auto part = [&](std::size_t index) {
    kernel(weights, task, panels.count * index / parts, panels.count * (index + 1) / parts);
  };
  workers.run(parts, std::cref(part));
}

}  // namespace fastsql
