// How the core numbers things, by the names that Python calls them: for the test that compares the two.
#include "grammar/numbering.h"

#include <pybind11/pybind11.h>

#include <cstddef>

#include "bindings/bindings.h"
#include "decode/pointing.h"
#include "engine/inputs.h"
#include "linking/nodes.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

template <std::size_t count>
py::tuple names(const char* const (&listed)[count]) {
  py::tuple found(count);
  for (std::size_t number = 0; number < count; ++number) found[number] = py::str(listed[number]);
  return found;
}

// First row and number of rows that actions of each kind point at.
py::tuple pointed_rows(std::size_t tokens, std::size_t candidates, std::size_t turns, std::size_t tables, std::size_t columns,
                       std::size_t values) {
  const NodeLayout nodes{tokens, candidates, tables, columns, turns};
  py::tuple found(grammar::kKinds);
  for (std::size_t kind = 0; kind < grammar::kKinds; ++kind) {
    const RowRange rows = decode::pointed_rows(static_cast<grammar::Kind>(kind), nodes, values);
    found[kind] = py::make_tuple(rows.first, rows.count);
  }
  return found;
}

}  // namespace

void bind_numbering(py::module_& module) {
  py::module_ numbering = module.def_submodule("numbering", "How the native core numbers things.");
  numbering.attr("kinds") = names(grammar::kWeightNames);
  numbering.attr("pointers") = names(grammar::kPointerNames);
  numbering.attr("effects") = names(grammar::kEffectNames);
  numbering.attr("requirements") = names(grammar::requirement::kNames);
  numbering.attr("type_classes") = names(grammar::kTypeClassNames);
  numbering.attr("candidate_kinds") = names(grammar::kCandidateNames);
  numbering.attr("nodes") = names(kNodeNames);
  numbering.attr("symbol_roles") = grammar::symbol_role::kAll;
  numbering.attr("production_roles") = grammar::production_role::kAll;
  numbering.attr("candidate_features") = kCandidateFeatures;
  numbering.attr("no_action") = grammar::kNoAction;
  numbering.def("pointed_rows", &pointed_rows, py::arg("tokens"), py::arg("candidates"), py::arg("turns"), py::arg("tables"),
                py::arg("columns"), py::arg("values"));
}

}  // namespace fastsql::bindings
