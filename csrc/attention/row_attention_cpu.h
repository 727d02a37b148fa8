// The CPU kernel behind row_attention. Sizes and pointers are trusted here.
#pragma once

#include <cstddef>

#include "attention/row_attention.h"
#include "core/kernels.h"

namespace fastsql::cpu {

constexpr std::size_t kWidestPanelOfAny = 32;

constexpr std::size_t padded_to_panel(std::size_t size) {
  return (size + kWidestPanelOfAny - 1) / kWidestPanelOfAny * kWidestPanelOfAny;
}

// In floats, for one head: packed keys and values, scores, and the scales and biases of two products.
constexpr std::size_t row_attention_workspace(std::size_t rows, std::size_t columns, std::size_t head_size) {
  const std::size_t padded = padded_to_panel(columns), head = padded_to_panel(head_size);
  return padded * head_size + columns * head + rows * padded + 2 * (padded > head ? padded : head);
}

// One head.
FASTSQL_DECLARE_KERNEL(void row_attention(const RowAttention& input, std::size_t head, float* workspace))

}  // namespace fastsql::cpu
