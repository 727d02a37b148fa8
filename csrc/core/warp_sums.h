// For kernels only: what the lanes of a warp make together, and the mean and spread of a row, as layer norm takes them
// (core/layer_norm.h).
#pragma once

#include <cmath>

#include "core/device_functions.h"
#include "core/host_device.h"

namespace fastsql::cuda {

// The sum over a warp, the same in all lanes.
__device__ __forceinline__ float warp_sum(float x) {
  FASTSQL_UNROLL
  for (int distance = kLanes / 2; distance > 0; distance /= 2) x += __shfl_xor_sync(kAllLanes, x, distance);
  return x;
}

// The largest of a warp, the same in all lanes.
__device__ __forceinline__ float warp_largest(float x) {
  FASTSQL_UNROLL
  for (int distance = kLanes / 2; distance > 0; distance /= 2) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, distance));
  return x;
}

struct RowStatistics {
  float mean, factor;  // factor: 1 / sqrt(variance + epsilon)
};

// One warp, of a row of `width` numbers. Always adds in the same order.
__device__ __forceinline__ RowStatistics row_statistics(const float* row, int width, float epsilon, int lane) {
  float sum = 0.0f, squares = 0.0f;
  for (int i = lane; i < width; i += kLanes) sum += row[i];
  const float mean = warp_sum(sum) / static_cast<float>(width);
  for (int i = lane; i < width; i += kLanes) squares = fmaf(row[i] - mean, row[i] - mean, squares);
  return {mean, 1.0f / sqrtf(warp_sum(squares) / static_cast<float>(width) + epsilon)};
}

__device__ __forceinline__ float normalised(float x, const RowStatistics& row, float weight, float bias) {
  return fmaf((x - row.mean) * row.factor, weight, bias);
}

}  // namespace fastsql::cuda
