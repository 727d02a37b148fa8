// Memory for what the states of one search share, taken from a piece of a fixed size: where nothing can be asked of a heap, as on
// the GPU. Many threads may take from one piece at a time there; on the processor, one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <new>
#include <type_traits>

#include "core/host_device.h"

namespace fastsql::grammar {

class BoundedArena {
 public:
  static constexpr std::size_t kAlignment = 16;
  static constexpr std::uint32_t kMostBytes = std::uint32_t{1} << 31;

  // Arenas over the same memory share `used`, the bytes taken: 0 at first, in memory that all their threads see. `memory` has
  // `capacity` <= kMostBytes bytes and is aligned to kAlignment. All of it stays with the caller.
  FASTSQL_HOST_DEVICE BoundedArena(std::byte* memory, std::uint32_t capacity, std::uint32_t* used)
      : memory_(memory), capacity_(capacity), used_(used) {}

  // An uninitialised array of `count` elements, at most 64 KiB; null where the memory does not suffice, and from then on.
  template <typename T>
  FASTSQL_HOST_DEVICE T* allocate(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
    if (full()) return nullptr;  // so that `used` cannot overflow
    const auto bytes = static_cast<std::uint32_t>((count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment);
    const std::uint32_t before = take(bytes);
    if (before > capacity_ || bytes > capacity_ - before) return nullptr;
    return reinterpret_cast<T*>(memory_ + before);
  }

  // A copy of `value`; null where the memory does not suffice.
  template <typename T>
  FASTSQL_HOST_DEVICE const T* keep(const T& value) {
    T* place = allocate<T>(1);
    return place == nullptr ? nullptr : new (place) T(value);
  }

  // Whether something did not fit.
  FASTSQL_HOST_DEVICE bool full() const { return *static_cast<const volatile std::uint32_t*>(used_) > capacity_; }

 private:
  FASTSQL_HOST_DEVICE std::uint32_t take(std::uint32_t bytes) {
#ifdef __CUDA_ARCH__
    return atomicAdd(used_, bytes);
#else
    const std::uint32_t before = *used_;
    *used_ = before + bytes;
    return before;
#endif
  }

  std::byte* memory_;
  std::uint32_t capacity_;
  std::uint32_t* used_;
};

}  // namespace fastsql::grammar
