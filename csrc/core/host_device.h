// Functions that run on the processor and, compiled by nvcc, on the GPU.
#pragma once

#ifdef __CUDACC__
#define FASTSQL_HOST_DEVICE __host__ __device__ __forceinline__
#else
#define FASTSQL_HOST_DEVICE inline
#endif
