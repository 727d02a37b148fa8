// Layer norms and linear maps of the search kernel. A map's tiles are dealt out over the team.
//
// What many places call is not inlined: a step goes through the same few instructions again and again, and they are to stay in the
// instruction cache.
#pragma once

#include "core/layer_norm_cuda.h"
#include "decode/cuda/question.h"

namespace fastsql::cuda {

// ---------------------------------------------------------------- rows that are to be multiplied

// Elements of a row that a lane fetches at once, before it uses the first: after a barrier of a team of several blocks everything
// comes from the L2 cache, where waiting once costs as much as a hundred additions.
constexpr int kElementsAhead = 8;

// Calls use(i, k, from[i]) for the lane's elements i = first + lane + k * kLanes < width of a row.
template <typename Use>
__device__ __forceinline__ void for_elements(const float* from, int first, int width, Use use) {
  float fetched[kElementsAhead];
  FASTSQL_UNROLL
  for (int k = 0; k < kElementsAhead; ++k) {
    const int i = first + lane_index() + k * kLanes;
    fetched[k] = i < width ? from[i] : 0.0f;
  }
  FASTSQL_UNROLL
  for (int k = 0; k < kElementsAhead; ++k) {
    const int i = first + lane_index() + k * kLanes;
    if (i < width) use(i, k, fetched[k]);
  }
}
constexpr int kElementsOfWarp = kElementsAhead * kLanes;

// Rows [count, width] of a float array, split; missing ones, and elements beyond the width, become zeros. A warp for each row. All
// threads of the block call it, and meet afterwards.
__device__ __noinline__ inline void split_rows(const float* from, int count, int width) {
  const SplitRows rows = Question::own().rows();
  const int row = warp_index(), padded = tiles_of_inputs(width) * kTileInputs;
  for (int first = 0; first < width && row < count; first += kElementsOfWarp) {
    for_elements(from + row * width, first, width, [&](int i, int, float value) { rows.put(row, i, value); });
  }
  for (int i = (row < count ? width : 0) + lane_index(); i < padded; i += kLanes) rows.put(row, i, 0.0f);
  __syncthreads();
}

// question.x() += change [count, d], unless that is null, and its layer norm, split; to `normed` [count, d], too, unless that is null.
// A warp for each row. All threads of the block call it, and meet afterwards.
__device__ __noinline__ inline void normalise(const LayerNormView& norm, const float* change, int count, float* normed) {
  const int row = warp_index(), lane = lane_index(), d = row < count ? norm.width : 0;
  const SplitRows rows = Question::own().rows();
  const float width = static_cast<float>(norm.width);
  float* own = Question::x() + row * norm.width;
  // The first elements' parameters are fetched beside the change.
  float weight[kElementsAhead], bias[kElementsAhead];
  const auto fetch_parameters = [&](int first) {
    FASTSQL_UNROLL
    for (int k = 0; k < kElementsAhead; ++k) {
      const int i = first + lane + k * kLanes;
      weight[k] = i < d ? norm.weight[i] : 0.0f;
      bias[k] = i < d ? norm.bias[i] : 0.0f;
    }
  };
  fetch_parameters(0);
  for (int first = 0; first < d && change != nullptr; first += kElementsOfWarp) {
    for_elements(change + row * d, first, d, [&](int i, int, float value) { own[i] += value; });
  }
  float sum = 0.0f, squares = 0.0f;
  for (int i = lane; i < d; i += kLanes) sum += own[i];
  const float mean = warp_sum(sum) / width;
  for (int i = lane; i < d; i += kLanes) squares += (own[i] - mean) * (own[i] - mean);
  const float factor = 1.0f / sqrtf(warp_sum(squares) / width + norm.epsilon);
  for (int first = 0; first < d; first += kElementsOfWarp) {
    if (first > 0) fetch_parameters(first);
    for_elements(own, first, d, [&](int i, int k, float value) {
      const float result = (value - mean) * factor * weight[k] + bias[k];
      if (normed != nullptr) normed[row * d + i] = result;
      rows.put(row, i, result);
    });
  }
  for (int i = d + lane; i < tiles_of_inputs(norm.width) * kTileInputs; i += kLanes) rows.put(row, i, 0.0f);
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
__device__ __forceinline__ int chunks_of(int in) { return (tiles_of_inputs(in) + kChunkTiles - 1) / kChunkTiles; }

// A lane's bytes of a chunk of int8 weights, of which there are `tiles`.
struct Chunk {
  uint4 bytes[kChunkTiles];
  int tiles;
};

__device__ __forceinline__ Chunk fetch_chunk(const uint4* fragments, int chunk, int input_tiles) {
  Chunk fetched;
  fetched.tiles = min(kChunkTiles, input_tiles - chunk * kChunkTiles);
  FASTSQL_UNROLL
  for (int i = 0; i < kChunkTiles; ++i) {
    if (i < fetched.tiles) fetched.bytes[i] = fragments[(chunk * kChunkTiles + i) * kLanes];
  }
  return fetched;
}

// As multiply_tile of linear/linear_fragments.h adds up, not scaled. `rows`: the lane's part of the rows, from this chunk on.
__device__ __forceinline__ void multiply_chunk(const Chunk& fetched, const uint4* rows, float (&sums)[4]) {
  float chains[4][4] = {};
  FASTSQL_UNROLL
  for (int i = 0; i < kChunkTiles; ++i) {
    if (i >= fetched.tiles) break;
    std::uint32_t left[2][4];
    widen(fetched.bytes[i], left);
    FASTSQL_UNROLL
    for (int step = 0; step < 2; ++step) {
      const uint4 right = rows[(i * 2 + step) * kLanes];
      multiply_add(chains[step], left[step], right.x, right.y);
      multiply_add(chains[2 + step], left[step], right.z, right.w);
    }
  }
  FASTSQL_UNROLL
  for (int r = 0; r < 4; ++r) sums[r] = (chains[0][r] + chains[1][r]) + (chains[2][r] + chains[3][r]);
}

// The products of a tile with question.rows() over chunks `first` to, not including, `last`, as multiply_add lays them out. The bias
// comes with the first chunk. All that is needed is asked for at once, and each chunk while the one before is being multiplied: in a
// small team there is little else to do while one waits.
__device__ __noinline__ inline float4 multiply_chunks(const LinearView* map, int tile, int first, int last) {
  const LinearView weight = *map;
  const SplitRows rows = Question::own().rows();
  const int lane = lane_index(), output = tile * kTileOutputs + lane / 4, input_tiles = tiles_of_inputs(weight.in);
  float total[4] = {}, sums[4];
  if (first == 0) {
    total[0] = total[1] = weight.bias[output];
    total[2] = total[3] = weight.bias[output + 8];
  }
  if (weight.planes == 1) {
    const float scale[2] = {weight.scale[output], weight.scale[output + 8]};
    const uint4* fragments = tile_fragments(weight, 0, tile, lane);
    const auto* own = reinterpret_cast<const uint4*>(rows.numbers) + lane;
    Chunk next = fetch_chunk(fragments, first, input_tiles);
    for (int chunk = first; chunk < last; ++chunk) {
      const Chunk present = next;
      if (chunk + 1 < last) next = fetch_chunk(fragments, chunk + 1, input_tiles);
      multiply_chunk(present, own + chunk * kChunkTiles * 2 * kLanes, sums);
      FASTSQL_UNROLL
      for (int r = 0; r < 4; ++r) total[r] = add_rounded(total[r], sums[r] * scale[r / 2]);
    }
  } else {
    for (int chunk = first; chunk < last; ++chunk) {
      multiply_tile(weight, tile, rows, sums, chunk * kChunkTiles, min((chunk + 1) * kChunkTiles, input_tiles));
      FASTSQL_UNROLL
      for (int r = 0; r < 4; ++r) total[r] = add_rounded(total[r], sums[r]);
    }
  }
  return {total[0], total[1], total[2], total[3]};
}

// Multiplies `count` tiles, all of maps with `in` inputs, with the first `rows` of question.rows(), and calls
// write(tile, output, row, value) for every result, bias added. Few tiles are shared by several warps. All threads of the block call
// it; it does not wait for the last of them.
template <typename TileOf, typename Write>
__device__ __forceinline__ void multiply(int in, int count, int rows, TileOf tile_of, Write write) {
  constexpr int kSums = kTileOutputs * kGroupRows;
  const int lane = lane_index(), chunks = chunks_of(in);
  // Result r of a lane, as multiply_add lays them out.
  const auto put = [&](const Tile& tile, int of_lane, int r, float sum) {
    const int output = tile.number * kTileOutputs + of_lane / 4 + r / 2 * 8, row = of_lane % 4 * 2 + r % 2;
    if (row < rows && output < tile.map->out) write(tile, output, row, sum);
  };
  if (count >= kSearchWarps || chunks == 1 || count * chunks > kPartialTiles) {
    for (int i = warp_index(); i < count; i += kSearchWarps) {
      const Tile tile = tile_of(i);
      const float4 sums = multiply_chunks(tile.map, tile.number, 0, chunks);
      put(tile, lane, 0, sums.x);
      put(tile, lane, 1, sums.y);
      put(tile, lane, 2, sums.z);
      put(tile, lane, 3, sums.w);
    }
    return;
  }
  float* partial = Question::partial();
  for (int i = warp_index(); i < count * chunks; i += kSearchWarps) {
    const Tile tile = tile_of(i / chunks);
    reinterpret_cast<float4*>(partial)[i * kLanes + lane] = multiply_chunks(tile.map, tile.number, i % chunks, i % chunks + 1);
  }
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count * kSums; i += kSearchThreads) {
    const float* sums = partial + i / kSums * chunks * kSums + i % kSums;
    float total = sums[0];
    for (int chunk = 1; chunk < chunks; ++chunk) total = add_rounded(total, sums[chunk * kSums]);
    put(tile_of(i / kSums), i % kSums / 4, i % 4, total);
  }
}

// A whole map, its tiles dealt out over the team; write(output, row, value).
template <typename Write>
__device__ __forceinline__ void multiply_shared(const Team& team, const LinearView& map, int rows, Write write) {
  multiply(
      map.in, team.share(tiles_of_outputs(map.out)), rows, [&](int i) { return Tile{&map, team.rank + i * team.size}; },
      [&](const Tile&, int output, int row, float value) { write(output, row, value); });
}

}  // namespace fastsql::cuda
