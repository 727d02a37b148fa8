// How the decoder lays out queries, keys and values of attention: the same element of all heads lies together, so that the heads
// are the lanes of a vector register and a sum over a head's elements needs no addition across lanes. Element e of head h is
// float e * padded_heads + h of `width`. Heads are padded to a power of two, and the width to the widest register; what pads
// is zero, because the weights that would produce it are.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "linear/linear.h"

namespace fastsql::decode {

struct HeadLayout {
  std::size_t heads, head_size, padded_heads, width;

  HeadLayout(std::size_t count, std::size_t size);

  // Place of an element of the usual layout, h * head_size + e.
  std::size_t place(std::size_t element) const { return element % head_size * padded_heads + element / head_size; }
};

// A linear map that writes `count` vectors of this layout, from a weight [parts * heads * head_size, in] and its bias that write
// them in the usual one: the parts from `first` on.
Linear linear_to_heads(const Matrix& weight, const std::vector<float>& bias, const HeadLayout& layout, std::size_t first,
                       std::size_t count, InstructionSet set);

// A linear map that reads a vector of this layout, from a weight [out, heads * head_size] that reads the usual one.
Linear linear_from_heads(const Matrix& weight, const std::vector<float>& bias, const HeadLayout& layout, InstructionSet set);

}  // namespace fastsql::decode
