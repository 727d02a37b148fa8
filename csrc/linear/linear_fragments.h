// The operands of linear maps in the order in which the lanes of a warp hold them for mma.m16n8k16 (PTX ISA, "Matrix Fragments for
// mma.m16n8k16"), so that a lane fetches what it needs in pieces of 16 bytes.
//
// Weights are the left operand: int8, in tiles of 16 outputs and 32 inputs, widened to bfloat16 in registers without loss. Rows of x
// are the right operand, eight to a group: each float32 is split into two bfloat16 numbers whose sum is x to 2^-17 of its size, and
// both are multiplied, so that a product is that of float32 up to that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "core/bfloat16.h"
#include "core/host_device.h"

#if defined(__CUDACC__) || defined(FASTSQL_SIMULATED)
#include "core/device_functions.h"
#endif

namespace fastsql::cuda {

constexpr int kTileOutputs = 16, kTileInputs = 32;  // of a tile of weights
constexpr int kTileBytes = kTileOutputs * kTileInputs;
constexpr int kGroupRows = 8;    // rows of x that one instruction multiplies
constexpr int kStepInputs = 16;  // the depth of one instruction
constexpr float kPlaneStep = 254.0f;

// A linear map's parameters in device memory. Outputs are padded to tiles with zeros, inputs, too. int8 weights are one plane. Those
// of float32 are three: what plane p leaves of a weight is plane p + 1, in units 254 times smaller.
struct LinearView {
  const std::int8_t* fragments;  // [planes][ceil(out / 16)][ceil(in / 32)][32 lanes][16 bytes]
  const float* scale;            // [out, padded to 16], of plane 0
  const float* bias;             // [out, padded to 16]
  int in, out, planes;
};

FASTSQL_HOST_DEVICE int tiles_of_inputs(int in) { return (in + kTileInputs - 1) / kTileInputs; }
FASTSQL_HOST_DEVICE int tiles_of_outputs(int out) { return (out + kTileOutputs - 1) / kTileOutputs; }

// Where the weight of an output and an input lies in the bytes of their tile. A lane's four words are 8 inputs each; of a word, bytes
// 0 and 2 are one output's and bytes 1 and 3 those of the output eight further on, which `widen` takes apart without shuffling.
FASTSQL_HOST_DEVICE int weight_index(int output, int input) {
  const int lane = output % 8 * 4 + input % 8 / 2;
  return lane * 16 + input / 8 * 4 + input % 2 * 2 + output / 8;
}

// The bytes 0 and 2 of a word, two int8 numbers, as two bfloat16: 128 + (b & 127), less 128 or, for negative numbers, 256.
FASTSQL_HOST_DEVICE std::uint32_t widen(std::uint32_t word) {
  return add_bfloat16((word & 0x007F007Fu) | 0x43004300u, (word & 0x00800080u) | 0xC300C300u);
}

// Where x[row, input] of a group of rows lies among the group's bfloat16 numbers, its upper part; the lower is kLowerPart further on.
constexpr int kLowerPart = 4;
FASTSQL_HOST_DEVICE int split_index(int row, int input) {
  const int lane = row * 4 + input % 8 / 2;
  return (input / kStepInputs * 32 + lane) * 8 + input % kStepInputs / 8 * 2 + input % 2;
}

// bfloat16 numbers of a group of rows.
FASTSQL_HOST_DEVICE int split_size(int in) { return tiles_of_inputs(in) * kTileInputs * kGroupRows * 2; }

FASTSQL_HOST_DEVICE void split(float x, Bfloat16& upper, Bfloat16& lower) {
  upper = to_bfloat16(x);
  lower = to_bfloat16(x - to_float(upper));
}

// Two neighbouring inputs of a row.
FASTSQL_HOST_DEVICE void split_pair(float first, float second, std::uint32_t& upper, std::uint32_t& lower) {
  float upper_first, upper_second;
  upper = pack_bfloat16(first, second);
  unpack_bfloat16(upper, upper_first, upper_second);
  lower = pack_bfloat16(first - upper_first, second - upper_second);
}

// Up to eight rows of x, split, in shared memory: split_size(in) numbers at a multiple of 16 bytes. Rows that do not exist and inputs
// beyond the last must hold finite numbers, inputs zeros.
struct SplitRows {
  Bfloat16* numbers;

