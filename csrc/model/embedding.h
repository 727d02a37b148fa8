// A table of vectors, kept as the bundle stores it: int8 with a scale for each, or float32.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "model/weights.h"

namespace fastsql::model {

class Embedding {
 public:
  // Copies the matrix `name` [rows, width]. Throws ModelError where it is missing or of another shape.
  Embedding(const Weights& weights, const std::string& name, std::size_t rows, std::size_t width);

  std::size_t rows() const { return rows_; }

  // y [width] += the vector of an index, which must be below rows().
  void add(std::size_t index, float* y) const;

  // Throws ModelError saying `what` where an index is not below rows().
  void expect(const char* what, std::int64_t index) const;

 private:
  std::size_t width_, rows_;
  std::vector<float> values_, scale_;
  std::vector<std::int8_t> quantised_;
};

}  // namespace fastsql::model
