#include <pybind11/pybind11.h>

#include <exception>

#include "bindings/bindings.h"
#include "core/error.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

// Looked up when thrown: importing the native module must not depend on the order of imports in the package.
void raise(const char* python_class, const Error& error) {
  const py::object type = py::module_::import("fastsql.errors").attr(python_class);
  PyErr_SetString(type.ptr(), error.what());
}

}  // namespace

void bind_errors() {
  // pybind11 asks for a function that takes its argument by value.
  // NOLINTNEXTLINE(performance-unnecessary-value-param)
  py::register_local_exception_translator([](std::exception_ptr thrown) {
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const ModelError& error) {
      raise("ModelError", error);
    } catch (const LimitError& error) {
      raise("LimitError", error);
    } catch (const Error& error) {
      raise("FastSQLError", error);
    }
  });
}

}  // namespace fastsql::bindings
