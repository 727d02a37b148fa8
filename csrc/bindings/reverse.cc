#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/model_arrays.h"
#include "core/error.h"
#include "reverse/reverse_network.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

ReverseConfig reverse_config_of(const py::dict& sizes) {
  const auto size = [&sizes](const char* name) { return sizes[name].cast<std::size_t>(); };
  ReverseConfig config;
  config.pieces = size("pieces");
  config.symbols = py::len(sizes["symbols"]);
  config.words = size("words");
  config.d = size("d");
  config.heads = size("heads");
  config.ffn = size("ffn");
  config.encoder_layers = size("encoder_layers");
  config.decoder_layers = size("decoder_layers");
  config.max_tokens = size("max_tokens");
  config.outputs = sizes["outputs"].cast<std::vector<std::int32_t>>();
  config.start = sizes["start"].cast<std::int32_t>();
  return config;
}

std::unique_ptr<ReverseNetwork> make(const py::dict& sizes, const py::dict& weights, std::size_t threads) {
  const ReverseConfig config = reverse_config_of(sizes);
  const model::Weights views = weights_of(weights);
  const py::gil_scoped_release release;
  return std::make_unique<ReverseNetwork>(config, views, threads);
}

py::array_t<double> log_probability(const ReverseNetwork& network, const Numbers& ids, const Numbers& kinds,
                                    const Numbers& tables, const Numbers& lengths, const Numbers& pieces) {
  const std::size_t total = length_of("ids", ids), count = length_of("pieces", pieces);
  if (length_of("kinds", kinds) != total || length_of("tables", tables) != total) {
    throw ModelError("ids, kinds and tables are not of equally many tokens");
  }
  const ReverseSources sources{ids.data(), kinds.data(), tables.data(), total, lengths.data(), length_of("lengths", lengths)};
  py::array_t<double> result(static_cast<py::ssize_t>(sources.count));
  double* out = result.mutable_data();
  const std::int32_t* asked = pieces.data();
  {
    const py::gil_scoped_release release;
    network.log_probability(sources, asked, count, out);
  }
  return result;
}

}  // namespace

void bind_reverse(py::module_& module) {
  py::class_<ReverseNetwork>(module, "ReverseNetwork", "How likely a question is where a program is meant. Thread-safe.")
      .def(py::init(&make), py::arg("sizes"), py::arg("weights"), py::arg("threads"))
      .def("log_probability", &log_probability, py::arg("ids").noconvert(), py::arg("kinds").noconvert(),
           py::arg("tables").noconvert(), py::arg("lengths").noconvert(), py::arg("pieces").noconvert());
}

}  // namespace fastsql::bindings
