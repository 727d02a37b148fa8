// The CPU kernel of a normaliser. Sizes and pointers are trusted here.
#pragma once

#include <cstddef>

#include "core/kernels.h"

namespace fastsql::cpu {

// sum(exp(scores)) is exp(largest) * sum.
struct Exponentials {
  float largest, sum;
};

// Of n >= 1 scores.
FASTSQL_DECLARE_KERNEL(Exponentials sum_exponentials(const float* scores, std::size_t n))

}  // namespace fastsql::cpu
