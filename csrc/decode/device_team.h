// The team of blocks that decodes one question, and linear maps whose outputs are dealt out over it.
//
// Hypotheses are decoded in groups of up to kGroupRows, the columns of one matrix instruction. Every number has one order in which it is
// added up, whoever does it, so that a search finds the same with any number of blocks.
#pragma once

#include <cuda_runtime.h>

#include "core/device_functions.h"
#include "core/layer_norm_cuda.h"
#include "core/linear_fragments.h"

namespace fastsql::cuda {

constexpr int kSearchWarps = 8;
constexpr int kSearchThreads = kSearchWarps * kLanes;
static_assert(kSearchWarps == kGroupRows, "a warp normalises a row");

__device__ __forceinline__ int lane_index() { return static_cast<int>(threadIdx.x) % kLanes; }
__device__ __forceinline__ int warp_index() { return static_cast<int>(threadIdx.x) / kLanes; }

// The blocks that decode one question: a cluster, or one block alone.
struct Team {
  int rank, size;

  __device__ __forceinline__ void barrier() const {
    if (size > 1) {
      cluster_barrier();
    } else {
      __syncthreads();
    }
  }
  // How many of `count` things are this block's, if thing i is block i % size's.
  __device__ __forceinline__ int share(int count) const { return (count - rank + size - 1) / size; }
};

__device__ __forceinline__ float sum_of_warp(float x) {
  for (int bits = kLanes / 2; bits > 0; bits /= 2) x += __shfl_xor_sync(kAllLanes, x, bits);
  return x;
}

__device__ __forceinline__ float largest_of_warp(float x) {
  for (int bits = kLanes / 2; bits > 0; bits /= 2) x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, bits));
  return x;
}

// Room for partial sums in a block's shared memory: of linear maps [kPartialTiles, 16, kGroupRows], or of attention
// [warps, kGroupRows, kMostHead + 2].
constexpr int kPartialTiles = 32, kMostHead = 64;
constexpr int kPartials = kSearchWarps * kGroupRows * (kMostHead + 2);
static_assert(kPartialTiles * kTileOutputs * kGroupRows <= kPartials);

// ---------------------------------------------------------------- rows that are to be multiplied

// Rows [count, width] of a float array, split; missing ones become zeros. All threads of the block call it, and meet afterwards.
__device__ inline void split_rows(const float* from, int count, int width, const SplitRows& rows) {
  const int pairs = tiles_of_inputs(width) * kTileInputs / 2;
  for (int i = static_cast<int>(threadIdx.x); i < kGroupRows * pairs; i += kSearchThreads) {
    const int row = i / pairs, input = i % pairs * 2;
    const auto at = [&](int place) { return row < count && place < width ? from[row * width + place] : 0.0f; };
    rows.put_pair(row, input, at(input), at(input + 1));
  }
  __syncthreads();
}

// x += change [count, d], unless that is null, and its layer norm, split; to `normed` [count, d], too, unless that is null. A warp for
// each row. All threads of the block call it, and meet afterwards.
__device__ inline void normalise(float* x, const float* change, int count, const LayerNormView& norm, const SplitRows& rows,
                                 float* normed) {
  const int row = warp_index(), lane = lane_index(), d = norm.width;
  float* own = x + row * d;
  float sum = 0.0f, squares = 0.0f;
  for (int i = lane; i < d && row < count; i += kLanes) {
    const float value = change == nullptr ? own[i] : own[i] + change[row * d + i];
    own[i] = value;
    sum += value;
  }
  const float mean = sum_of_warp(sum) / static_cast<float>(d);
  for (int i = lane; i < d && row < count; i += kLanes) squares += (own[i] - mean) * (own[i] - mean);
  const float factor = 1.0f / sqrtf(sum_of_warp(squares) / static_cast<float>(d) + norm.epsilon);
  for (int i = lane; i < tiles_of_inputs(d) * kTileInputs; i += kLanes) {
    float value = 0.0f;
    if (row < count && i < d) {
      value = (own[i] - mean) * factor * norm.weight[i] + norm.bias[i];
      if (normed != nullptr) normed[row * d + i] = value;
    }
    rows.put(row, i, value);
  }
  __syncthreads();
}

// ---------------------------------------------------------------- linear maps

// 16 outputs of a map.
struct Tile {
  const LinearView* map;
  int number;
};

// Depth that one warp goes through at a time: sums of such chunks are added in their order. All bytes of a chunk are fetched at once.
constexpr int kChunkTiles = 4;

// Multiplies `count` tiles, all of maps with `in` inputs, with `rows` rows, and calls write(tile, output, row, value) for every result,
// bias added. Few tiles are shared by several warps. All threads of the block call it; it does not wait for the last of them.
template <typename TileOf, typename Write>
__device__ __forceinline__ void multiply(int in, int count, TileOf tile_of, const SplitRows& x, int rows, float* partial, Write write) {
  constexpr int kSums = kTileOutputs * kGroupRows;
  const int lane = lane_index(), input_tiles = tiles_of_inputs(in), chunks = (input_tiles + kChunkTiles - 1) / kChunkTiles;
  const auto multiply_chunk = [&](const Tile& tile, int chunk, float(&sums)[4]) {
    const int first = chunk * kChunkTiles;
    multiply_tile(*tile.map, tile.number, x, sums, first, min(first + kChunkTiles, input_tiles));
  };
  // Result r of a lane, as multiply_add lays them out.
  const auto put = [&](const Tile& tile, int of_lane, int r, float sum) {
    const int output = tile.number * kTileOutputs + of_lane / 4 + r / 2 * 8, row = of_lane % 4 * 2 + r % 2;
    if (row < rows && output < tile.map->out) write(tile, output, row, sum + tile.map->bias[output]);
  };
  if (count >= kSearchWarps || chunks == 1 || count * chunks > kPartialTiles) {
    for (int i = warp_index(); i < count; i += kSearchWarps) {
      const Tile tile = tile_of(i);
      float total[4], sums[4];
      multiply_chunk(tile, 0, total);
      for (int chunk = 1; chunk < chunks; ++chunk) {
        multiply_chunk(tile, chunk, sums);
        FASTSQL_UNROLL
        for (int r = 0; r < 4; ++r) total[r] = add_rounded(total[r], sums[r]);
      }
      FASTSQL_UNROLL
      for (int r = 0; r < 4; ++r) put(tile, lane, r, total[r]);
    }
    return;
  }
  for (int i = warp_index(); i < count * chunks; i += kSearchWarps) {
    float sums[4];
    multiply_chunk(tile_of(i / chunks), i % chunks, sums);
    FASTSQL_UNROLL
    for (int r = 0; r < 4; ++r) partial[i * kSums + r * kLanes + lane] = sums[r];
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count * kSums; i += kSearchThreads) {
    const float* sums = partial + i / kSums * chunks * kSums + i % kSums;
    float total = sums[0];
    for (int chunk = 1; chunk < chunks; ++chunk) total = add_rounded(total, sums[chunk * kSums]);
    put(tile_of(i / kSums), i % kLanes, i % kSums / kLanes, total);
  }
}

// A whole map, its tiles dealt out over the team.
template <typename Write>
__device__ __forceinline__ void multiply_shared(const Team& team, const LinearView& map, const SplitRows& x, int rows, float* partial,
                                                Write write) {
  multiply(
      map.in, team.share(tiles_of_outputs(map.out)), [&](int i) { return Tile{&map, team.rank + i * team.size}; }, x, rows, partial,
      [&](const Tile&, int output, int row, float value) { write(output, row, value); });
}

}  // namespace fastsql::cuda
