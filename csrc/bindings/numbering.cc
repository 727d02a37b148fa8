// How the core numbers things, by the names that Python calls them: for the test that compares the two.
#include "grammar/numbering.h"

#include <pybind11/pybind11.h>

#include <cstddef>

#include "bindings/bindings.h"
#include "decode/pointing.h"
#include "engine/inputs.h"
#include "grammar/grammar.h"
#include "linking/nodes.h"
#include "reverse/reverse_network.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

template <std::size_t count>
py::tuple names(const char* const (&listed)[count]) {
  py::tuple found(count);
  for (std::size_t number = 0; number < count; ++number) found[number] = py::str(listed[number]);
  return found;
}

NodeLayout layout(std::size_t tokens, std::size_t candidates, std::size_t turns, std::size_t tables, std::size_t columns) {
  return {.tokens = tokens, .candidates = candidates, .turns = turns, .tables = tables, .columns = columns};
}

// The nodes of each kind, by name; of the question, and of the schema.
py::dict nodes(std::size_t tokens, std::size_t candidates, std::size_t turns, std::size_t tables, std::size_t columns) {
  const NodeLayout all = layout(tokens, candidates, turns, tables, columns);
  py::dict found;
  for (std::size_t kind = 0; kind < kNodeKinds; ++kind) {
    const RowRange rows = all.of(static_cast<NodeKind>(kind));
    found[kNodeNames[kind]] = py::make_tuple(rows.first, rows.count);
  }
  found["question"] = py::make_tuple(std::size_t{0}, all.question());
  found["schema"] = py::make_tuple(all.question(), all.schema());
  return found;
}

// First row and number of rows that actions of each kind point at, by name.
py::dict pointed_rows(std::size_t tokens, std::size_t candidates, std::size_t turns, std::size_t tables, std::size_t columns,
                      std::size_t values) {
  const NodeLayout all = layout(tokens, candidates, turns, tables, columns);
  py::dict found;
  for (std::size_t kind = 0; kind < grammar::kKinds; ++kind) {
    const RowRange rows = decode::pointed_rows(static_cast<grammar::Kind>(kind), all, values);
    found[grammar::kKindNames[kind]] = py::make_tuple(rows.first, rows.count);
  }
  return found;
}

// The pointers that actions of each kind may stand for, by name.
py::dict pointers_of() {
  py::dict found;
  for (std::size_t kind = 0; kind < grammar::kKinds; ++kind) {
    py::list pointers;
    for (const grammar::Pointer pointer : grammar::pointers_of(static_cast<grammar::Kind>(kind))) {
      pointers.append(grammar::kPointerNames[static_cast<std::size_t>(pointer)]);
    }
    found[grammar::kKindNames[kind]] = py::tuple(pointers);
  }
  return found;
}

}  // namespace

void bind_numbering(py::module_& module) {
  py::module_ numbering = module.def_submodule("numbering", "How the native core numbers things.");
  numbering.attr("kinds") = names(grammar::kKindNames);
  numbering.attr("weight_names") = names(grammar::kWeightNames);
  numbering.attr("pointers") = names(grammar::kPointerNames);
  numbering.attr("effects") = names(grammar::kEffectNames);
  numbering.attr("requirements") = names(grammar::requirement::kNames);
  numbering.attr("type_classes") = names(grammar::kTypeClassNames);
  numbering.attr("candidate_kinds") = names(grammar::kCandidateNames);
  numbering.attr("node_kinds") = names(kNodeNames);
  numbering.attr("symbol_roles") = names(grammar::symbol_role::kNames);
  numbering.attr("production_roles") = names(grammar::production_role::kNames);
  numbering.attr("turn_weights") = names(kTurnEmbeddings);
  numbering.attr("entry_weights") = names(kEntryEmbeddings);
  numbering.attr("candidate_features") = kCandidateFeatures;
  numbering.attr("no_action") = grammar::kNoAction;
  numbering.attr("program_symbol") = kSymbol;
  numbering.attr("pointers_of") = pointers_of();
  numbering.def("nodes", &nodes, py::arg("tokens"), py::arg("candidates"), py::arg("turns"), py::arg("tables"),
                py::arg("columns"));
  numbering.def("pointed_rows", &pointed_rows, py::arg("tokens"), py::arg("candidates"), py::arg("turns"), py::arg("tables"),
                py::arg("columns"), py::arg("values"));
}

}  // namespace fastsql::bindings
