#include "bindings/model_arrays.h"

#include <pybind11/numpy.h>

#include <cstdint>
#include <string>

#include "core/error.h"

namespace py = pybind11;

namespace fastsql::bindings {

model::Config config_of(const py::dict& sizes) {
  const auto size = [](const py::dict& from, const char* name) { return from[name].cast<std::size_t>(); };
  const auto encoder = sizes["encoder"].cast<py::dict>();
  model::Config config;
  config.productions = size(sizes, "n_productions");
  config.symbols = size(sizes, "n_symbols");
  config.d = size(sizes, "d");
  config.heads = size(sizes, "heads");
  config.ffn = size(sizes, "ffn");
  config.cached_layers = size(sizes, "cached_layers");
  config.joint_layers = size(sizes, "joint_layers");
  config.decoder_layers = size(sizes, "decoder_layers");
  config.relations = size(sizes, "relations");
  config.max_steps = size(sizes, "max_steps");
  config.turns = sizes.contains("turns") && sizes["turns"].cast<bool>();
  config.encoder = {size(encoder, "hidden"), size(encoder, "layers"),     size(encoder, "heads"),
                    size(encoder, "ffn"),    size(encoder, "vocabulary"), size(encoder, "positions")};
  return config;
}

model::Weights weights_of(const py::dict& arrays) {
  model::Weights weights;
  for (const auto& [key, value] : arrays) {
    const auto name = key.cast<std::string>();
    const auto array = py::cast<py::array>(value);
    if (!(array.flags() & py::array::c_style)) throw ModelError("weight '" + name + "' is not contiguous");
    model::Stored stored;
    for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) stored.shape.push_back(static_cast<std::size_t>(array.shape(axis)));
    if (py::isinstance<py::array_t<float>>(array)) {
      stored.values = static_cast<const float*>(array.data());
    } else if (py::isinstance<py::array_t<std::int8_t>>(array)) {
      stored.quantised = static_cast<const std::int8_t*>(array.data());
    } else {
      throw ModelError("weight '" + name + "' is neither float32 nor int8");
    }
    weights.add(name, stored);
  }
  return weights;
}

std::size_t length_of(const char* name, const Numbers& array) {
  if (array.ndim() == 1) return static_cast<std::size_t>(array.size());
  throw ModelError(std::string(name) + " has " + std::to_string(array.ndim()) + " axes; it needs 1");
}

}  // namespace fastsql::bindings
