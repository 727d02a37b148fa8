// The CPU kernel behind LayerNorm. Sizes and pointers are trusted here.
#pragma once

#include <cstddef>

#include "core/kernels.h"

namespace fastsql::cpu {

FASTSQL_DECLARE_KERNEL(void layer_norm(const float* x, std::size_t rows, std::size_t width, const float* weight,
                                       const float* bias, float epsilon, float* y))

}  // namespace fastsql::cpu
