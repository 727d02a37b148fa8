#include "decode/head_layout.h"

#include <algorithm>

namespace fastsql::decode {
namespace {

constexpr std::size_t kWidestRegister = 16;  // floats

// A weight of another shape, of the same element type as the one that it is made from; zero where nothing is copied to.
struct Rearranged {
  std::size_t out, in;
  const Matrix& from;
  std::vector<float> values, scale;
  std::vector<std::int8_t> quantised;

  Rearranged(std::size_t new_out, std::size_t new_in, const Matrix& weight) : out(new_out), in(new_in), from(weight) {
    if (weight.quantised == nullptr) {
      values.assign(out * in, 0.0f);
    } else {
      quantised.assign(out * in, 0);
      scale.assign(out, 1.0f);
    }
  }

  void copy(std::size_t to_row, std::size_t to_column, std::size_t row, std::size_t column) {
    const std::size_t place = to_row * in + to_column, source = row * from.in + column;
    if (from.quantised == nullptr) {
      values[place] = from.values[source];
    } else {
      quantised[place] = from.quantised[source];
      scale[to_row] = from.scale[row];
    }
  }

  Matrix view() const {
    if (from.quantised == nullptr) return {out, in, values.data(), nullptr, nullptr};
    return {out, in, nullptr, quantised.data(), scale.data()};
  }
};

}  // namespace

HeadLayout::HeadLayout(std::size_t count, std::size_t size) : heads(count), head_size(size), padded_heads(1) {
  while (padded_heads < heads) padded_heads *= 2;
  width = (head_size * padded_heads + kWidestRegister - 1) / kWidestRegister * kWidestRegister;
}

Linear linear_to_heads(const Matrix& weight, const std::vector<float>& bias, const HeadLayout& layout, std::size_t first,
                       std::size_t count, InstructionSet set) {
  const std::size_t d = layout.heads * layout.head_size;
  Rearranged rearranged(count * layout.width, weight.in, weight);
  std::vector<float> shifts(count * layout.width, 0.0f);
  for (std::size_t part = 0; part < count; ++part) {
    for (std::size_t element = 0; element < d; ++element) {
      const std::size_t to = part * layout.width + layout.place(element), from = (first + part) * d + element;
      for (std::size_t column = 0; column < weight.in; ++column) rearranged.copy(to, column, from, column);
      shifts[to] = bias[from];
    }
  }
  return Linear(rearranged.view(), shifts.data(), set);
}

Linear linear_from_heads(const Matrix& weight, const std::vector<float>& bias, const HeadLayout& layout, InstructionSet set) {
  Rearranged rearranged(weight.out, layout.width, weight);
  for (std::size_t row = 0; row < weight.out; ++row) {
    for (std::size_t element = 0; element < weight.in; ++element) {
      rearranged.copy(row, layout.place(element), row, element);
    }
  }
  return Linear(rearranged.view(), bias.data(), set);
}

}  // namespace fastsql::decode
