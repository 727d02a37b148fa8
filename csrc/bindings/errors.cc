#include <pybind11/pybind11.h>

#include <exception>

#include "bindings/bindings.h"
#include "core/error.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

// The Python class of the same name. Looked up when needed: importing the native module must not depend on the order of imports in
// the package.
py::object class_of(const Error& error) {
  const char* name = "FastSQLError";
  if (dynamic_cast<const ModelError*>(&error) != nullptr) name = "ModelError";
  if (dynamic_cast<const LimitError*>(&error) != nullptr) name = "LimitError";
  return py::module_::import("fastsql.errors").attr(name);
}

}  // namespace

py::object python_error(const std::exception_ptr& thrown) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    return class_of(error)(error.what());
  }
}

void bind_errors() {
  // pybind11 asks for a function that takes its argument by value.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      PyErr_SetString(class_of(error).ptr(), error.what());
    }
  });
}

}  // namespace fastsql::bindings
