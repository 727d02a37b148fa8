// One block of memory that holds several arrays, so that to copy them to a GPU is to copy one block.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <vector>

namespace fastsql::grammar {

class Image {
 public:
  static constexpr std::size_t kAlignment = 16;

  Image() = default;

  // An array to be held, and the pointer that is to lead to where it is held.
  template <typename T>
  struct Array {
    const std::vector<T>& from;
    const T*& held;
  };
  template <typename T>
  Array(const std::vector<T>&, const T*&) -> Array<T>;

  template <typename... T>
  explicit Image(const Array<T>&... arrays) : memory_((padded<T>(arrays.from.size()) + ...)) {
    std::size_t place = 0;
    (hold(arrays, place), ...);
  }

  std::size_t bytes() const { return memory_.size() * kAlignment; }
  const std::byte* start() const { return reinterpret_cast<const std::byte*>(memory_.data()); }

  // A view of this block's arrays, led to a copy of the block at `base`, which is not looked at.
  template <typename View>
  View rebased(View view, const std::byte* base) const {
    view.each_array([&](auto& pointer) {
      const std::ptrdiff_t place = reinterpret_cast<const std::byte*>(pointer) - start();
      pointer = reinterpret_cast<std::remove_reference_t<decltype(pointer)>>(base + place);
    });
    return view;
  }

 private:
  struct alignas(kAlignment) Unit {
    std::byte bytes[kAlignment];
  };

  template <typename T>
  static std::size_t padded(std::size_t count) {
    return (count * sizeof(T) + kAlignment - 1) / kAlignment;
  }

  template <typename T>
  void hold(const Array<T>& array, std::size_t& place) {
    static_assert(std::is_trivially_copyable_v<T> && alignof(T) <= kAlignment);
    void* start = memory_.data() + place;
    array.held = static_cast<const T*>(start);
    std::uninitialized_copy(array.from.begin(), array.from.end(), static_cast<T*>(start));
    place += padded<T>(array.from.size());
  }

  std::vector<Unit> memory_;
};

}  // namespace fastsql::grammar
