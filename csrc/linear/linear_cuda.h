// Linear maps on the GPU, y = x W^T + b, from the weights of linear/linear.h. int8 weights stay int8 in memory; products are those of
// float32 to 2^-17 (linear/linear_fragments.h).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/bfloat16.h"
#include "core/device.h"
#include "core/layer_norm_cuda.h"
#include "linear/linear.h"
#include "linear/linear_fragments.h"

namespace fastsql::cuda {

class Linear {
 public:
  // Copies the weight; `bias` [out] may be null. Throws ModelError where an axis is empty.
  explicit Linear(const Matrix& weight, const float* bias = nullptr);

  std::size_t in() const { return static_cast<std::size_t>(in_); }
  std::size_t out() const { return static_cast<std::size_t>(out_); }
  LinearView view() const;

  // Queues x [rows, in] to y [rows, out], rows of y `y_stride` numbers apart (0: packed). Where there is a norm, of width in(), rows
  // of x pass through it first. A row's result depends neither on the other rows nor on how many there are. x lies at a multiple of
  // 8 bytes. Throws LimitError where there are more rows than one launch takes (4 million).
  void apply(const float* x, std::size_t rows, float* y, Then then, cudaStream_t stream, const LayerNormView* norm = nullptr,
             std::size_t y_stride = 0) const;
  // The same rounded to bfloat16, as attention reads it.
  void apply(const float* x, std::size_t rows, Bfloat16* y, cudaStream_t stream, const LayerNormView* norm = nullptr,
             std::size_t y_stride = 0) const;
  // From bfloat16, as attention writes it; x lies at a multiple of 4 bytes.
  void apply(const Bfloat16* x, std::size_t rows, float* y, Then then, cudaStream_t stream) const;

 private:
  int in_, out_, planes_;
  DeviceArray<std::int8_t> fragments_;
  DeviceArray<float> parameters_;  // scale, then bias, each padded to tiles
};

}  // namespace fastsql::cuda
