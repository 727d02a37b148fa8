// Two kernels for the same sums. The depth is cut into kParts parts; each is summed by itself, in the order of its inputs, and the
// parts are added one after the other, whichever kernel runs and however many rows there are.
//
// For few rows, a block is one tile of outputs and up to 32 rows, and each of its warps is a part: as many fetches as possible are
// under way at once. For many, a block is 128 outputs, 16 a warp, and 64 rows, which pass through shared memory.
#include <string>

#include "core/error.h"
#include "linear/linear_cuda.h"
#include "linear/linear_task.h"

namespace fastsql::cuda {
namespace {

constexpr int kParts = 8;
constexpr int kThreads = kParts * kLanes;  // of a block of either kernel
constexpr int kManyOutputs = kThreads / kLanes * kTileOutputs, kManyGroups = 8, kManyRows = kManyGroups * kGroupRows;
constexpr std::size_t kLargestGrid = 65535;  // along y
// Blocks of the kernel for many rows from which on it is the faster one, and blocks that keep a GPU busy.
constexpr std::size_t kEnoughForMany = 32, kBusy = 256;

__device__ __forceinline__ int part_begin(int tiles, int part) { return tiles * part / kParts; }

__device__ __forceinline__ int at_most(int x, int most) { return x < most ? x : most; }

// ---- few rows -----------------------------------------------------------------------------------------------

template <int kGroups>
struct FewShared {
  RowStatistics statistics[kGroups * kGroupRows];
  float sums[kParts][kGroups][kLanes][4];
};

template <typename X, typename T, int kGroups>
__global__ void __launch_bounds__(kThreads) multiply_few(const Task<X, T> task) {
  auto& shared = *reinterpret_cast<FewShared<kGroups>*>(shared_memory());
  const int lane = static_cast<int>(threadIdx.x) % kLanes, warp = static_cast<int>(threadIdx.x) / kLanes;
  const int tile = static_cast<int>(blockIdx.x), first_row = static_cast<int>(blockIdx.y) * kGroups * kGroupRows;
  // The last row stands in for those that are missing.
  const auto row_at = [&](int row) {
    return task.x + static_cast<std::size_t>(at_most(first_row + row, task.rows - 1)) * task.weight.in;
  };

  constexpr bool kMayNorm = sizeof(X) == sizeof(float);
  const bool normed = task.norm.weight != nullptr;
  if constexpr (kMayNorm) {
    if (normed) {
      for (int row = warp; row < kGroups * kGroupRows; row += kParts) {
        const RowStatistics statistics = row_statistics(row_at(row), task.norm.width, task.norm.epsilon, lane);
        if (lane == 0) shared.statistics[row] = statistics;
      }
      __syncthreads();
    }
  }

  const int tiles = tiles_of_inputs(task.weight.in), begin = part_begin(tiles, warp), end = part_begin(tiles, warp + 1);
  float sums[kGroups][4] = {};
  for (int plane = task.weight.planes - 1; plane >= 0; --plane) {
    if (plane + 1 < task.weight.planes) {
      FASTSQL_UNROLL
      for (int i = 0; i < 4 * kGroups; ++i) sums[i / 4][i % 4] *= 1.0f / kPlaneStep;
    }
    const uint4* fragments = tile_fragments(task.weight, plane, tile, lane);
    uint4 next_bytes = {};
    RowPart<X> next[kGroups] = {};
    const auto fetch_all = [&](int input_tile) {
      next_bytes = fragments[input_tile * kLanes];
      FASTSQL_UNROLL
      for (int group = 0; group < kGroups; ++group) {
        next[group] = fetch(row_at(group * kGroupRows + lane / 4), task.weight.in, input_tile, lane);
      }
    };
    if (begin < end) fetch_all(begin);
    for (int input_tile = begin; input_tile < end; ++input_tile) {
      std::uint32_t left[2][4];
      widen(next_bytes, left);
      RowPart<X> now[kGroups];
      FASTSQL_UNROLL
      for (int group = 0; group < kGroups; ++group) now[group] = next[group];
      if (input_tile + 1 < end) fetch_all(input_tile + 1);
      FASTSQL_UNROLL
      for (int group = 0; group < kGroups; ++group) {
        if constexpr (kMayNorm) {
          if (normed) normalise(task.norm, now[group], shared.statistics[group * kGroupRows + lane / 4], input_tile, lane);
        }
        multiply<X>(sums[group], left[0], operand(now[group], 0));
        multiply<X>(sums[group], left[1], operand(now[group], 1));
      }
    }
  }

  FASTSQL_UNROLL
  for (int i = 0; i < 4 * kGroups; ++i) shared.sums[warp][i / 4][lane][i % 4] = sums[i / 4][i % 4];
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < kGroups * kGroupRows * kTileOutputs; i += kThreads) {
    const int output = i % kTileOutputs, row = i / kTileOutputs;
    const int holder = output % 8 * 4 + row % kGroupRows / 2, number = output / 8 * 2 + row % 2;
    float sum = 0.0f;
    for (int part = 0; part < kParts; ++part) sum += shared.sums[part][row / kGroupRows][holder][number];
    finish(task, tile * kTileOutputs + output, first_row + row, sum);
  }
}

// ---- many rows ----------------------------------------------------------------------------------------------

// A tile of inputs of one plane of weights, in the order in which they are multiplied.
struct Place {
  int part, plane, tile;
};

__device__ __forceinline__ Place first_of_part(int part, int tiles, int planes) {
  while (part < kParts && part_begin(tiles, part) == part_begin(tiles, part + 1)) ++part;
  return {part, planes - 1, part < kParts ? part_begin(tiles, part) : tiles};
}

__device__ __forceinline__ Place after(const Place& place, int tiles, int planes) {
  if (place.tile + 1 < part_begin(tiles, place.part + 1)) return {place.part, place.plane, place.tile + 1};
  if (place.plane > 0) return {place.part, place.plane - 1, part_begin(tiles, place.part)};
  return first_of_part(place.part + 1, tiles, planes);
}

// Rows of a tile of inputs as right operands: [group][step][lane].
typedef uint4 Staged[kManyGroups][2][kLanes];

template <typename X, typename T>
__global__ void __launch_bounds__(kThreads, 2) multiply_many(const Task<X, T> task) {
  auto* buffers = reinterpret_cast<Staged*>(shared_memory());
  const int lane = static_cast<int>(threadIdx.x) % kLanes, warp = static_cast<int>(threadIdx.x) / kLanes;
  const int first_row = static_cast<int>(blockIdx.y) * kManyRows;
  // Warps whose outputs do not exist multiply the last tile, and store nothing.
  const int tile = static_cast<int>(blockIdx.x) * (kManyOutputs / kTileOutputs) + warp;
  const int source = at_most(tile, tiles_of_outputs(task.weight.out) - 1);
  const int tiles = tiles_of_inputs(task.weight.in), planes = task.weight.planes;

  // Each warp brings a group of rows, each lane a part of one row.
  const auto row_at = [&](int row) {
    return task.x + static_cast<std::size_t>(at_most(first_row + row, task.rows - 1)) * task.weight.in;
  };
  const X* own = row_at(warp * kGroupRows + lane / 4);
  constexpr bool kMayNorm = sizeof(X) == sizeof(float);
  const bool normed = task.norm.weight != nullptr;
  RowStatistics statistics = {};
  if constexpr (kMayNorm) {
    for (int row = 0; normed && row < kGroupRows; ++row) {
      const RowStatistics of_row = row_statistics(row_at(warp * kGroupRows + row), task.norm.width, task.norm.epsilon, lane);
      if (row == lane / 4) statistics = of_row;
    }
  }
  const auto stage = [&](Staged& buffer, RowPart<X>& part, int input_tile) {
    if constexpr (kMayNorm) {
      if (normed) normalise(task.norm, part, statistics, input_tile, lane);
    }
    buffer[warp][0][lane] = operand(part, 0);
    buffer[warp][1][lane] = operand(part, 1);
  };

  Place place = first_of_part(0, tiles, planes);
  RowPart<X> part = fetch(own, task.weight.in, place.tile, lane);
  uint4 bytes = tile_fragments(task.weight, place.plane, source, lane)[place.tile * kLanes];
  stage(buffers[0], part, place.tile);
  __syncthreads();

  float totals[kManyGroups][4] = {}, sums[kManyGroups][4] = {};
  for (int current = 0;; current ^= 1) {
    const Place next = after(place, tiles, planes);
    std::uint32_t left[2][4];
    widen(bytes, left);
    if (next.part < kParts) {
      part = fetch(own, task.weight.in, next.tile, lane);
      bytes = tile_fragments(task.weight, next.plane, source, lane)[next.tile * kLanes];
    }
    FASTSQL_UNROLL
    for (int step = 0; step < 2; ++step) {
      FASTSQL_UNROLL
      for (int group = 0; group < kManyGroups; ++group) multiply<X>(sums[group], left[step], buffers[current][group][step][lane]);
    }
    if (next.part != place.part) {
      FASTSQL_UNROLL
      for (int i = 0; i < 4 * kManyGroups; ++i) {
        totals[i / 4][i % 4] += sums[i / 4][i % 4];
        sums[i / 4][i % 4] = 0.0f;
      }
      if (next.part == kParts) break;
    } else if (next.plane != place.plane) {
      FASTSQL_UNROLL
      for (int i = 0; i < 4 * kManyGroups; ++i) sums[i / 4][i % 4] *= 1.0f / kPlaneStep;
    }
    stage(buffers[current ^ 1], part, next.tile);
    place = next;
    __syncthreads();
  }

  FASTSQL_UNROLL
  for (int i = 0; i < 4 * kManyGroups; ++i) {
    const int group = i / 4, r = i % 4;
    finish(task, tile * kTileOutputs + lane / 4 + r / 2 * 8, first_row + group * kGroupRows + lane % 4 * 2 + r % 2,
           totals[group][r]);
  }
}

// ---- launches -----------------------------------------------------------------------------------------------

template <typename X, typename T, int kGroups>
void launch_few(const Task<X, T>& task, std::size_t tiles, std::size_t groups, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(tiles), static_cast<unsigned>((groups + kGroups - 1) / kGroups));
  launch("a linear map", multiply_few<X, T, kGroups>, {blocks, kThreads, sizeof(FewShared<kGroups>)}, stream, task);
}

