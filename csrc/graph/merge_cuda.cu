#include <cmath>
#include <cstdint>

#include "core/device_functions.h"
#include "graph/merge_cuda.h"

namespace fastsql::cuda {
namespace {

constexpr int kThreads = 128;

// Four entries a thread; blocks along y are questions.
__global__ void __launch_bounds__(kThreads) merge(const MergeBatch batch) {
  const MergeItem& item = batch.items[blockIdx.y];
  const int heads = static_cast<int>(batch.heads), head_size = static_cast<int>(batch.head_size), chunks = heads * head_size / 4;
  const auto index = static_cast<std::int64_t>(blockIdx.x) * kThreads + static_cast<int>(threadIdx.x);
  const auto row = static_cast<int>(index / chunks), at = static_cast<int>(index % chunks) * 4;
  if (row >= item.n) return;
  const std::size_t place = static_cast<std::size_t>(row) * heads * head_size + at;
  *reinterpret_cast<float4*>(item.rows + place) = *reinterpret_cast<const float4*>(item.input + place);

  // The question half's share of the sum of exponentials, by a logistic function that never overflows.
  const std::size_t of_head = static_cast<std::size_t>(at / head_size) * item.n + row;
  const float ahead = item.question_sum[of_head] - item.cached_sum[of_head];
  const float e = expf(-fabsf(ahead));
  const float share = (ahead < 0.0f ? e : 1.0f) / (1.0f + e);
  const float4 cached = *reinterpret_cast<const float4*>(item.cached_mixed + place);
  uint2 merged{pack_bfloat16(cached.x, cached.y), pack_bfloat16(cached.z, cached.w)};
  if (share > 0.0f) {  // otherwise there may be nothing in the other half
    const uint2 other = *reinterpret_cast<const uint2*>(item.mixed + place);
    float x, y, z, w;
    unpack_bfloat16(other.x, x, y);
    unpack_bfloat16(other.y, z, w);
    merged.x = pack_bfloat16(fmaf(share, x - cached.x, cached.x), fmaf(share, y - cached.y, cached.y));
    merged.y = pack_bfloat16(fmaf(share, z - cached.z, cached.z), fmaf(share, w - cached.w, cached.w));
  }
  *reinterpret_cast<uint2*>(item.mixed + place) = merged;
}

}  // namespace

void merge_halves(const MergeBatch& batch, cudaStream_t stream) {
  if (batch.count == 0 || batch.largest_n == 0) return;
  const std::size_t threads = batch.largest_n * (batch.heads * batch.head_size / 4);
  const dim3 blocks(static_cast<unsigned>((threads + kThreads - 1) / kThreads), static_cast<unsigned>(batch.count));
  launch("merge", merge, {blocks, kThreads}, stream, batch);
}

}  // namespace fastsql::cuda
