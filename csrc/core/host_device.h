// Functions that run on the processor and, compiled by nvcc, on the GPU; and what only nvcc is told.
#pragma once

#ifdef __CUDACC__
#define FASTSQL_HOST_DEVICE __host__ __device__ __forceinline__
#define FASTSQL_UNROLL _Pragma("unroll")  // the loop that follows: its arrays are to stay in registers
#else
#define FASTSQL_HOST_DEVICE inline
#define FASTSQL_UNROLL
#endif
