// What Python gives to an engine and gets from it, whatever the device.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/engine.h"

namespace fastsql::bindings {

using Floats = pybind11::array_t<float, pybind11::array::c_style>;
using Ids = pybind11::array_t<std::int32_t, pybind11::array::c_style>;
using Indices = pybind11::array_t<std::int64_t, pybind11::array::c_style>;
using Bytes = pybind11::array_t<std::uint8_t, pybind11::array::c_style>;

// Texts of equal length. Throws ModelError unless ids have two axes.
TextGroup text_group(const Ids& ids);

// A fastsql.model.schema_inputs.SchemaInputs: its arrays, held as long as the views of them.
class SchemaArrays {
 public:
  // `text_means` and `value_means`, of this width, are from another encoder. Throws ModelError where shapes disagree.
  SchemaArrays(const pybind11::object& given, const std::optional<Floats>& text_means, const std::optional<Floats>& value_means,
               std::size_t hidden);
  const SchemaInputs& inputs() const { return inputs_; }

 private:
  std::vector<Ids> texts_, value_texts_;
  Indices item_text_, item_type_, column_table_, value_text_, value_column_;
  Bytes relations_;
  std::optional<Floats> text_means_, value_means_;
  SchemaInputs inputs_;
};

// A fastsql.model.turns.TurnInputs: its arrays, held as long as the views of them.
struct TurnArrays {
  // Of None, no turns.
  explicit TurnArrays(const pybind11::object& given);
  // Views of them, for a model of this width. Throws ModelError where shapes disagree.
  TurnInputs inputs(std::size_t d) const;

  std::optional<Floats> pooled;
  Indices features, entries;
};

// The arrays of a question.
struct QuestionArrays {
  Ids token_ids;
  Floats inside;
  Indices features;
  Bytes relations;
  std::optional<Floats> token_states;
  TurnArrays turns;

  // Views of them, for a schema of so many tables and columns and a model of these sizes. Throws ModelError where shapes disagree.
  QuestionInputs inputs(std::size_t items, const model::Config& config) const;
};

// A parse as a tuple: finished hypotheses, the best unfinished one's score, steps, mean state, pooled tokens, milliseconds.
pybind11::tuple parse_tuple(const Parse& parse);

}  // namespace fastsql::bindings
