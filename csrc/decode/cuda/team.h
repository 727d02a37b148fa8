// The team of blocks that decodes one question, and its threads.
//
// Hypotheses are decoded in groups of up to kGroupRows, the columns of one matrix instruction. Every number has one order in which it is
// added up, whoever does it, so that a search finds the same with any number of blocks.
#pragma once

#include <cuda_runtime.h>

#include "core/device_functions.h"
#include "core/warp_sums.h"
#include "linear/linear_fragments.h"

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

}  // namespace fastsql::cuda
