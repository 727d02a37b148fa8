#include "attention/relation_attention.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <array>
#include <cstdint>
#include <string>

#include "bindings/bindings.h"
#include "core/error.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

// Strided arrays are copied; no other element type is converted silently (that would hide a float64 model).
using Floats = py::array_t<float, py::array::c_style>;
using Bytes = py::array_t<std::uint8_t, py::array::c_style>;

template <std::size_t rank, typename T, int flags>
Tensor<const T, rank> view(const char* name, const py::array_t<T, flags>& array) {
  if (array.ndim() != static_cast<py::ssize_t>(rank)) {
    throw ModelError(std::string("relation_attention: ") + name + " has " + std::to_string(array.ndim()) +
                     " axes; it needs " + std::to_string(rank));
  }
  Tensor<const T, rank> tensor{array.data(), {}};
  for (std::size_t axis = 0; axis < rank; ++axis) tensor.shape[axis] = static_cast<std::size_t>(array.shape(axis));
  return tensor;
}

Floats call(const Floats& query, const Floats& key, const Floats& value, const Floats& relation_key,
            const Floats& relation_value, const Bytes& relations) {
  const RelationAttentionInput input{view<3>("query", query),
                                     view<3>("key", key),
                                     view<3>("value", value),
                                     view<2>("relation_key", relation_key),
                                     view<2>("relation_value", relation_value),
                                     view<2>("relations", relations)};
  Floats output({query.shape(0), query.shape(1), query.shape(2)});
  const Tensor<float, 3> result{output.mutable_data(), input.query.shape};
  {
    const py::gil_scoped_release release;
    relation_attention(input, result);
  }
  return output;
}

}  // namespace

void bind_relation_attention(py::module_& module) {
  module.def("relation_attention", &call, py::arg("query"), py::arg("key"), py::arg("value"),
             py::arg("relation_key"), py::arg("relation_value"), py::arg("relations"),
             "Factored relation-aware attention; see csrc/attention/relation_attention.h.");
}

}  // namespace fastsql::bindings
