// Memory and launches of the CUDA core, and its errors. Everything is queued on a stream; nothing here waits for it.
#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "core/error.h"

namespace fastsql::cuda {

// Throws LimitError where the GPU has no memory left, and Error for any other failure. `what` says what was being done.
inline void expect(cudaError_t status, const char* what) {
  if (status == cudaSuccess) return;
  if (status == cudaErrorMemoryAllocation) {
    cudaGetLastError();  // it is not sticky: what comes next must not see it
    throw LimitError(std::string("the GPU has no memory left for ") + what + ". Give it fewer questions at a time.");
  }
  throw Error(std::string("CUDA, ") + what + ": " + cudaGetErrorString(status));
}

// An array of `size` elements in device memory, uninitialised.
template <typename T>
class DeviceArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  DeviceArray() = default;
  explicit DeviceArray(std::size_t size, const char* what = "an array") : size_(size) {
    if (size > 0) expect(cudaMalloc(reinterpret_cast<void**>(&data_), size * sizeof(T)), what);
  }
  // A copy of host memory; waits until it has been made.
  explicit DeviceArray(const std::vector<T>& values, const char* what = "an array")
      : DeviceArray(values.data(), values.size(), what) {}
  DeviceArray(const T* values, std::size_t size, const char* what) : DeviceArray(size, what) {
    if (size == 0) return;
    expect(cudaMemcpy(data_, values, size * sizeof(T), cudaMemcpyHostToDevice), what);
    // A copy from memory that is not page-locked returns once it has been read, and other streams do not wait for it to be written.
    expect(cudaStreamSynchronize(nullptr), what);
  }
  ~DeviceArray() { cudaFree(data_); }
  DeviceArray(DeviceArray&& other) noexcept : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  DeviceArray& operator=(DeviceArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  T* data() const { return data_; }
  std::size_t size() const { return size_; }
  // Copies it back, after everything that was queued before on any stream.
  std::vector<T> fetch(const char* what = "a result") const {
    std::vector<T> values(size_);
    if (size_ > 0) expect(cudaMemcpy(values.data(), data_, size_ * sizeof(T), cudaMemcpyDeviceToHost), what);
    return values;
  }

 private:
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

// Device memory that is handed out in order and taken back all at once. It grows between two uses, never during one: `plan` what
// will be taken first.
class DeviceScratch {
 public:
  static constexpr std::size_t kAlignment = 256;
  static constexpr std::size_t rounded(std::size_t bytes) { return (bytes + kAlignment - 1) / kAlignment * kAlignment; }

  // Makes room for `bytes` in all, each array rounded up to kAlignment; forgets everything that was taken.
  void reserve(std::size_t bytes) {
    used_ = 0;
    if (bytes <= memory_.size()) return;
    memory_ = DeviceArray<std::byte>();  // first, so that both need not fit
    memory_ = DeviceArray<std::byte>(bytes, "a batch of questions");
  }

  template <typename T>
  T* take(std::size_t count) {
    const std::size_t first = used_;
    used_ += rounded(count * sizeof(T));
    if (used_ > memory_.size()) throw Error("a batch takes more device memory than was planned for it");
    return reinterpret_cast<T*>(memory_.data() + first);
  }

  std::size_t capacity() const { return memory_.size(); }

 private:
  DeviceArray<std::byte> memory_;
  std::size_t used_ = 0;
};

struct Shape {
  dim3 blocks;
  unsigned threads;        // of a block
  std::size_t shared = 0;  // bytes of shared memory of a block, which shared_memory() of core/device_functions.h gives
  unsigned cluster = 1;    // blocks along x that form a cluster and may wait for each other (needs sm_90)
};

// Queues kernel(arguments...) on a stream.
template <typename... Parameters, typename... Arguments>
void launch(const char* what, void (*kernel)(Parameters...), const Shape& shape, cudaStream_t stream, Arguments&&... arguments) {
  constexpr std::size_t kAlwaysAllowed = 48 << 10;
  if (shape.shared > kAlwaysAllowed) {
    expect(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(shape.shared)), what);
  }
  if (shape.cluster > 8) expect(cudaFuncSetAttribute(kernel, cudaFuncAttributeNonPortableClusterSizeAllowed, 1), what);
  cudaLaunchConfig_t config{};
  config.gridDim = shape.blocks;
  config.blockDim = dim3(shape.threads);
  config.dynamicSmemBytes = shape.shared;
  config.stream = stream;
  cudaLaunchAttribute cluster{};
  cluster.id = cudaLaunchAttributeClusterDimension;
  cluster.val.clusterDim.x = shape.cluster;
  cluster.val.clusterDim.y = 1;
  cluster.val.clusterDim.z = 1;
  config.attrs = &cluster;
  config.numAttrs = shape.cluster > 1 ? 1 : 0;
  expect(cudaLaunchKernelEx(&config, kernel, std::forward<Arguments>(arguments)...), what);
}

}  // namespace fastsql::cuda
