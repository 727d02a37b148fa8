// For the kernels of linear maps only: how a lane brings its part of a row, and what becomes of a finished sum. All of it is internal
// to the file that includes it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "core/bfloat16.h"
#include "core/device_functions.h"
#include "core/layer_norm_cuda.h"
#include "core/warp_sums.h"
#include "linear/linear.h"
#include "linear/linear_fragments.h"

namespace fastsql::cuda {
namespace {

// y [rows, out] from x [rows, in], each of float or Bfloat16.
template <typename X, typename T>
struct Task {
  LinearView weight;
  LayerNormView norm;  // without weights where there is none
  const X* x;
  T* y;
  std::size_t y_stride;
  int rows;
  Then then;
};

// Two neighbouring inputs of a row.
template <typename X>
struct Pair;
template <>
struct Pair<float> {
  typedef float2 type;
  static __device__ __forceinline__ type of(float first, float second) { return {first, second}; }
};
template <>
struct Pair<Bfloat16> {
  typedef std::uint32_t type;
  static __device__ __forceinline__ type of(Bfloat16 first, Bfloat16 second) {
    return first.bits | std::uint32_t{second.bits} << 16;
  }
};

// What a lane needs of a row for one tile of inputs: the pairs at 2 q, 2 q + 8, 2 q + 16 and 2 q + 24 for lane 4 g + q.
template <typename X>
struct RowPart {
  typename Pair<X>::type pairs[4];
};

template <typename X>
__device__ __forceinline__ RowPart<X> fetch(const X* row, int in, int input_tile, int lane) {
  RowPart<X> part;
  const int first = input_tile * kTileInputs + lane % 4 * 2;
  FASTSQL_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int input = first + i * 8;
    if (in % kTileInputs == 0) {
      part.pairs[i] = *reinterpret_cast<const typename Pair<X>::type*>(row + input);
    } else {
      part.pairs[i] = Pair<X>::of(input < in ? row[input] : X{}, input + 1 < in ? row[input + 1] : X{});
    }
  }
  return part;
}

__device__ __forceinline__ void normalise(const LayerNormView& norm, RowPart<float>& part, const RowStatistics& statistics,
                                          int input_tile, int lane) {
  const int first = input_tile * kTileInputs + lane % 4 * 2;
  FASTSQL_UNROLL
  for (int i = 0; i < 4; ++i) {
    const int input = first + i * 8;
    float2& pair = part.pairs[i];
    if (input < norm.width) pair.x = normalised(pair.x, statistics, norm.weight[input], norm.bias[input]);
    if (input + 1 < norm.width) pair.y = normalised(pair.y, statistics, norm.weight[input + 1], norm.bias[input + 1]);
  }
}

// The right operand of one step: both registers of the upper parts, then of the lower ones, which bfloat16 has none of.
__device__ __forceinline__ uint4 operand(const RowPart<float>& part, int step) {
  uint4 right;
  split_pair(part.pairs[2 * step].x, part.pairs[2 * step].y, right.x, right.z);
  split_pair(part.pairs[2 * step + 1].x, part.pairs[2 * step + 1].y, right.y, right.w);
  return right;
}
__device__ __forceinline__ uint4 operand(const RowPart<Bfloat16>& part, int step) {
  return {part.pairs[2 * step], part.pairs[2 * step + 1], 0, 0};
}

template <typename X>
__device__ __forceinline__ void multiply(float (&sums)[4], const std::uint32_t (&left)[4], const uint4& right) {
  multiply_add(sums, left, right.x, right.y);
  if constexpr (sizeof(X) == sizeof(float)) multiply_add(sums, left, right.z, right.w);
}

__device__ __forceinline__ float gelu(float x) {
  // In its tanh form: x times the logistic function of twice the argument of tanh.
  const float twice = 1.5957691216f * fmaf(0.044715f * x * x, x, x);
  return x / (1.0f + expf(-twice));
}

__device__ __forceinline__ void store(float* at, float value) { *at = value; }
__device__ __forceinline__ void store(Bfloat16* at, float value) { *at = to_bfloat16(value); }
__device__ __forceinline__ float load(const float* at) { return *at; }
__device__ __forceinline__ float load(const Bfloat16* at) { return to_float(*at); }

template <typename X, typename T>
__device__ __forceinline__ void finish(const Task<X, T>& task, int output, int row, float sum) {
  if (output >= task.weight.out || row >= task.rows) return;
  T* at = task.y + row * task.y_stride + output;
  float product = fmaf(sum, task.weight.scale[output], task.weight.bias[output]);
  if (task.then == Then::kRelu) product = fmaxf(product, 0.0f);
  if (task.then == Then::kGelu) product = gelu(product);
  if (task.then == Then::kAdd) product += load(at);
  store(at, product);
}

}  // namespace
}  // namespace fastsql::cuda
