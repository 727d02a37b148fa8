// The CPU kernels behind Linear. Sizes and pointers are trusted here.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/kernels.h"
#include "linear/linear.h"

namespace fastsql::cpu {

// Weights lie in panels of `width` output channels, [panels][in][width], the last one filled up with zeros; scale and bias are
// padded alike.
struct LinearWeights {
  std::size_t in, out;
  const std::int8_t* quantised;  // one of the two
  const float* values;
  const float* scale;  // [padded out]
  const float* bias;   // [padded out]
};

struct LinearRows {
  const float* x;  // rows x_stride apart
  std::size_t rows, x_stride;
  float* y;  // rows y_stride apart
  std::size_t y_stride;
  Then then;
};

// Output channels of a panel.
FASTSQL_DECLARE_KERNEL(std::size_t linear_panel())

// The panels from `first` to, not including, `last`, for all rows.
FASTSQL_DECLARE_KERNEL(void linear(const LinearWeights& weights, const LinearRows& rows, std::size_t first, std::size_t last))

// The same where most of x is zero: an input that is zero in all rows of a tile is passed over, which changes no bit of the sums.
FASTSQL_DECLARE_KERNEL(void linear_sparse(const LinearWeights& weights, const LinearRows& rows, std::size_t first,
                                          std::size_t last))

}  // namespace fastsql::cpu
