// A view of a dense row-major array that somebody else owns: a pointer and a shape.
#pragma once

#include <array>
#include <cstddef>
#include <string>

namespace fastsql {

template <typename T, std::size_t rank>
struct Tensor {
  T* data = nullptr;
  std::array<std::size_t, rank> shape{};

  // The shape as people write it, for messages: "[8, 160, 32]".
  std::string shape_text() const {
    std::string text = "[";
    for (std::size_t axis = 0; axis < rank; ++axis) {
      text += (axis ? ", " : "") + std::to_string(shape[axis]);
    }
    return text + "]";
  }
};

}  // namespace fastsql
