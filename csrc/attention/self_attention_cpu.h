// The CPU kernel behind self_attention. Sizes and pointers are trusted here.
#pragma once

#include <cstddef>

#include "attention/self_attention.h"
#include "core/kernels.h"

namespace fastsql::cpu {

constexpr std::size_t kWidestPanelOfAny = 32;

constexpr std::size_t padded_to_panel(std::size_t size) {
  return (size + kWidestPanelOfAny - 1) / kWidestPanelOfAny * kWidestPanelOfAny;
}

// In floats, for one text and head: packed keys and values, scores, and the scales and biases of two products.
constexpr std::size_t self_attention_workspace(std::size_t tokens, std::size_t head_size) {
  const std::size_t columns = padded_to_panel(tokens), head = padded_to_panel(head_size);
  return columns * head_size + tokens * head + tokens * columns + 2 * (columns > head ? columns : head);
}

// Of the pairs [text][head], those from `first` to, not including, `last`.
FASTSQL_DECLARE_KERNEL(void self_attention(const SelfAttention& input, std::size_t first, std::size_t last, float* mixed,
                                           float* workspace))

}  // namespace fastsql::cpu
