#include "engine/engine.h"

#include <pybind11/stl.h>

#include <algorithm>
#include <memory>

#include "bindings/bindings.h"
#include "bindings/engine_arrays.h"
#include "bindings/model_arrays.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

std::unique_ptr<Engine> make(const py::dict& sizes, const py::dict& weights, std::int32_t cls, std::int32_t sep,
                             std::size_t threads) {
  const model::Config config = config_of(sizes);
  const model::Weights views = weights_of(weights);
  const py::gil_scoped_release release;
  return std::make_unique<Engine>(config, views, cls, sep, threads);
}

Floats encode_texts(const Engine& engine, const Ids& ids) {
  const TextGroup group = text_group(ids);
  Floats states({group.texts, group.tokens, engine.config().encoder.hidden});
  float* out = states.mutable_data();
  const py::gil_scoped_release release;
  engine.encode_texts(group, out);
  return states;
}

std::shared_ptr<const SchemaState> encode_schema(const Engine& engine, const py::object& given,
                                                 const std::optional<Floats>& text_means,
                                                 const std::optional<Floats>& value_means) {
  const SchemaArrays arrays(given, text_means, value_means, engine.config().encoder.hidden);
  const py::gil_scoped_release release;
  return engine.encode_schema(arrays.inputs());
}

QuestionInputs inputs_of(const Engine& engine, const SchemaState& schema, const QuestionArrays& arrays) {
  return arrays.inputs(schema.n_items(), engine.config());
}

std::unique_ptr<Engine::Reading> read(const Engine& engine, const SchemaState& schema, const Ids& token_ids, const Floats& inside,
                                      const Indices& features, const Bytes& relations, const py::object& turns,
                                      const std::optional<Floats>& token_states) {
  const QuestionArrays arrays{token_ids, inside, features, relations, token_states, TurnArrays(turns)};
  const QuestionInputs inputs = inputs_of(engine, schema, arrays);
  const py::gil_scoped_release release;
  return std::make_unique<Engine::Reading>(engine, schema, inputs);
}

py::tuple search(const Engine& engine, const Engine::Reading& reading, const std::shared_ptr<grammar::ActionSpace>& space,
                 std::size_t beam, double patience) {
  Parse found;
  {
    const py::gil_scoped_release release;
    found = engine.search(reading, space, {beam, patience});
  }
  return parse_tuple(found);
}

Floats graph_rows(const Engine& engine, const SchemaState& schema, const Ids& token_ids, const Floats& inside,
                  const Indices& features, const Bytes& relations, const py::object& turns,
                  const std::optional<Floats>& token_states) {
  const QuestionArrays arrays{token_ids, inside, features, relations, token_states, TurnArrays(turns)};
  const QuestionInputs inputs = inputs_of(engine, schema, arrays);
  Floats rows({inputs.relations.rows, engine.config().d});
  float* out = rows.mutable_data();
  {
    const py::gil_scoped_release release;
    const std::vector<float> found = engine.graph_rows(schema, inputs);
    std::copy(found.begin(), found.end(), out);
  }
  return rows;
}

}  // namespace

void bind_engine(py::module_& module) {
  py::class_<SchemaState, std::shared_ptr<SchemaState>>(module, "SchemaState", "What an engine knows of a schema.")
      .def_property_readonly("n_tables", [](const SchemaState& state) { return state.nodes.tables; })
      .def_property_readonly("n_columns", [](const SchemaState& state) { return state.nodes.columns; })
      .def_property_readonly("n_values", [](const SchemaState& state) { return state.values; })
      .def_property_readonly("nbytes", &SchemaState::bytes);
  py::class_<Engine::Reading>(module, "Reading", "A question behind the encoder and the graph.");
  py::class_<Engine>(module, "Engine", "Encoder, graph, decoder and search of one model. Thread-safe.")
      .def(py::init(&make), py::arg("sizes"), py::arg("weights"), py::arg("cls"), py::arg("sep"), py::arg("threads"))
      .def("encode_texts", &encode_texts, py::arg("ids"))
      .def("encode_schema", &encode_schema, py::arg("inputs"), py::arg("text_means") = py::none(),
           py::arg("value_means") = py::none())
      .def("read", &read, py::arg("schema"), py::arg("token_ids"), py::arg("inside"), py::arg("features"), py::arg("relations"),
           py::arg("turns").none(true), py::arg("token_states") = py::none(), py::keep_alive<0, 1>(), py::keep_alive<0, 2>())
      .def("search", &search, py::arg("reading"), py::arg("space"), py::arg("beam"), py::arg("patience") = 0.0)
      .def("graph_rows", &graph_rows, py::arg("schema"), py::arg("token_ids"), py::arg("inside"), py::arg("features"),
           py::arg("relations"), py::arg("turns").none(true), py::arg("token_states") = py::none());
}

}  // namespace fastsql::bindings
