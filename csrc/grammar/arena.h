// Memory for what the states of one search share. It is given out in order and taken back all at once, so that in the
// steady state nothing is asked of the heap.
#pragma once

#include <cstddef>
#include <memory>
#include <new>
#include <type_traits>
#include <vector>

namespace fastsql::grammar {

class Arena {
 public:
  // An uninitialised array of `count` elements, which lives until `clear`. At most kChunk bytes.
  template <typename T>
  T* allocate(std::size_t count) {
    static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T> && alignof(T) <= kAlignment);
    const std::size_t bytes = (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    if (bytes > kChunk - used_) next_chunk();
    std::byte* place = chunks_[chunk_].get() + used_;
    used_ += bytes;
    return reinterpret_cast<T*>(place);
  }

  // A copy of `value`.
  template <typename T>
  const T* keep(const T& value) {
    return new (allocate<T>(1)) T(value);
  }

  // Forgets everything that was allocated, and keeps the memory for what comes.
  void clear() {
    chunk_ = 0;
    used_ = chunks_.empty() ? kChunk : 0;
  }

  // Bytes held.
  std::size_t capacity() const { return chunks_.size() * kChunk; }

  static constexpr std::size_t kChunk = std::size_t{1} << 16;

 private:
  static constexpr std::size_t kAlignment = 16;

  void next_chunk() {
    if (!chunks_.empty()) ++chunk_;
    if (chunk_ == chunks_.size()) chunks_.push_back(std::unique_ptr<std::byte[]>(new std::byte[kChunk]));
    used_ = 0;
  }

  std::vector<std::unique_ptr<std::byte[]>> chunks_;
  std::size_t chunk_ = 0;
  std::size_t used_ = kChunk;
};

}  // namespace fastsql::grammar
