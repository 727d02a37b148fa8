#include <pybind11/pybind11.h>

#include <string>

#include "bindings/bindings.h"
#include "core/instruction_set.h"

namespace py = pybind11;

namespace fastsql::bindings {

void bind_build(py::module_& module) {
  module.attr("__version__") = FASTSQL_VERSION;
  module.attr("compiler") = FASTSQL_COMPILER;
  module.def(
      "instruction_sets",
      [] {
        py::list names;
        for (const InstructionSet set : available_instruction_sets()) names.append(name(set));
        return py::tuple(names);
      },
      "Kernels that this build and this processor can run, slowest first; the last one is used.");
}

}  // namespace fastsql::bindings
