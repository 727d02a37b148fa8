#include "model/weights.h"

#include <utility>

#include "core/error.h"
#include "core/tensor.h"

namespace fastsql::model {
namespace {

std::string shape_text(const std::vector<std::size_t>& shape) {
  std::string text = "[";
  for (std::size_t axis = 0; axis < shape.size(); ++axis) text += (axis ? ", " : "") + std::to_string(shape[axis]);
  return text + "]";
}

}  // namespace

const Stored& Weights::at(const std::string& name) const {
  const auto found = tensors_.find(name);
  if (found == tensors_.end()) throw ModelError("weight '" + name + "' is missing");
  return found->second;
}

const Stored& Weights::at(const std::string& name, const std::vector<std::size_t>& shape) const {
  const Stored& stored = at(name);
  if (stored.shape == shape) return stored;
  throw ModelError("weight '" + name + "' has shape " + shape_text(stored.shape) + ", not " + shape_text(shape));
}

std::size_t Weights::rows(const std::string& name) const {
  const Stored& stored = at(name);
  if (!stored.shape.empty()) return stored.shape.front();
  throw ModelError("weight '" + name + "' has no axes");
}

const float* Weights::float_values(const std::string& name, const std::vector<std::size_t>& shape) const {
  const Stored& stored = at(name, shape);
  if (stored.values == nullptr) throw ModelError("weight '" + name + "' is not float32");
  return stored.values;
}

Matrix Weights::matrix(const std::string& name, std::size_t out, std::size_t in) const {
  const Stored& stored = at(name, {out, in});
  Matrix matrix{out, in, stored.values, stored.quantised, nullptr};
  if (stored.quantised != nullptr) matrix.scale = float_values(name + ".scale", {out});
  return matrix;
}

Linear Weights::linear(const std::string& name, std::size_t out, std::size_t in, InstructionSet set) const {
  const std::string bias = name + ".bias";
  return Linear(matrix(name + ".weight", out, in), has(bias) ? float_values(bias, {out}) : nullptr, set);
}

std::vector<float> Weights::floats(const std::string& name, const std::vector<std::size_t>& shape) const {
  std::size_t size = 1;
  for (const std::size_t axis : shape) size *= axis;
  const Stored& stored = at(name, shape);
  if (stored.quantised == nullptr) return std::vector<float>(stored.values, stored.values + size);
  const float* scale = float_values(name + ".scale", {shape.front()});
  const std::size_t width = size / shape.front();
  std::vector<float> result(size);
  for (std::size_t index = 0; index < size; ++index) {
    result[index] = static_cast<float>(stored.quantised[index]) * scale[index / width];
  }
  return result;
}

}  // namespace fastsql::model
