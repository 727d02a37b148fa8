// Linear maps, y = x W^T + b, over weights as a bundle stores them: int8 with a scale per output channel, or float32.
// The int8 weights stay int8 in memory and are multiplied back in registers, so that a step of the decoder streams a quarter
// of the bytes; the result is that of the float32 weights up to the order of rounding.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "core/instruction_set.h"
#include "core/workers.h"

namespace fastsql {

namespace cpu {
struct LinearRows;
struct LinearWeights;
}  // namespace cpu

// A weight of shape [out, in] that somebody else owns: `values`, or `quantised` with `scale` [out].
struct Matrix {
  std::size_t out = 0, in = 0;
  const float* values = nullptr;
  const std::int8_t* quantised = nullptr;
  const float* scale = nullptr;

  // The output channels from `first` to, not including, `first` + `count`.
  Matrix rows(std::size_t first, std::size_t count) const {
    return quantised == nullptr ? Matrix{count, in, values + first * in, nullptr, nullptr}
                                : Matrix{count, in, nullptr, quantised + first * in, scale + first};
  }
};

// What becomes of a product p before it is stored in y.
enum class Then {
  kStore,  // y = p
  kRelu,   // y = max(p, 0)
  kGelu,   // y = gelu(p), in its tanh form
  kAdd,    // y = y + p
};

class Linear {
 public:
  // Copies the weight into panels; `bias` [out] may be null. Throws ModelError where an axis is empty.
  explicit Linear(const Matrix& weight, const float* bias = nullptr, InstructionSet set = best_instruction_set());
  ~Linear();
  Linear(Linear&&) noexcept;
  Linear& operator=(Linear&&) noexcept;

  std::size_t in() const;
  std::size_t out() const;

  // x [rows, in] to y [rows, out], row-major, each row `stride` floats from the next (0: packed). The result of a row does not
  // depend on the other rows or on the number of workers. Thread-safe; allocates nothing.
  void apply(const float* x, std::size_t rows, float* y, Then then = Then::kStore, const Workers& workers = {},
             std::size_t y_stride = 0) const;

  // The same, to the last bit, in less time where most entries of x are zero, as those are that ReLU has left.
  void apply_to_sparse(const float* x, std::size_t rows, float* y, Then then = Then::kStore, const Workers& workers = {}) const;

 private:
  using Kernel = void(const cpu::LinearWeights&, const cpu::LinearRows&, std::size_t, std::size_t);
  void run(Kernel* kernel, const cpu::LinearRows& task, const Workers& workers) const;

  struct Panels;
  std::unique_ptr<const Panels> panels_;
};

}  // namespace fastsql
