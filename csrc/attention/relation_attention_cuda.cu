// A block holds kWarps x 16 rows of one head of one question, and passes over the columns once, in tiles of keys and values in
// shared memory; relation keys and values stay there throughout. Products are mma.m16n8k16; what lies between them is in
// attention/warp_attention.h.
#include <cstdint>
#include <string>

#include "attention/relation_attention_cuda.h"
#include "attention/warp_attention.h"
#include "core/device.h"
#include "core/device_functions.h"

namespace fastsql::cuda {
namespace {

using warp::kRelations;
using warp::kTileColumns;
using warp::kTiles;
using warp::kWarpRows;

constexpr int kWarps = 4;
constexpr int kThreads = kWarps * kLanes;
constexpr int kBlockRows = kWarps * kWarpRows;
constexpr std::size_t kLargestGrid = 65535;  // along y and z

// Rows of keys and values are padded by 16 bytes, so that the eight rows that a matrix instruction reads lie in different banks.
template <int kHead>
struct Shared {
  static constexpr int kStride = kHead + 8;
  Bfloat16 relation_key[kRelations * kStride];
  Bfloat16 relation_value[kRelations * kStride];
  Bfloat16 key[kTileColumns * kStride];
  Bfloat16 value[kTileColumns * kStride];
  float bias[kWarps][warp::kBiasSize];
  float mass[kWarps][warp::kMassSize];
};

// The right operand for step k of the depth, which runs along rows[8][stride]: the transpose of 8 rows.
__device__ __forceinline__ void multiply_rows(float (&sums)[4], const std::uint32_t (&left)[4], const Bfloat16* rows, int stride,
                                              int k, int lane) {
  const Bfloat16* at = rows + lane / 4 * stride + k * 16 + lane % 4 * 2;
  multiply_add(sums, left, *reinterpret_cast<const std::uint32_t*>(at), *reinterpret_cast<const std::uint32_t*>(at + 8));
}

// The right operand of 8 columns of rows[16][stride], along whose rows the depth runs.
__device__ __forceinline__ void multiply_columns(float (&sums)[4], const std::uint32_t (&left)[4], const Bfloat16* rows,
                                                 int stride, int lane) {
  std::uint32_t right_0, right_1;
  load_transposed(rows + lane % 16 * stride, right_0, right_1);
  multiply_add(sums, left, right_0, right_1);
}

// to[kCount][kHead + 8] from rows `stride` apart; rows beyond `count` become zeros. 16 bytes a thread.
template <int kHead, int kCount, typename RowAt>
__device__ __forceinline__ void load_rows(Bfloat16* to, int count, RowAt row_at) {
  constexpr int kChunks = kHead / 8;
  for (int i = threadIdx.x; i < kCount * kChunks; i += kThreads) {
    const int row = i / kChunks, entry = i % kChunks * 8;
    const uint4 none{0, 0, 0, 0};
    const uint4 entries = row < count ? *reinterpret_cast<const uint4*>(row_at(row) + entry) : none;
    *reinterpret_cast<uint4*>(to + row * Shared<kHead>::kStride + entry) = entries;
  }
}

__device__ __forceinline__ float largest_of_quad(float x) {
  x = fmaxf(x, __shfl_xor_sync(kAllLanes, x, 1));
  return fmaxf(x, __shfl_xor_sync(kAllLanes, x, 2));
}

__device__ __forceinline__ float sum_of_quad(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 1);
  return x + __shfl_xor_sync(kAllLanes, x, 2);
}

template <int kHead>
__global__ void __launch_bounds__(kThreads) attend(const AttentionBatch batch) {
  constexpr int kSteps = kHead / 16, kParts = kHead / 8, kStride = Shared<kHead>::kStride;
  Shared<kHead>& shared = *reinterpret_cast<Shared<kHead>*>(shared_memory());
  const AttentionItem& item = batch.items[blockIdx.z];
  const int rows = static_cast<int>(item.query.rows), block_row = static_cast<int>(blockIdx.x) * kBlockRows;
  if (block_row >= rows) return;  // of the whole block
  const int columns_first = static_cast<int>(item.key[0].rows), columns = columns_first + static_cast<int>(item.key[1].rows);
  const std::size_t head = blockIdx.y;
  const int lane = threadIdx.x % kLanes, number = threadIdx.x / kLanes;
  float* bias = shared.bias[number];
  float* mass = shared.mass[number];

  const int relations = static_cast<int>(batch.relations);
  load_rows<kHead, kRelations>(shared.relation_key, relations, [&](int row) { return batch.relation_key + row * kHead; });
  load_rows<kHead, kRelations>(shared.relation_value, relations, [&](int row) { return batch.relation_value + row * kHead; });
  for (int i = lane; i < warp::kMassSize; i += kLanes) mass[i] = 0.0f;

  // The lane's two rows; the last row stands in for those that are missing.
  int row[2];
  const std::uint8_t* row_relations[2];
  const Bfloat16* row_query[2];
  for (int half = 0; half < 2; ++half) {
    row[half] = block_row + number * kWarpRows + warp::accumulator_row(lane, 2 * half);
    const int source = min(row[half], rows - 1);
    row_relations[half] = item.relations.data + source * item.relations.row_stride;
    row_query[half] = item.query.data + head * item.query.head_stride + source * item.query.row_stride;
  }
  std::uint32_t query[kSteps][4];
  for (int k = 0; k < kSteps; ++k) {
    for (int r = 0; r < 4; ++r) {
      query[k][r] = *reinterpret_cast<const std::uint32_t*>(row_query[r % 2] + k * 16 + r / 2 * 8 + lane % 4 * 2);
    }
  }
  __syncthreads();

  for (int part = 0; part < kRelations / 8; ++part) {
    float sums[4] = {};
    for (int k = 0; k < kSteps; ++k) multiply_rows(sums, query[k], shared.relation_key + part * 8 * kStride, kStride, k, lane);
    for (int r = 0; r < 4; ++r) {
      bias[warp::bias_index(part * 8 + warp::accumulator_column(lane, r), warp::accumulator_row(lane, r))] = sums[r];
    }
  }
  __syncwarp();

  const float scale = batch.scale * 1.44269504f;
  warp::Rows state = warp::no_columns();
  float mixed[kParts][4] = {};
  for (int first = 0; first < columns; first += kTileColumns) {
    const auto row_of = [&](const HeadRows<const Bfloat16>(&blocks)[2]) {
      return [&blocks, first, columns_first, head](int i) {
        const int column = first + i;
        const HeadRows<const Bfloat16>& block = blocks[column < columns_first ? 0 : 1];
        return block.data + head * block.head_stride +
               (column < columns_first ? column : column - columns_first) * block.row_stride;
      };
    };
    load_rows<kHead, kTileColumns>(shared.key, columns - first, row_of(item.key));
    load_rows<kHead, kTileColumns>(shared.value, columns - first, row_of(item.value));
    __syncthreads();

    warp::Scores scores;
    warp::read_relations(scores, lane, row_relations, first, columns);
    for (int tile = 0; tile < kTiles; ++tile) {
      float sums[4] = {};
      for (int k = 0; k < kSteps; ++k) multiply_rows(sums, query[k], shared.key + tile * 8 * kStride, kStride, k, lane);
      for (int r = 0; r < 4; ++r) scores.value[tile][r] = sums[r];
    }
    float largest[2];
    warp::add_relations(scores, lane, bias, scale, first, columns, largest);
    for (int half = 0; half < 2; ++half) {
      const float factor = warp::follow(state, half, lane, largest_of_quad(largest[half]), mass);
      for (int part = 0; part < kParts; ++part) {
        mixed[part][2 * half] *= factor;
        mixed[part][2 * half + 1] *= factor;
      }
    }
    warp::weigh(scores, state, lane, mass);
    for (int k = 0; k < kTileColumns / 16; ++k) {
      std::uint32_t weights[4];
      warp::weight_operand(scores, k, weights);
      for (int part = 0; part < kParts; ++part) {
        multiply_columns(mixed[part], weights, shared.value + k * 16 * kStride + part * 8, kStride, lane);
      }
    }
    __syncthreads();
  }

  for (int k = 0; k < kRelations / 16; ++k) {
    std::uint32_t masses[4];
    warp::mass_operand(mass, lane, k, masses);
    for (int part = 0; part < kParts; ++part) {
      multiply_columns(mixed[part], masses, shared.relation_value + k * 16 * kStride + part * 8, kStride, lane);
    }
  }
  for (int half = 0; half < 2; ++half) {
    const float sum = sum_of_quad(state.sum[half]);
    if (row[half] >= rows) continue;
    Bfloat16* to = item.mixed.data + head * item.mixed.head_stride + row[half] * item.mixed.row_stride;
    for (int part = 0; part < kParts; ++part) {
      *reinterpret_cast<std::uint32_t*>(to + part * 8 + lane % 4 * 2) =
          pack_bfloat16(mixed[part][2 * half] / sum, mixed[part][2 * half + 1] / sum);
    }
    if (item.log_sum != nullptr && lane % 4 == 0) {
      item.log_sum[head * item.query.rows + row[half]] = warp::log_sum(state.reference[half], sum);
    }
  }
}

void expect_in_range(const char* what, std::size_t size, std::size_t most) {
  if (size >= 1 && size <= most) return;
  throw ModelError(std::string("relation_attention: ") + what + " is " + std::to_string(size) +
                   "; the CUDA kernels take from 1 to " + std::to_string(most));
}

template <int kHead>
void launch_heads(const AttentionBatch& batch, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>((batch.largest_rows + kBlockRows - 1) / kBlockRows), static_cast<unsigned>(batch.heads),
                    static_cast<unsigned>(batch.count));
  launch("relation_attention", attend<kHead>, {blocks, kThreads, sizeof(Shared<kHead>)}, stream, batch);
}

}  // namespace

void relation_attention(const AttentionBatch& batch, CUstream_st* stream) {
  expect_in_range("the number of heads", batch.heads, kLargestGrid);
  expect_in_range("the number of relations", batch.relations, kRelations);
  if (batch.count == 0 || batch.largest_rows == 0) return;
  expect_in_range("the number of questions", batch.count, kLargestGrid);
  switch (batch.head_size) {
    case 32:
      return launch_heads<32>(batch, stream);
    case 64:
      return launch_heads<64>(batch, stream);
    default:
      throw ModelError("relation_attention: the head size is " + std::to_string(batch.head_size) +
                       "; the CUDA kernels take 32 and 64");
  }
}

}  // namespace fastsql::cuda
