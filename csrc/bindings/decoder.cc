#include "decode/decoder.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/model_arrays.h"
#include "core/error.h"
#include "decode/beam_search.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

using grammar::Kind;
using Floats = py::array_t<float, py::array::c_style>;

std::size_t rows_of(const char* name, const Floats& array, std::size_t d) {
  if (array.ndim() == 2 && static_cast<std::size_t>(array.shape(1)) == d) return static_cast<std::size_t>(array.shape(0));
  throw ModelError(std::string(name) + " is no float32[n, " + std::to_string(d) + "]");
}

template <typename T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

// The nodes that the actions of a space point at.
NodeLayout nodes_of(const grammar::ActionSpace& space) {
  const auto count = [&](Kind kind) { return static_cast<std::size_t>(space.end(kind) - space.offset(kind)); };
  return {.tokens = count(Kind::kStart),
          .candidates = count(Kind::kCandidate),
          .turns = count(Kind::kTurn),
          .tables = count(Kind::kTable),
          .columns = count(Kind::kColumn)};
}

std::size_t values_of(const grammar::ActionSpace& space) {
  return static_cast<std::size_t>(space.end(Kind::kSchemaValue) - space.offset(Kind::kSchemaValue));
}

// How many things earlier turns offer.
std::size_t entries_of(const grammar::ActionSpace& space) {
  return static_cast<std::size_t>(space.end(Kind::kStep) - space.offset(Kind::kStep) - space.view().budget);
}

// All that a search needs beside the space, made from the graph's final rows.
decode::Search search(const decode::Decoder& decoder, std::shared_ptr<const grammar::ActionSpace> space, const float* question,
                      const float* items, const float* values, const float* entries, decode::Breadth breadth,
                      std::size_t threads) {
  decode::Memory memory;
  memory.nodes = nodes_of(*space);
  memory.schema_values = values_of(*space);
  memory.value_rows = values;
  memory.entries = entries_of(*space);
  memory.entry_rows = entries;
  std::vector<float> question_storage(decoder.keyed_size(memory.nodes.question()));
  std::vector<float> item_storage(decoder.keyed_size(memory.nodes.schema()));
  memory.question = decoder.read_rows(question, memory.nodes.question(), question_storage.data());
  memory.items = decoder.read_rows(items, memory.nodes.schema(), item_storage.data());
  return decode::beam_search(decoder, memory, std::move(space), breadth, Workers(threads));
}

py::tuple call(const decode::Decoder& decoder, const std::shared_ptr<grammar::ActionSpace>& space, const Floats& question,
               const Floats& items, const Floats& values, const Floats& entries, std::size_t beam, std::size_t threads,
               double patience) {
  const std::size_t d = decoder.config().d;
  const NodeLayout nodes = nodes_of(*space);
  if (rows_of("question", question, d) != nodes.question() || rows_of("items", items, d) != nodes.schema() ||
      rows_of("values", values, d) != values_of(*space) || rows_of("entries", entries, d) != entries_of(*space)) {
    throw ModelError("the graph's rows are not those of the action space");
  }
  decode::Search found;
  {
    const py::gil_scoped_release release;
    found = search(decoder, space, question.data(), items.data(), values.data(), entries.data(), {beam, patience}, threads);
  }
  py::list hypotheses;
  for (const decode::Hypothesis& hypothesis : found.finished) {
    hypotheses.append(py::make_tuple(array_of(hypothesis.actions), array_of(hypothesis.log_probabilities),
                                     array_of(hypothesis.path), array_of(hypothesis.kept)));
  }
  return py::make_tuple(hypotheses, found.unfinished, found.steps);
}

}  // namespace

void bind_decoder(py::module_& module) {
  py::class_<decode::Decoder>(module, "Decoder", "The action decoder on its own, as tests and benchmarks need it.")
      .def(py::init([](const py::dict& sizes, const py::dict& weights) {
             return std::make_unique<decode::Decoder>(config_of(sizes), weights_of(weights));
           }),
           py::arg("sizes"), py::arg("weights"))
      .def("search", &call, py::arg("space"), py::arg("question").noconvert(), py::arg("items").noconvert(),
           py::arg("values").noconvert(), py::arg("entries").noconvert(), py::kw_only(), py::arg("beam") = 4,
           py::arg("threads") = 1, py::arg("patience") = 0.0);
}

}  // namespace fastsql::bindings
