#pragma once

#include <pybind11/pybind11.h>

namespace fastsql::bindings {

void bind_cuda(pybind11::module_& module);

}  // namespace fastsql::bindings
