#include "model/embedding.h"

#include "core/error.h"

namespace fastsql::model {

Embedding::Embedding(const Weights& weights, const std::string& name, std::size_t rows, std::size_t width)
    : width_(width), rows_(rows) {
  const Matrix matrix = weights.matrix(name, rows_, width);
  if (matrix.quantised == nullptr) {
    values_.assign(matrix.values, matrix.values + rows_ * width);
  } else {
    quantised_.assign(matrix.quantised, matrix.quantised + rows_ * width);
    scale_.assign(matrix.scale, matrix.scale + rows_);
  }
}

void Embedding::add(std::size_t index, float* y) const {
  if (quantised_.empty()) {
    const float* row = values_.data() + index * width_;
    for (std::size_t i = 0; i < width_; ++i) y[i] += row[i];
  } else {
    const std::int8_t* row = quantised_.data() + index * width_;
    const float scale = scale_[index];
    for (std::size_t i = 0; i < width_; ++i) y[i] += static_cast<float>(row[i]) * scale;
  }
}

void Embedding::expect(const char* what, std::int64_t index) const {
  if (index >= 0 && static_cast<std::size_t>(index) < rows_) return;
  throw ModelError(std::string(what) + " is " + std::to_string(index) + "; the model knows " + std::to_string(rows_));
}

}  // namespace fastsql::model
