#include "allocations.h"

#include <atomic>
#include <cstdlib>
#include <new>

namespace {

std::atomic<std::size_t> count{0};

void* allocate(std::size_t size, std::size_t alignment = alignof(std::max_align_t)) noexcept {
  count.fetch_add(1, std::memory_order_relaxed);
  // aligned_alloc asks for a multiple of the alignment.
  const std::size_t padded = (size + alignment - 1) / alignment * alignment;
  return std::aligned_alloc(alignment, padded == 0 ? alignment : padded);
}

void* or_throw(void* place) {
  if (place == nullptr) throw std::bad_alloc();
  return place;
}

}  // namespace

std::size_t fastsql::test::allocations() { return count.load(std::memory_order_relaxed); }

// The forms for arrays end in these; a sanitizer has its own, which count nothing but match each other.
void* operator new(std::size_t size) { return or_throw(allocate(size)); }
void* operator new(std::size_t size, const std::nothrow_t&) noexcept { return allocate(size); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return or_throw(allocate(size, static_cast<std::size_t>(alignment)));
}
void* operator new(std::size_t size, std::align_val_t alignment, const std::nothrow_t&) noexcept {
  return allocate(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* place) noexcept { std::free(place); }
void operator delete(void* place, std::size_t) noexcept { std::free(place); }
void operator delete(void* place, std::align_val_t) noexcept { std::free(place); }
void operator delete(void* place, std::size_t, std::align_val_t) noexcept { std::free(place); }
