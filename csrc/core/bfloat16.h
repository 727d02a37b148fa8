// bfloat16: the upper half of a float32. Written once for the processor and the GPU, which has instructions for it.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/host_device.h"

#ifdef __CUDACC__
#include <cuda_bf16.h>
#endif

namespace fastsql {

struct Bfloat16 {
  std::uint16_t bits;
};

FASTSQL_HOST_DEVICE float to_float(Bfloat16 x) {
  const std::uint32_t bits = std::uint32_t{x.bits} << 16;
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

// The nearest bfloat16, ties to even; NaN stays NaN.
FASTSQL_HOST_DEVICE Bfloat16 to_bfloat16(float x) {
#ifdef __CUDA_ARCH__
  return {__bfloat16_as_ushort(__float2bfloat16_rn(x))};
#else
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16)};
#endif
}

// Two of them in a register, the first in the lower half, as matrix instructions take them.
FASTSQL_HOST_DEVICE std::uint32_t pack_bfloat16(float first, float second) {
#ifdef __CUDA_ARCH__
  const __nv_bfloat162 pair = __floats2bfloat162_rn(first, second);
  std::uint32_t bits;
  memcpy(&bits, &pair, sizeof bits);
  return bits;
#else
  return std::uint32_t{to_bfloat16(first).bits} | std::uint32_t{to_bfloat16(second).bits} << 16;
#endif
}

// Both of a pair as float32, the one in the lower half first.
FASTSQL_HOST_DEVICE void unpack_bfloat16(std::uint32_t pair, float& first, float& second) {
  first = to_float({static_cast<std::uint16_t>(pair)});
  second = to_float({static_cast<std::uint16_t>(pair >> 16)});
}

// The sums of two pairs.
FASTSQL_HOST_DEVICE std::uint32_t add_bfloat16(std::uint32_t left, std::uint32_t right) {
#ifdef __CUDA_ARCH__
  __nv_bfloat162 pairs[2];
  memcpy(&pairs[0], &left, sizeof left);
  memcpy(&pairs[1], &right, sizeof right);
  const __nv_bfloat162 sums = __hadd2(pairs[0], pairs[1]);
  std::uint32_t bits;
  memcpy(&bits, &sums, sizeof bits);
  return bits;
#else
  float left_first, left_second, right_first, right_second;
  unpack_bfloat16(left, left_first, left_second);
  unpack_bfloat16(right, right_first, right_second);
  return pack_bfloat16(left_first + right_first, left_second + right_second);
#endif
}

}  // namespace fastsql
