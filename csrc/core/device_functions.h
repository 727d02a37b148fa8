// What kernels need of the GPU beyond CUDA's own functions: instructions that have no name in C++. Each is one function here, so that
// kernels hold no assembly, and so that the simulator of tests/cpp/simulator/ can run the same kernels on the processor.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>

#include "core/bfloat16.h"

namespace fastsql::cuda {

constexpr int kLanes = 32;
constexpr unsigned kAllLanes = 0xFFFFFFFFu;

#ifdef FASTSQL_SIMULATED

unsigned char* shared_memory();
void multiply_add(float (&sums)[4], const std::uint32_t (&left)[4], std::uint32_t right_0, std::uint32_t right_1);
void load_transposed(const Bfloat16* row, std::uint32_t& right_0, std::uint32_t& right_1);
unsigned cluster_rank();
unsigned cluster_size();
void cluster_barrier();
inline float add_rounded(float one, float other) { return one + other; }

#else

// A sum that is rounded by itself, never as part of a multiplication beside it: equal wherever it is computed.
__device__ __forceinline__ float add_rounded(float one, float other) { return __fadd_rn(one, other); }

// The block's shared memory, as many bytes as the launch asked for. Kernels declare no __shared__ variables of their own.
__device__ __forceinline__ unsigned char* shared_memory() {
  extern __shared__ __align__(16) unsigned char memory[];
  return memory;
}

// sums += left . right, for 16 rows, 8 columns and a depth of 16 (mma.m16n8k16, bfloat16 with float32 sums). Lane 4 g + q holds
// sums of rows g (two first) and g + 8 at columns 2 q and 2 q + 1; left[0] is row g at depths 2 q and 2 q + 1, left[1] row g + 8
// there, left[2] and left[3] the same rows 8 deeper; right_0 is column g at depths 2 q and 2 q + 1, right_1 8 deeper.
__device__ __forceinline__ void multiply_add(float (&sums)[4], const std::uint32_t (&left)[4], std::uint32_t right_0,
                                             std::uint32_t right_1) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right_0), "r"(right_1));
}

// The right operand of 8 columns from 16 rows in shared memory along which the columns run: lane l < 16 gives the address of row l's
// first of 8 entries, which must be a multiple of 16 bytes; the other lanes' addresses are ignored.
__device__ __forceinline__ void load_transposed(const Bfloat16* row, std::uint32_t& right_0, std::uint32_t& right_1) {
  const auto address = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0, %1}, [%2];"
               : "=r"(right_0), "=r"(right_1)
               : "r"(address)
               : "memory");
}

// A block's place in its cluster, and the cluster's blocks; 0 and 1 where the launch asked for none.
__device__ __forceinline__ unsigned cluster_rank() {
#if __CUDA_ARCH__ >= 900
  unsigned rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
#else
  return 0;
#endif
}

__device__ __forceinline__ unsigned cluster_size() {
#if __CUDA_ARCH__ >= 900
  unsigned size;
  asm volatile("mov.u32 %0, %%cluster_nctaid.x;" : "=r"(size));
  return size;
#else
  return 1;
#endif
}

// Waits for all threads of the cluster; what they wrote to global memory before is seen by all after it: arrive releases and wait
// acquires, which empties the L1 cache.
__device__ __forceinline__ void cluster_barrier() {
#if __CUDA_ARCH__ >= 900
  asm volatile("barrier.cluster.arrive.release.aligned;\nbarrier.cluster.wait.acquire.aligned;" ::: "memory");
#else
  __syncthreads();
#endif
}

#endif

}  // namespace fastsql::cuda