  FASTSQL_HOST_DEVICE void put(int row, int input, float x) const {
    Bfloat16* at = numbers + split_index(row, input);
    split(x, at[0], at[kLowerPart]);
  }
  // At `input`, which is even, and after it.
  FASTSQL_HOST_DEVICE void put_pair(int row, int input, float first, float second) const {
    auto* at = reinterpret_cast<std::uint32_t*>(numbers + split_index(row, input));
    split_pair(first, second, at[0], at[kLowerPart / 2]);
  }
};

#if defined(__CUDACC__) || defined(FASTSQL_SIMULATED)

// The left operands of two steps from a lane's 16 bytes.
__device__ __forceinline__ void widen(const uint4& bytes, std::uint32_t (&left)[2][4]) {
  const std::uint32_t words[4] = {bytes.x, bytes.y, bytes.z, bytes.w};
  FASTSQL_UNROLL
  for (int word = 0; word < 4; ++word) {
    left[word / 2][word % 2 * 2] = widen(words[word]);
    left[word / 2][word % 2 * 2 + 1] = widen(words[word] >> 8);
  }
}

// The lane's bytes of a tile of outputs; those of the next 32 inputs are kLanes further on.
__device__ __forceinline__ const uint4* tile_fragments(const LinearView& weight, int plane, int tile, int lane) {
  const auto tiles = static_cast<std::size_t>(plane) * tiles_of_outputs(weight.out) + tile;
  return reinterpret_cast<const uint4*>(weight.fragments + tiles * tiles_of_inputs(weight.in) * kTileBytes) + lane;
}

// One warp: the products of 16 outputs, those of `tile`, with a group of rows, as multiply_add lays them out: lane 4 g + q gets
// outputs g (sums[0], sums[1]) and g + 8 of rows 2 q and 2 q + 1. Scaled; the bias is not added. Several warps may share a tile, each
// with the tiles of inputs from `first` to, not including, `last`, and add their sums.
__device__ __forceinline__ void multiply_tile(const LinearView& weight, int tile, const SplitRows& x, float (&sums)[4], int first,
                                              int last) {
  constexpr int kAhead = 4;  // fetches that are under way
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
  const auto* rows = reinterpret_cast<const uint4*>(x.numbers) + lane;
  float chains[4][4] = {};  // of either step of a tile, the upper and the lower part: four sums, so that none waits for another
  for (int plane = weight.planes - 1; plane >= 0; --plane) {
    if (plane + 1 < weight.planes) {
      FASTSQL_UNROLL
      for (int i = 0; i < 16; ++i) chains[i / 4][i % 4] *= 1.0f / kPlaneStep;
    }
    const uint4* from = tile_fragments(weight, plane, tile, lane);
    uint4 ahead[kAhead] = {};
    FASTSQL_UNROLL
    for (int i = 0; i < kAhead; ++i) {
      if (first + i < last) ahead[i] = from[(first + i) * kLanes];
    }
    for (int group = first; group < last; group += kAhead) {
      FASTSQL_UNROLL
      for (int i = 0; i < kAhead; ++i) {
        const int input_tile = group + i;
        if (input_tile >= last) break;
        std::uint32_t left[2][4];
        widen(ahead[i], left);
        if (input_tile + kAhead < last) ahead[i] = from[(input_tile + kAhead) * kLanes];
        FASTSQL_UNROLL
        for (int step = 0; step < 2; ++step) {
          const uint4 right = rows[(input_tile * 2 + step) * kLanes];
          multiply_add(chains[step], left[step], right.x, right.y);
          multiply_add(chains[2 + step], left[step], right.z, right.w);
        }
      }
    }
  }
  FASTSQL_UNROLL
  for (int r = 0; r < 4; ++r) {
    const float scale = weight.scale[tile * kTileOutputs + lane / 4 + r / 2 * 8];
    sums[r] = ((chains[0][r] + chains[1][r]) + (chains[2][r] + chains[3][r])) * scale;
  }
}

__device__ __forceinline__ void multiply_tile(const LinearView& weight, int tile, const SplitRows& x, float (&sums)[4]) {
  multiply_tile(weight, tile, x, sums, 0, tiles_of_inputs(weight.in));
}

#endif

}  // namespace fastsql::cuda