template <typename X, typename T>
void apply_to(const LinearView& weight, const LayerNormView* norm, const X* x, std::size_t rows, T* y, std::size_t y_stride,
              Then then, cudaStream_t stream) {
  if (rows == 0) return;
  if (norm != nullptr && norm->width != weight.in) {
    throw ModelError("a linear map of " + std::to_string(weight.in) + " inputs follows a layer norm of " +
                     std::to_string(norm->width));
  }
  if (rows > kLargestGrid * kManyRows) {
    throw LimitError("a linear map was given " + std::to_string(rows) + " rows at once; the GPU takes " +
                     std::to_string(kLargestGrid * kManyRows));
  }
  const auto out = static_cast<std::size_t>(weight.out);
  const Task<X, T> task{
      weight, norm == nullptr ? LayerNormView{} : *norm, x, y, y_stride == 0 ? out : y_stride, static_cast<int>(rows), then};
  const std::size_t wide = (out + kManyOutputs - 1) / kManyOutputs, high = (rows + kManyRows - 1) / kManyRows;
  if (wide * high >= kEnoughForMany) {
    const dim3 blocks(static_cast<unsigned>(wide), static_cast<unsigned>(high));
    return launch("a linear map", multiply_many<X, T>, {blocks, kThreads, 2 * sizeof(Staged)}, stream, task);
  }
  const auto tiles = static_cast<std::size_t>(tiles_of_outputs(weight.out));
  const std::size_t groups = (rows + kGroupRows - 1) / kGroupRows;
  if (tiles * groups <= kBusy) return launch_few<X, T, 1>(task, tiles, groups, stream);
  if (tiles * ((groups + 1) / 2) <= kBusy) return launch_few<X, T, 2>(task, tiles, groups, stream);
  launch_few<X, T, 4>(task, tiles, groups, stream);
}

}  // namespace

void Linear::apply(const float* x, std::size_t rows, float* y, Then then, cudaStream_t stream, const LayerNormView* norm,
                   std::size_t y_stride) const {
  apply_to(view(), norm, x, rows, y, y_stride, then, stream);
}

void Linear::apply(const float* x, std::size_t rows, Bfloat16* y, cudaStream_t stream, const LayerNormView* norm,
                   std::size_t y_stride) const {
  apply_to(view(), norm, x, rows, y, y_stride, Then::kStore, stream);
}

void Linear::apply(const Bfloat16* x, std::size_t rows, float* y, Then then, cudaStream_t stream) const {
  apply_to(view(), nullptr, x, rows, y, 0, then, stream);
}

}  // namespace fastsql::cuda
