// A GPU that is simulated on the processor: the part of the CUDA runtime and of CUDA's C++ that the kernels of this project use. It
// stands in the include path before the real one, and the same .cu files are then compiled as C++.
//
// Device memory is host memory, filled with NaN. A launch runs at once: block after block, the blocks of a cluster together. Each
// thread has a stack of its own and runs until it waits for others, in the order that simulator.h sets; a barrier that is missing shows
// in the results, one that not all threads reach is reported. Built with AddressSanitizer, every access out of bounds is, too.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <functional>
#include <tuple>
#include <utility>

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __align__(n) alignas(n)
#define __grid_constant__

// ---------------------------------------------------------------- types

struct dim3 {
  unsigned x = 1, y = 1, z = 1;
  constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
};
struct alignas(8) float2 {
  float x, y;
};
struct alignas(16) float4 {
  float x, y, z, w;
};
struct alignas(8) uint2 {
  unsigned x, y;
};
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(8) int2 {
  int x, y;
};
struct alignas(16) int4 {
  int x, y, z, w;
};
inline float2 make_float2(float x, float y) { return {x, y}; }
inline float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
inline uint2 make_uint2(unsigned x, unsigned y) { return {x, y}; }
inline uint4 make_uint4(unsigned x, unsigned y, unsigned z, unsigned w) { return {x, y, z, w}; }
inline int2 make_int2(int x, int y) { return {x, y}; }
inline int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

struct CUstream_st;
struct CUevent_st;
using cudaStream_t = CUstream_st*;
using cudaEvent_t = CUevent_st*;

enum cudaError_t {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorInsufficientDriver = 35,
  cudaErrorNoDevice = 100
};
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8, cudaFuncAttributeNonPortableClusterSizeAllowed = 13 };
enum cudaDeviceAttr {
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrL2CacheSize = 38,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrComputeCapabilityMinor = 76,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaLaunchAttributeID { cudaLaunchAttributeClusterDimension = 4 };
constexpr unsigned cudaStreamNonBlocking = 1;

struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    struct {
      unsigned x, y, z;
    } clusterDim;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  std::size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute* attrs;
  unsigned numAttrs;
};
struct cudaDeviceProp {
  char name[256];
  std::size_t totalGlobalMem, sharedMemPerBlockOptin;
  int major, minor, multiProcessorCount, l2CacheSize;
};

// ---------------------------------------------------------------- the runtime

cudaError_t cudaGetDeviceCount(int* count);
cudaError_t cudaGetDevice(int* device);
cudaError_t cudaSetDevice(int device);
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int device);
cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int device);
cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total);
cudaError_t cudaRuntimeGetVersion(int* version);
cudaError_t cudaDriverGetVersion(int* version);
cudaError_t cudaMalloc(void** at, std::size_t bytes);
cudaError_t cudaFree(void* at);
cudaError_t cudaMallocHost(void** at, std::size_t bytes);
cudaError_t cudaFreeHost(void* at);
cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream = nullptr);
cudaError_t cudaMemset(void* at, int value, std::size_t bytes);
cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t stream = nullptr);
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamSynchronize(cudaStream_t stream);
cudaError_t cudaDeviceSynchronize();
cudaError_t cudaEventCreate(cudaEvent_t* event);
cudaError_t cudaEventDestroy(cudaEvent_t event);
cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream = nullptr);
cudaError_t cudaEventSynchronize(cudaEvent_t event);
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end);
cudaError_t cudaGetLastError();
cudaError_t cudaPeekAtLastError();
const char* cudaGetErrorString(cudaError_t error);

template <typename Kernel>
cudaError_t cudaFuncSetAttribute(Kernel*, cudaFuncAttribute, int) {
  return cudaSuccess;
}

namespace fastsql::simulator {
// Runs the threads of a grid; `thread` is what each of them does.
void run(const cudaLaunchConfig_t& config, const std::function<void()>& thread);
}  // namespace fastsql::simulator

template <typename... Parameters, typename... Arguments>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...), Arguments&&... arguments) {
  std::tuple<Parameters...> kept(std::forward<Arguments>(arguments)...);
  fastsql::simulator::run(*config, [&] { std::apply(kernel, kept); });
  return cudaSuccess;
}

// ---------------------------------------------------------------- in a kernel

