// What each binding file adds to the module. This layer only converts: no computation, no defaults of its own.
#pragma once

#include <pybind11/pybind11.h>

#include <exception>

namespace fastsql::bindings {

void bind_errors();
// The Python exception, not raised, for an error of the core.
pybind11::object python_error(const std::exception_ptr& thrown);
void bind_build(pybind11::module_& module);
void bind_numbering(pybind11::module_& module);
void bind_relation_attention(pybind11::module_& module);
void bind_automaton(pybind11::module_& module);
void bind_linking(pybind11::module_& module);
void bind_decoder(pybind11::module_& module);
void bind_engine(pybind11::module_& module);
void bind_reverse(pybind11::module_& module);
void bind_reranker(pybind11::module_& module);

}  // namespace fastsql::bindings
