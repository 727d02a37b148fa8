#include "bindings/engine_arrays.h"

#include <pybind11/stl.h>

#include "core/error.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

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

RelationRows relation_rows(const Bytes& relations, std::size_t n) { return {data("relations", relations, {n, n}), n, n, n}; }

template <typename T>
py::array_t<T> array_of(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

std::size_t texts_of(const std::vector<Ids>& groups) {
  std::size_t texts = 0;
  for (const Ids& group : groups) texts += length("a group of texts", group);
  return texts;
}

}  // namespace

TextGroup text_group(const Ids& ids) {
  if (ids.ndim() != 2) throw ModelError("ids of texts have " + std::to_string(ids.ndim()) + " axes; they need 2");
  return {ids.data(), static_cast<std::size_t>(ids.shape(0)), static_cast<std::size_t>(ids.shape(1))};
}

SchemaArrays::SchemaArrays(const py::object& given, const std::optional<Floats>& text_means,
                           const std::optional<Floats>& value_means, std::size_t hidden)
    : texts_(given.attr("texts").cast<std::vector<Ids>>()),
      value_texts_(given.attr("value_texts").cast<std::vector<Ids>>()),
      item_text_(given.attr("item_text").cast<Indices>()),
      item_type_(given.attr("item_type").cast<Indices>()),
      column_table_(given.attr("column_table").cast<Indices>()),
      value_text_(given.attr("value_text").cast<Indices>()),
      value_column_(given.attr("value_column").cast<Indices>()),
      relations_(given.attr("relations").cast<Bytes>()),
      text_means_(text_means),
      value_means_(value_means) {
  inputs_.nodes.tables = given.attr("n_tables").cast<std::size_t>();
  inputs_.nodes.columns = given.attr("n_columns").cast<std::size_t>();
  inputs_.values = length("value_text", value_text_);
  for (const Ids& group : texts_) inputs_.texts.push_back(text_group(group));
  for (const Ids& group : value_texts_) inputs_.value_texts.push_back(text_group(group));
  inputs_.item_text = data("item_text", item_text_, {inputs_.items()});
  inputs_.item_type = data("item_type", item_type_, {inputs_.items()});
  inputs_.column_table = data("column_table", column_table_, {inputs_.nodes.columns});
  inputs_.relations = relation_rows(relations_, inputs_.items());
  inputs_.value_text = data("value_text", value_text_, {inputs_.values});
  inputs_.value_column = data("value_column", value_column_, {inputs_.values});
  if (text_means_) inputs_.text_means = data("text_means", *text_means_, {texts_of(texts_), hidden});
  if (value_means_) inputs_.value_means = data("value_means", *value_means_, {texts_of(value_texts_), hidden});
}

TurnArrays::TurnArrays(const py::object& given) {
  if (given.is_none()) return;
  pooled = given.attr("pooled").cast<Floats>();
  features = given.attr("features").cast<Indices>();
  entries = given.attr("entries").cast<Indices>();
}

TurnInputs TurnArrays::inputs(std::size_t d) const {
  TurnInputs inputs;
  if (!pooled) return inputs;
  inputs.turns = length("pooled", *pooled);
  inputs.entries = length("entries", entries);
  inputs.pooled = data("pooled", *pooled, {inputs.turns, d});
  inputs.features = data("features of turns", features, {inputs.turns, kTurnFeatures});
  inputs.entry = data("entries", entries, {inputs.entries, kEntryNumbers});
  return inputs;
}

QuestionInputs QuestionArrays::inputs(std::size_t items, const model::Config& config) const {
  QuestionInputs inputs;
  inputs.turns = turns.inputs(config.d);
  inputs.tokens = length("token_ids", token_ids);
  inputs.candidates = length("inside", inside);
  inputs.token_ids = data("token_ids", token_ids, {inputs.tokens});
  inputs.inside = data("inside", inside, {inputs.candidates, inputs.tokens});
  inputs.features = data("features", features, {inputs.candidates, kCandidateFeatures});
  inputs.relations = relation_rows(relations, inputs.rows() + items);
  if (token_states) inputs.token_states = data("token_states", *token_states, {inputs.tokens, config.encoder.hidden});
  return inputs;
}

py::tuple parse_tuple(const Parse& parse) {
  py::list finished;
  for (const decode::Hypothesis& hypothesis : parse.search.finished) {
    finished.append(py::make_tuple(array_of(hypothesis.actions), array_of(hypothesis.log_probabilities),
                                   array_of(hypothesis.path), array_of(hypothesis.kept)));
  }
  const Milliseconds& times = parse.milliseconds;
  return py::make_tuple(finished, parse.search.unfinished, parse.search.steps, array_of(parse.mean_state), array_of(parse.pooled),
                        py::make_tuple(times.encoder, times.graph, times.decode));
}

}  // namespace fastsql::bindings
