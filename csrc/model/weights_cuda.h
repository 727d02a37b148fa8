// Parts of a model in device memory, from a bundle's weights. Each throws ModelError as model::Weights does.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "core/bfloat16.h"
#include "core/device.h"
#include "core/layer_norm_cuda.h"
#include "linear/linear_cuda.h"
#include "model/weights.h"

namespace fastsql::cuda {

// "<name>.weight" [out, in] with "<name>.bias" [out], if there is one.
inline Linear linear_at(const model::Weights& weights, const std::string& name, std::size_t out, std::size_t in) {
  const std::string bias_name = name + ".bias";
  std::vector<float> bias;
  if (weights.has(bias_name)) bias = weights.floats(bias_name, {out});
  return Linear(weights.matrix(name + ".weight", out, in), bias.empty() ? nullptr : bias.data());
}

// "<name>.weight" and "<name>.bias", [width] each.
inline LayerNorm norm_at(const model::Weights& weights, const std::string& name, std::size_t width, float epsilon = 1e-5f) {
  return LayerNorm(weights.floats(name + ".weight", {width}), weights.floats(name + ".bias", {width}), epsilon);
}

// A copy of host memory, rounded to bfloat16.
inline DeviceArray<Bfloat16> rounded(const std::vector<float>& values, const char* what) {
  std::vector<Bfloat16> result;
  result.reserve(values.size());
  for (const float x : values) result.push_back(to_bfloat16(x));
  return DeviceArray<Bfloat16>(result, what);
}

// A tensor rounded to bfloat16.
inline DeviceArray<Bfloat16> bfloat16_at(const model::Weights& weights, const std::string& name,
                                         const std::vector<std::size_t>& shape) {
  return rounded(weights.floats(name, shape), "the model");
}

}  // namespace fastsql::cuda
