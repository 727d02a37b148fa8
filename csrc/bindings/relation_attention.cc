#include "attention/relation_attention.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/bindings.h"
#include "core/error.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

// No other element type is converted silently (that would hide a float64 model).
using Floats = py::array_t<float, 0>;
using Dense = py::array_t<float, py::array::c_style>;
using Bytes = py::array_t<std::uint8_t, 0>;

void expect_axes(const char* name, const py::array& array, py::ssize_t axes) {
  if (array.ndim() == axes) return;
  throw ModelError(std::string("relation_attention: ") + name + " has " + std::to_string(array.ndim()) + " axes; it needs " +
                   std::to_string(axes));
}

// The array itself where vectors of its last axis are dense and the other axes go forwards, a dense copy otherwise.
template <typename T>
py::array_t<T, 0> readable(const py::array_t<T, 0>& array) {
  bool fits = array.strides(array.ndim() - 1) == static_cast<py::ssize_t>(sizeof(T));
  for (py::ssize_t axis = 0; axis + 1 < array.ndim(); ++axis) {
    fits = fits && array.strides(axis) >= 0 && array.strides(axis) % static_cast<py::ssize_t>(sizeof(T)) == 0;
  }
  return fits ? array : py::array_t<T, 0>(py::array_t<T, py::array::c_style>(array));
}

// What the core reads of an array, and the array that keeps it.
struct HeadArray {
  Floats kept;
  HeadRows<const float> view;

  HeadArray() = default;
  HeadArray(const char* name, const Floats& array) {
    expect_axes(name, array, 3);
    kept = readable(array);
    const auto stride = [this](int axis) { return static_cast<std::size_t>(kept.strides(axis)) / sizeof(float); };
    const auto shape = [this](int axis) { return static_cast<std::size_t>(kept.shape(axis)); };
    view = {kept.data(), shape(0), shape(1), shape(2), stride(0), stride(1)};
  }
};

Tensor<const float, 2> table(const char* name, const Dense& array) {
  expect_axes(name, array, 2);
  return {array.data(), {static_cast<std::size_t>(array.shape(0)), static_cast<std::size_t>(array.shape(1))}};
}

// Threads, and the memory of the calls that have ended.
class RelationAttention {
 public:
  RelationAttention(std::size_t threads, const std::optional<std::string>& instruction_set)
      : workers_(threads), set_(find(instruction_set)) {}

  py::tuple call(const Floats& query, const Floats& key, const Floats& value, const Dense& relation_key,
                 const Dense& relation_value, const Bytes& relations, const std::optional<Floats>& second_key,
                 const std::optional<Floats>& second_value, std::optional<float> scale) {
    const HeadArray queries("query", query), keys("key", key), values("value", value);
    const HeadArray more_keys = second_key ? HeadArray("second_key", *second_key) : HeadArray();
    const HeadArray more_values = second_value ? HeadArray("second_value", *second_value) : HeadArray();
    expect_axes("relations", relations, 2);
    const Bytes edges = readable(relations);

    const auto [data, heads, rows, head_size, head_stride, row_stride] = queries.view;
    const float usual = 1.0f / std::sqrt(static_cast<float>(std::max<std::size_t>(head_size, 1)));
    const RelationAttentionInput input{queries.view,
                                       {keys.view, values.view},
                                       {more_keys.view, more_values.view},
                                       table("relation_key", relation_key),
                                       table("relation_value", relation_value),
                                       {edges.data(), static_cast<std::size_t>(edges.shape(0)),
                                        static_cast<std::size_t>(edges.shape(1)), static_cast<std::size_t>(edges.strides(0))},
                                       scale.value_or(usual)};
    Dense mixed({heads, rows, head_size}), log_sum({heads, rows});
    const RelationAttentionOutput output{HeadRows<float>::heads_first(mixed.mutable_data(), heads, rows, head_size),
                                         log_sum.mutable_data()};
    {
      const py::gil_scoped_release release;
      std::vector<float> workspace = borrow();
      relation_attention(input, output, workspace, workers_, set_);
      give_back(std::move(workspace));
    }
    return py::make_tuple(mixed, log_sum);
  }

 private:
  static InstructionSet find(const std::optional<std::string>& wanted) {
    if (!wanted) return best_instruction_set();
    for (const InstructionSet set : available_instruction_sets()) {
      if (name(set) == *wanted) return set;
    }
    throw ModelError("this machine or this build has no " + *wanted + " kernels; see instruction_sets()");
  }

  std::vector<float> borrow() {
    const std::lock_guard lock(mutex_);
    if (idle_.empty()) return {};
    std::vector<float> workspace = std::move(idle_.back());
    idle_.pop_back();
    return workspace;
  }

  void give_back(std::vector<float> workspace) {
    const std::lock_guard lock(mutex_);
    idle_.push_back(std::move(workspace));
  }

  const Workers workers_;
  const InstructionSet set_;
  std::mutex mutex_;
  std::vector<std::vector<float>> idle_;
};

}  // namespace

void bind_relation_attention(py::module_& module) {
  py::class_<RelationAttention>(module, "RelationAttention",
                                "Factored relation-aware attention; see csrc/attention/relation_attention.h.")
      .def(py::init<std::size_t, const std::optional<std::string>&>(), py::kw_only(), py::arg("threads") = 1,
           py::arg("instruction_set") = py::none())
      .def("__call__", &RelationAttention::call, py::arg("query"), py::arg("key"), py::arg("value"), py::arg("relation_key"),
           py::arg("relation_value"), py::arg("relations"), py::kw_only(), py::arg("second_key") = py::none(),
           py::arg("second_value") = py::none(), py::arg("scale") = py::none());
}

}  // namespace fastsql::bindings
