// Views of what attention reads and writes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastsql {

// A vector of head_size floats for each head and row, in memory that somebody else owns. Strides are in floats.
template <typename T>
struct HeadRows {
  T* data = nullptr;
  std::size_t heads = 0, rows = 0, head_size = 0;
  std::size_t head_stride = 0, row_stride = 0;

  // An array [heads, rows, head_size].
  static HeadRows heads_first(T* data, std::size_t heads, std::size_t rows, std::size_t head_size) {
    return {data, heads, rows, head_size, rows * head_size, head_size};
  }

  // The heads beside each other in rows `row_stride` floats apart, such as one third of the rows of a projection to
  // queries, keys and values.
  static HeadRows heads_beside(T* data, std::size_t heads, std::size_t rows, std::size_t head_size, std::size_t row_stride) {
    return {data, heads, rows, head_size, head_size, row_stride};
  }
};

// Rows of relation ids, `row_stride` bytes apart: a larger matrix or a part of it.
struct RelationRows {
  const std::uint8_t* data = nullptr;
  std::size_t rows = 0, columns = 0, row_stride = 0;
};

}  // namespace fastsql
