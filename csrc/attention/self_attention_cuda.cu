// A block holds 32 rows of one head of one text, 4 a warp, and passes over the text's tokens in tiles of 32 keys and values in shared
// memory. For scores a lane is a token, for results an entry of the head. Softmax is online (Milakov and Gimelshein, 2018).
#include <cmath>
#include <string>

#include "attention/self_attention_cuda.h"
#include "core/device_functions.h"
#include "core/host_device.h"
#include "core/warp_sums.h"

namespace fastsql::cuda {
namespace {

constexpr int kWarps = 8, kThreads = kWarps * kLanes;
constexpr int kWarpRows = 4, kBlockRows = kWarps * kWarpRows;
constexpr int kTileTokens = kLanes;

template <int kHead>
struct Shared {
  static constexpr int kKeyStride = kHead + 4;  // so that 16 bytes of neighbouring lanes' keys lie in different banks
  alignas(16) float query[kBlockRows][kHead];
  alignas(16) float key[kTileTokens][kKeyStride];
  alignas(16) float value[kTileTokens][kHead];
  alignas(16) float weight[kWarps][kWarpRows][kTileTokens];
};

// to[32][kStride] from the rows of a tile, `stride` floats apart; rows beyond `count` become zeros.
template <int kHead, int kStride>
__device__ __forceinline__ void load_rows(float (&to)[32][kStride], const float* from, std::size_t stride, int count) {
  constexpr int kChunks = kHead / 4;
  for (int i = static_cast<int>(threadIdx.x); i < 32 * kChunks; i += kThreads) {
    const int row = i / kChunks, entry = i % kChunks * 4;
    const float4 none{0.0f, 0.0f, 0.0f, 0.0f};
    *reinterpret_cast<float4*>(&to[row][entry]) =
        row < count ? *reinterpret_cast<const float4*>(from + row * stride + entry) : none;
  }
}

__device__ __forceinline__ float dot(const float4& left, const float4& right, float sum) {
  return fmaf(left.x, right.x, fmaf(left.y, right.y, fmaf(left.z, right.z, fmaf(left.w, right.w, sum))));
}

template <int kHead>
__global__ void __launch_bounds__(kThreads) attend(const SelfAttentionBatch batch, float* mixed) {
  constexpr int kParts = kHead / kLanes;  // entries of a result in a lane
  auto& shared = *reinterpret_cast<Shared<kHead>*>(shared_memory());
  const int begin = batch.first[blockIdx.x], tokens = batch.first[blockIdx.x + 1] - begin;
  const int block_row = static_cast<int>(blockIdx.z) * kBlockRows;
  if (block_row >= tokens) return;  // of the whole block
  const int lane = static_cast<int>(threadIdx.x) % kLanes, warp = static_cast<int>(threadIdx.x) / kLanes;
  const std::size_t width = batch.heads * kHead, stride = 3 * width;
  const float* query = batch.qkv + begin * stride + blockIdx.y * kHead;
  const int first_row = block_row + warp * kWarpRows;
  auto& weights = shared.weight[warp];

  load_rows<kHead>(shared.query, query + block_row * stride, stride, tokens - block_row);
  const float scale = 1.44269504f / sqrtf(static_cast<float>(kHead));  // of scores in units of ln 2
  float largest[kWarpRows], sums[kWarpRows] = {}, results[kWarpRows][kParts] = {};
  FASTSQL_UNROLL
  for (int row = 0; row < kWarpRows; ++row) largest[row] = -INFINITY;

  for (int first = 0; first < tokens; first += kTileTokens) {
    load_rows<kHead>(shared.key, query + width + first * stride, stride, tokens - first);
    load_rows<kHead>(shared.value, query + 2 * width + first * stride, stride, tokens - first);
    __syncthreads();
    if (first_row < tokens) {  // of the whole warp
      float scores[kWarpRows] = {};
      FASTSQL_UNROLL
      for (int entry = 0; entry < kHead; entry += 4) {
        const float4 key = *reinterpret_cast<const float4*>(&shared.key[lane][entry]);
        FASTSQL_UNROLL
        for (int row = 0; row < kWarpRows; ++row) {
          scores[row] = dot(*reinterpret_cast<const float4*>(&shared.query[warp * kWarpRows + row][entry]), key, scores[row]);
        }
      }
      FASTSQL_UNROLL
      for (int row = 0; row < kWarpRows; ++row) {
        const float score = first + lane < tokens ? scores[row] * scale : -INFINITY;
        const float reference = fmaxf(largest[row], warp_largest(score));
        const float factor = exp2f(largest[row] - reference), weight = exp2f(score - reference);
        largest[row] = reference;
        sums[row] = fmaf(sums[row], factor, weight);  // this lane's tokens
        weights[row][lane] = weight;
        FASTSQL_UNROLL
        for (int part = 0; part < kParts; ++part) results[row][part] *= factor;
      }
      __syncwarp();
      FASTSQL_UNROLL
      for (int token = 0; token < kTileTokens; token += 4) {
        FASTSQL_UNROLL
        for (int part = 0; part < kParts; ++part) {
          const int entry = part * kLanes + lane;
          const float4 values{shared.value[token][entry], shared.value[token + 1][entry], shared.value[token + 2][entry],
                              shared.value[token + 3][entry]};
          FASTSQL_UNROLL
          for (int row = 0; row < kWarpRows; ++row) {
            results[row][part] = dot(*reinterpret_cast<const float4*>(&weights[row][token]), values, results[row][part]);
          }
        }
      }
    }
    __syncthreads();
  }

  for (int row = 0; row < kWarpRows; ++row) {
    const float sum = warp_sum(sums[row]);
    if (first_row + row >= tokens) continue;
    float* to = mixed + (begin + first_row + row) * width + blockIdx.y * kHead;
    FASTSQL_UNROLL
    for (int part = 0; part < kParts; ++part) to[part * kLanes + lane] = results[row][part] / sum;
  }
}

template <int kHead>
void launch_heads(const SelfAttentionBatch& batch, float* mixed, cudaStream_t stream) {
  const dim3 blocks(static_cast<unsigned>(batch.texts), static_cast<unsigned>(batch.heads),
                    static_cast<unsigned>((batch.longest + kBlockRows - 1) / kBlockRows));
  launch("self-attention", attend<kHead>, {blocks, kThreads, sizeof(Shared<kHead>)}, stream, batch, mixed);
}

}  // namespace

void self_attention(const SelfAttentionBatch& batch, float* mixed, cudaStream_t stream) {
  if (batch.head_size != 32 && batch.head_size != 64) {
    throw ModelError("self-attention: the head size is " + std::to_string(batch.head_size) + "; the CUDA kernels take 32 and 64");
  }
  if (batch.texts == 0 || batch.longest == 0) return;
  batch.head_size == 32 ? launch_heads<32>(batch, mixed, stream) : launch_heads<64>(batch, mixed, stream);
}

}  // namespace fastsql::cuda
