#include "engine/engine.h"

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bindings/bindings.h"
#include "bindings/model_arrays.h"
#include "core/error.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

using Floats = py::array_t<float, py::array::c_style>;
using Ids = py::array_t<std::int32_t, py::array::c_style>;
using Indices = py::array_t<std::int64_t, py::array::c_style>;
using Bytes = py::array_t<std::uint8_t, py::array::c_style>;
using Shape = std::vector<std::size_t>;

// The data of an array that must have this shape.
template <typename T, int flags>
const T* data(const char* name, const py::array_t<T, flags>& array, const Shape& shape) {
  Shape found;
  for (py::ssize_t axis = 0; axis < array.ndim(); ++axis) found.push_back(static_cast<std::size_t>(array.shape(axis)));
  if (found == shape) return array.data();
  const auto text = [](const Shape& sizes) {
    std::string joined;
    for (const std::size_t size : sizes) joined += (joined.empty() ? "" : ", ") + std::to_string(size);
    return "[" + joined + "]";
  };
  throw ModelError(std::string(name) + " has shape " + text(found) + ", not " + text(shape));
}

std::size_t length(const char* name, const py::array& array) {
  if (array.ndim() >= 1) return static_cast<std::size_t>(array.shape(0));
  throw ModelError(std::string(name) + " has no axes");
}

RelationRows relation_rows(const Bytes& relations, std::size_t n) {
  return {data("relations", relations, {n, n}), n, n, n};
}

TextGroup text_group(const Ids& ids) {
  if (ids.ndim() != 2) throw ModelError("ids of texts have " + std::to_string(ids.ndim()) + " axes; they need 2");
  return {ids.data(), static_cast<std::size_t>(ids.shape(0)), static_cast<std::size_t>(ids.shape(1))};
}

template <typename T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

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

// `given` is a fastsql.model.schema_inputs.SchemaInputs. Its arrays are held as long as the views.
std::shared_ptr<const SchemaState> encode_schema(const Engine& engine, const py::object& given) {
  const auto texts = given.attr("texts").cast<std::vector<Ids>>();
  const auto value_texts = given.attr("value_texts").cast<std::vector<Ids>>();
  const auto item_text = given.attr("item_text").cast<Indices>();
  const auto item_type = given.attr("item_type").cast<Indices>();
  const auto column_table = given.attr("column_table").cast<Indices>();
  const auto value_text = given.attr("value_text").cast<Indices>();
  const auto value_column = given.attr("value_column").cast<Indices>();
  const auto relations = given.attr("relations").cast<Bytes>();

  SchemaInputs inputs;
  inputs.tables = given.attr("n_tables").cast<std::size_t>();
  inputs.columns = given.attr("n_columns").cast<std::size_t>();
  inputs.values = length("value_text", value_text);
  for (const Ids& group : texts) inputs.texts.push_back(text_group(group));
  for (const Ids& group : value_texts) inputs.value_texts.push_back(text_group(group));
  inputs.item_text = data("item_text", item_text, {inputs.items()});
  inputs.item_type = data("item_type", item_type, {inputs.items()});
  inputs.column_table = data("column_table", column_table, {inputs.columns});
  inputs.relations = relation_rows(relations, inputs.items());
  inputs.value_text = data("value_text", value_text, {inputs.values});
  inputs.value_column = data("value_column", value_column, {inputs.values});
  const py::gil_scoped_release release;
  return engine.encode_schema(inputs);
}

// What Python gives of a question; the arrays are held as long as the views.
struct Question {
  Ids token_ids;
  Floats inside;
  Indices features;
  Bytes relations;
  std::optional<Floats> token_states;

  QuestionInputs inputs(const Engine& engine, const SchemaState& schema) const {
    QuestionInputs inputs;
    inputs.tokens = length("token_ids", token_ids);
    inputs.candidates = length("inside", inside);
    inputs.token_ids = data("token_ids", token_ids, {inputs.tokens});
    inputs.inside = data("inside", inside, {inputs.candidates, inputs.tokens});
    inputs.features = data("features", features, {inputs.candidates, kCandidateFeatures});
    inputs.relations = relation_rows(relations, inputs.rows() + schema.n_items());
    if (token_states) {
      inputs.token_states = data("token_states", *token_states, {inputs.tokens, engine.config().encoder.hidden});
    }
    return inputs;
  }
};

py::tuple parse(const Engine& engine, const SchemaState& schema, const std::shared_ptr<grammar::ActionSpace>& space,
                const Ids& token_ids, const Floats& inside, const Indices& features, const Bytes& relations, std::size_t beam,
                const std::optional<Floats>& token_states) {
  const Question question{token_ids, inside, features, relations, token_states};
  const QuestionInputs inputs = question.inputs(engine, schema);
  Parse found;
  {
    const py::gil_scoped_release release;
    found = engine.parse(schema, inputs, space, beam);
  }
  py::list finished;
  for (const decode::Hypothesis& hypothesis : found.search.finished) {
    finished.append(
        py::make_tuple(array_of(hypothesis.actions), array_of(hypothesis.log_probabilities), array_of(hypothesis.path)));
  }
  const Milliseconds& times = found.milliseconds;
  return py::make_tuple(finished, found.search.unfinished, found.search.steps, array_of(found.mean_state),
                        py::make_tuple(times.encoder, times.graph, times.decode));
}

Floats graph_rows(const Engine& engine, const SchemaState& schema, const Ids& token_ids, const Floats& inside,
                  const Indices& features, const Bytes& relations, const std::optional<Floats>& token_states) {
  const Question question{token_ids, inside, features, relations, token_states};
  const QuestionInputs inputs = question.inputs(engine, schema);
  std::vector<float> rows;
  {
    const py::gil_scoped_release release;
    rows = engine.graph_rows(schema, inputs);
  }
  return array_of(rows).reshape({static_cast<py::ssize_t>(inputs.relations.rows), py::ssize_t{-1}});
}

}  // namespace

void bind_engine(py::module_& module) {
  py::class_<SchemaState, std::shared_ptr<SchemaState>>(module, "SchemaState", "What an engine knows of a schema.")
      .def_property_readonly("n_tables", [](const SchemaState& state) { return state.tables; })
      .def_property_readonly("n_columns", [](const SchemaState& state) { return state.columns; })
      .def_property_readonly("n_values", [](const SchemaState& state) { return state.values; })
      .def_property_readonly("nbytes", &SchemaState::bytes);
  py::class_<Engine>(module, "Engine", "Encoder, graph, decoder and search of one model. Thread-safe.")
      .def(py::init(&make), py::arg("sizes"), py::arg("weights"), py::arg("cls"), py::arg("sep"), py::arg("threads"))
      .def("encode_texts", &encode_texts, py::arg("ids"))
      .def("encode_schema", &encode_schema, py::arg("inputs"))
      .def("parse", &parse, py::arg("schema"), py::arg("space"), py::arg("token_ids"), py::arg("inside"), py::arg("features"),
           py::arg("relations"), py::arg("beam"), py::arg("token_states") = py::none())
      .def("graph_rows", &graph_rows, py::arg("schema"), py::arg("token_ids"), py::arg("inside"), py::arg("features"),
           py::arg("relations"), py::arg("token_states") = py::none());
}

}  // namespace fastsql::bindings