extern constinit thread_local dim3 threadIdx, blockIdx, blockDim, gridDim;

void __syncthreads();
void __syncwarp(unsigned mask = 0xFFFFFFFFu);
inline void __threadfence() {}
inline void __threadfence_block() {}

namespace fastsql::simulator {
// Gives every lane of the warp what each of the 32 has given: `size` bytes, at most 64, of lane l at result + l * size. `what` names
// the function; lanes that meet in different ones are reported.
const unsigned char* exchange(const char* what, unsigned mask, const void* value, std::size_t size);
int lane();

template <typename T>
T value_of(const char* what, unsigned mask, const T& value, int source) {
  T result;
  std::memcpy(&result, exchange(what, mask, &value, sizeof value) + static_cast<std::size_t>(source) * sizeof value,
              sizeof value);
  return result;
}
}  // namespace fastsql::simulator

template <typename T>
T __shfl_sync(unsigned mask, T value, int source, int width = 32) {
  const int lane = fastsql::simulator::lane();
  return fastsql::simulator::value_of("__shfl_sync", mask, value, lane / width * width + source % width);
}
template <typename T>
T __shfl_xor_sync(unsigned mask, T value, int bits, int width = 32) {
  const int lane = fastsql::simulator::lane(), source = lane ^ bits;
  return fastsql::simulator::value_of("__shfl_xor_sync", mask, value, source / width == lane / width ? source : lane);
}
template <typename T>
T __shfl_down_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int lane = fastsql::simulator::lane(), source = lane + static_cast<int>(by);
  return fastsql::simulator::value_of("__shfl_down_sync", mask, value, source / width == lane / width ? source : lane);
}
template <typename T>
T __shfl_up_sync(unsigned mask, T value, unsigned by, int width = 32) {
  const int lane = fastsql::simulator::lane(), source = lane - static_cast<int>(by);
  return fastsql::simulator::value_of("__shfl_up_sync", mask, value, source >= lane / width * width ? source : lane);
}
inline unsigned __ballot_sync(unsigned mask, int predicate) {
  const unsigned char mine = predicate != 0;
  const unsigned char* all = fastsql::simulator::exchange("__ballot_sync", mask, &mine, 1);
  unsigned result = 0;
  for (unsigned lane = 0; lane < 32; ++lane) result |= unsigned{all[lane]} << lane;
  return result & mask;
}
inline int __any_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) != 0; }
inline int __all_sync(unsigned mask, int predicate) { return __ballot_sync(mask, predicate) == mask; }

// One thread runs at a time, so that plain operations are atomic.
template <typename T>
T atomicAdd(T* at, T value) {
  const T before = *at;
  *at = before + value;
  return before;
}
template <typename T>
T atomicMax(T* at, T value) {
  const T before = *at;
  *at = before < value ? value : before;
  return before;
}
template <typename T>
T atomicMin(T* at, T value) {
  const T before = *at;
  *at = value < before ? value : before;
  return before;
}
template <typename T>
T atomicOr(T* at, T value) {
  const T before = *at;
  *at = before | value;
  return before;
}
template <typename T>
T atomicExch(T* at, T value) {
  return std::exchange(*at, value);
}
template <typename T>
T atomicCAS(T* at, T expected, T value) {
  const T before = *at;
  if (before == expected) *at = value;
  return before;
}

template <typename T>
T __ldg(const T* at) {
  return *at;
}
inline float __expf(float x) { return std::exp(x); }
inline float __logf(float x) { return std::log(x); }
inline float __fdividef(float x, float y) { return x / y; }
inline float rsqrtf(float x) { return 1.0f / std::sqrt(x); }
inline unsigned __float_as_uint(float x) {
  unsigned bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}
inline float __uint_as_float(unsigned bits) {
  float x;
  std::memcpy(&x, &bits, sizeof x);
  return x;
}
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __clz(int x) { return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x)); }
inline int __clzll(long long x) { return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x)); }
inline unsigned __byte_perm(unsigned x, unsigned y, unsigned selector) {
  const std::uint64_t bytes = std::uint64_t{y} << 32 | x;
  unsigned result = 0;
  for (unsigned i = 0; i < 4; ++i) {
    result |= static_cast<unsigned>(bytes >> (selector >> 4 * i & 7u) * 8 & 0xFFu) << 8 * i;
  }
  return result;
}
using std::max;
using std::min;
