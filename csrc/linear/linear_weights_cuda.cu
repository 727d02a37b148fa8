// Weights of linear maps as fragments in device memory.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "core/error.h"
#include "linear/linear_cuda.h"

namespace fastsql::cuda {
namespace {

struct Packed {
  std::vector<std::int8_t> fragments;
  std::vector<float> parameters;
};

// Zeros where outputs or inputs run out.
Packed pack(const Matrix& weight, const float* bias, int planes) {
  const auto in_tiles = static_cast<std::size_t>(tiles_of_inputs(static_cast<int>(weight.in)));
  const auto out_tiles = static_cast<std::size_t>(tiles_of_outputs(static_cast<int>(weight.out)));
  const std::size_t padded = out_tiles * kTileOutputs, plane_size = out_tiles * in_tiles * kTileBytes;
  Packed packed{std::vector<std::int8_t>(planes * plane_size, std::int8_t{0}), std::vector<float>(2 * padded, 0.0f)};
  for (std::size_t output = 0; output < weight.out; ++output) {
    const auto place = [&](int plane, std::size_t input) -> std::int8_t& {
      const std::size_t tile = output / kTileOutputs * in_tiles + input / kTileInputs;
      return packed.fragments[plane * plane_size + tile * kTileBytes +
                              weight_index(static_cast<int>(output % kTileOutputs), static_cast<int>(input % kTileInputs))];
    };
    if (bias != nullptr) packed.parameters[padded + output] = bias[output];
    if (weight.quantised != nullptr) {
      packed.parameters[output] = weight.scale[output];
      for (std::size_t input = 0; input < weight.in; ++input) place(0, input) = weight.quantised[output * weight.in + input];
      continue;
    }
    const float* values = weight.values + output * weight.in;
    float largest = 0.0f;
    for (std::size_t input = 0; input < weight.in; ++input) largest = std::max(largest, std::abs(values[input]));
    if (largest == 0.0f) continue;
    const float scale = largest / 127.0f;
    packed.parameters[output] = scale;
    for (std::size_t input = 0; input < weight.in; ++input) {
      double rest = double{values[input]} / scale;
      for (int plane = 0; plane < planes; ++plane, rest *= kPlaneStep) {
        const double rounded = std::clamp(std::nearbyint(rest), -127.0, 127.0);
        place(plane, input) = static_cast<std::int8_t>(rounded);
        rest -= rounded;
      }
    }
  }
  return packed;
}

}  // namespace

Linear::Linear(const Matrix& weight, const float* bias)
    : in_(static_cast<int>(weight.in)), out_(static_cast<int>(weight.out)), planes_(weight.quantised != nullptr ? 1 : 3) {
  if (weight.out == 0 || weight.in == 0) {
    throw ModelError("a linear map has the shape [" + std::to_string(weight.out) + ", " + std::to_string(weight.in) +
                     "]; neither axis may be empty");
  }
  const Packed packed = pack(weight, bias, planes_);
  fragments_ = DeviceArray<std::int8_t>(packed.fragments, "the model");
  parameters_ = DeviceArray<float>(packed.parameters, "the model");
}

LinearView Linear::view() const {
  return {fragments_.data(), parameters_.data(), parameters_.data() + parameters_.size() / 2, in_, out_, planes_};
}

}  // namespace fastsql::cuda
