// fastsql._core: the native core as a Python module. Each part of the core has its own binding file.
#include <pybind11/pybind11.h>

#include "bindings/bindings.h"
#ifdef FASTSQL_HAS_CUDA
#include "bindings/cuda.h"
#endif

PYBIND11_MODULE(_core, module, pybind11::mod_gil_not_used()) {
  module.doc() = "Native kernels of fastsql.";
  fastsql::bindings::bind_errors();
  fastsql::bindings::bind_build(module);
  fastsql::bindings::bind_numbering(module);
  fastsql::bindings::bind_relation_attention(module);
  fastsql::bindings::bind_automaton(module);
  fastsql::bindings::bind_linking(module);
  fastsql::bindings::bind_decoder(module);
  fastsql::bindings::bind_engine(module);
  fastsql::bindings::bind_reverse(module);
  fastsql::bindings::bind_reranker(module);
#ifdef FASTSQL_HAS_CUDA
  fastsql::bindings::bind_cuda(module);
#endif
}
