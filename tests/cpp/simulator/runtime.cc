// The runtime of the simulated GPU: memory is the host's, streams are in no need of waiting.
#include <chrono>
#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "cuda_runtime.h"
#include "simulator.h"

struct CUevent_st {
  std::chrono::steady_clock::time_point time;
};

namespace fastsql::simulator {
namespace {

struct Memory {
  std::mutex mutex;
  std::unordered_map<void*, std::size_t> sizes;
  std::size_t in_use = 0, limit = std::size_t{1} << 30;
};

Memory& memory() {
  static Memory of_process;
  return of_process;
}

thread_local cudaError_t last_error = cudaSuccess;

cudaError_t result(cudaError_t error) {
  if (error != cudaSuccess) last_error = error;
  return error;
}

}  // namespace

void set_memory(std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  memory().limit = bytes;
}

std::size_t memory_in_use() {
  const std::lock_guard lock(memory().mutex);
  return memory().in_use;
}

}  // namespace fastsql::simulator

using fastsql::simulator::memory;
using fastsql::simulator::result;

cudaError_t cudaMalloc(void** at, std::size_t bytes) {
  const std::lock_guard lock(memory().mutex);
  if (bytes > memory().limit - std::min(memory().limit, memory().in_use)) return result(cudaErrorMemoryAllocation);
  constexpr std::size_t kAlignment = 256;
  *at = std::aligned_alloc(kAlignment, (bytes + kAlignment - 1) / kAlignment * kAlignment);
  if (*at == nullptr) return result(cudaErrorMemoryAllocation);
  std::memset(*at, 0xFF, bytes);
  memory().sizes[*at] = bytes;
  memory().in_use += bytes;
  return cudaSuccess;
}

cudaError_t cudaFree(void* at) {
  if (at == nullptr) return cudaSuccess;
  const std::lock_guard lock(memory().mutex);
  const auto found = memory().sizes.find(at);
  if (found == memory().sizes.end()) return result(cudaErrorInvalidValue);
  memory().in_use -= found->second;
  memory().sizes.erase(found);
  std::free(at);
  return cudaSuccess;
}

cudaError_t cudaMallocHost(void** at, std::size_t bytes) {
  *at = std::malloc(bytes);
  return *at == nullptr ? result(cudaErrorMemoryAllocation) : cudaSuccess;
}

cudaError_t cudaFreeHost(void* at) {
  std::free(at);
  return cudaSuccess;
}

cudaError_t cudaMemcpy(void* to, const void* from, std::size_t bytes, cudaMemcpyKind) {
  if (bytes > 0) std::memcpy(to, from, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t) {
  return cudaMemcpy(to, from, bytes, kind);
}

cudaError_t cudaMemset(void* at, int value, std::size_t bytes) {
  if (bytes > 0) std::memset(at, value, bytes);
  return cudaSuccess;
}

cudaError_t cudaMemsetAsync(void* at, int value, std::size_t bytes, cudaStream_t) { return cudaMemset(at, value, bytes); }

cudaError_t cudaGetDeviceCount(int* count) {
  *count = 1;
  return cudaSuccess;
}

cudaError_t cudaGetDevice(int* device) {
  *device = 0;
  return cudaSuccess;
}

cudaError_t cudaSetDevice(int device) { return device == 0 ? cudaSuccess : result(cudaErrorInvalidValue); }

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
  *properties = {"simulated", memory().limit, 227 << 10, 9, 0, 4, 1 << 20};
  return cudaSuccess;
}

cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr attribute, int) {
  switch (attribute) {
    case cudaDevAttrMultiProcessorCount:
      *value = 4;
      return cudaSuccess;
    case cudaDevAttrL2CacheSize:
      *value = 1 << 20;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMajor:
      *value = 9;
      return cudaSuccess;
    case cudaDevAttrComputeCapabilityMinor:
      *value = 0;
      return cudaSuccess;
    case cudaDevAttrMaxSharedMemoryPerBlockOptin:
      *value = 227 << 10;
      return cudaSuccess;
  }
  return result(cudaErrorInvalidValue);
}

cudaError_t cudaMemGetInfo(std::size_t* free, std::size_t* total) {
  const std::lock_guard lock(memory().mutex);
  *total = memory().limit;
  *free = memory().limit - std::min(memory().limit, memory().in_use);
  return cudaSuccess;
}

cudaError_t cudaRuntimeGetVersion(int* version) {
  *version = 13000;
  return cudaSuccess;
}

cudaError_t cudaDriverGetVersion(int* version) { return cudaRuntimeGetVersion(version); }

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned) {
  *stream = nullptr;
  return cudaSuccess;
}

cudaError_t cudaStreamDestroy(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
cudaError_t cudaDeviceSynchronize() { return cudaSuccess; }

cudaError_t cudaEventCreate(cudaEvent_t* event) {
  *event = new CUevent_st{};
  return cudaSuccess;
}

cudaError_t cudaEventDestroy(cudaEvent_t event) {
  delete event;
  return cudaSuccess;
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t) {
  event->time = std::chrono::steady_clock::now();
  return cudaSuccess;
}

cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }

cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t start, cudaEvent_t end) {
  *milliseconds = std::chrono::duration<float, std::milli>(end->time - start->time).count();
  return cudaSuccess;
}

cudaError_t cudaGetLastError() { return std::exchange(fastsql::simulator::last_error, cudaSuccess); }
cudaError_t cudaPeekAtLastError() { return fastsql::simulator::last_error; }

const char* cudaGetErrorString(cudaError_t error) {
  switch (error) {
    case cudaSuccess:
      return "no error";
    case cudaErrorInvalidValue:
      return "invalid argument";
    case cudaErrorMemoryAllocation:
      return "out of memory";
    case cudaErrorInsufficientDriver:
      return "CUDA driver version is insufficient for CUDA runtime version";
    case cudaErrorNoDevice:
      return "no CUDA-capable device is detected";
  }
  return "unknown error";
}
