// What a batch brings to the GPU, packed into page-locked memory so that one copy takes all of it. Arrays are placed first, which
// fixes where each will lie; then they are filled, with addresses of each other on the device where need be; then uploaded.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>

#include "core/device.h"

namespace fastsql::cuda {

// Page-locked host memory, which the GPU reads and writes without the processor's help.
class PinnedMemory {
 public:
  PinnedMemory() = default;
  explicit PinnedMemory(std::size_t bytes) : size_(bytes) {
    if (bytes > 0) expect(cudaMallocHost(&data_, bytes), "page-locked memory");
  }
  ~PinnedMemory() { cudaFreeHost(data_); }
  PinnedMemory(PinnedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_(std::exchange(other.size_, 0)) {}
  PinnedMemory& operator=(PinnedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    return *this;
  }

  std::byte* data() const { return static_cast<std::byte*>(data_); }
  std::size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  std::size_t size_ = 0;
};

class Staging {
 public:
  // An array's place.
  template <typename T>
  struct Slot {
    std::size_t first = 0, count = 0;
  };

  // Forgets all arrays and keeps the memory.
  void clear() { bytes_ = 0; }

  template <typename T>
  Slot<T> place(std::size_t count) {
    const Slot<T> slot{bytes_, count};
    bytes_ += DeviceScratch::rounded(count * sizeof(T));
    return slot;
  }

  // Makes room for all arrays that have been placed.
  void reserve() {
    if (bytes_ <= host_.size()) return;
    const std::size_t size = std::max(bytes_, host_.size() * 2);
    host_ = PinnedMemory();
    device_ = DeviceArray<std::byte>();
    device_ = DeviceArray<std::byte>(size, "a batch's questions");
    host_ = PinnedMemory(size);
  }

  template <typename T>
  T* host(const Slot<T>& slot) const {
    return reinterpret_cast<T*>(host_.data() + slot.first);
  }
  template <typename T>
  T* device(const Slot<T>& slot) const {
    return reinterpret_cast<T*>(device_.data() + slot.first);
  }

  // Queues the copy. The host's memory may not be changed before it has been made.
  void upload(cudaStream_t stream) const {
    if (bytes_ == 0) return;
    expect(cudaMemcpyAsync(device_.data(), host_.data(), bytes_, cudaMemcpyHostToDevice, stream), "upload of a batch");
  }

 private:
  std::size_t bytes_ = 0;
  PinnedMemory host_;
  DeviceArray<std::byte> device_;
};

}  // namespace fastsql::cuda
