// bfloat16: the upper half of a float32. Written once for the processor and the GPU.
#pragma once

#include <cstdint>
#include <cstring>

#include "core/host_device.h"

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
  std::uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  if ((bits & 0x7FFFFFFFu) > 0x7F800000u) return {static_cast<std::uint16_t>(bits >> 16 | 0x40u)};
  return {static_cast<std::uint16_t>((bits + 0x7FFFu + (bits >> 16 & 1u)) >> 16)};
}

// Two of them in a register, the first in the lower half, as matrix instructions take them.
FASTSQL_HOST_DEVICE std::uint32_t pack_bfloat16(float first, float second) {
  return std::uint32_t{to_bfloat16(first).bits} | std::uint32_t{to_bfloat16(second).bits} << 16;
}

}  // namespace fastsql
