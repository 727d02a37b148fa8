#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <cstdint>
#include <memory>

#include "bindings/bindings.h"
#include "bindings/model_arrays.h"
#include "core/error.h"
#include "reranker/reranker_network.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

std::unique_ptr<RerankerNetwork> make(const py::dict& sizes, const py::dict& weights, std::size_t threads) {
  const auto size = [&sizes](const char* name) { return sizes[name].cast<std::size_t>(); };
  RerankerConfig config;
  config.pieces = size("pieces");
  config.symbols = py::len(sizes["symbols"]);
  config.hidden = size("hidden");
  config.heads = size("heads");
  config.ffn = size("ffn");
  config.layers = size("layers");
  config.max_tokens = size("max_tokens");
  const model::Weights views = weights_of(weights);
  const py::gil_scoped_release release;
  return std::make_unique<RerankerNetwork>(config, views, threads);
}

py::array_t<double> log_odds(const RerankerNetwork& network, const Numbers& ids, const Numbers& kinds, const Numbers& tables,
                             const Numbers& shared, const Numbers& lengths) {
  const std::size_t total = length_of("ids", ids);
  if (length_of("kinds", kinds) != total || length_of("tables", tables) != total || length_of("shared", shared) != total) {
    throw ModelError("ids, kinds, tables and shared are not of equally many tokens");
  }
  const RerankerRows rows{
      ids.data(), kinds.data(), tables.data(), shared.data(), total, lengths.data(), length_of("lengths", lengths)};
  py::array_t<double> result(static_cast<py::ssize_t>(rows.count));
  double* out = result.mutable_data();
  {
    const py::gil_scoped_release release;
    network.log_odds(rows, out);
  }
  return result;
}

}  // namespace

void bind_reranker(py::module_& module) {
  py::class_<RerankerNetwork>(module, "RerankerNetwork", "Whether a program is what a question asks for. Thread-safe.")
      .def(py::init(&make), py::arg("sizes"), py::arg("weights"), py::arg("threads"))
      .def("log_odds", &log_odds, py::arg("ids").noconvert(), py::arg("kinds").noconvert(), py::arg("tables").noconvert(),
           py::arg("shared").noconvert(), py::arg("lengths").noconvert());
}

}  // namespace fastsql::bindings
