// The engine's part that is done once a schema. Mirrors Model.encode_schema of python/fastsql/model/model.py.

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "engine/engine.h"

namespace fastsql {
namespace {

// Tokens that are encoded at once: enough to use each weight that is fetched many times, few enough to stay in the cache.
constexpr std::size_t kTokensAtOnce = 256;

void expect_below(const char* what, const std::int64_t* indices, std::size_t n, std::size_t end, std::int64_t least = 0) {
  for (std::size_t i = 0; i < n; ++i) {
    if (indices[i] >= least && indices[i] < static_cast<std::int64_t>(end)) continue;
    throw ModelError(std::string(what) + "[" + std::to_string(i) + "] is " + std::to_string(indices[i]) + "; there are " +
                     std::to_string(end));
  }
}

// to [n, width]: the rows of `from` that `indices` name.
void gather(const float* from, std::size_t width, const std::int64_t* indices, std::size_t n, float* to) {
  for (std::size_t row = 0; row < n; ++row) {
    std::copy_n(from + static_cast<std::size_t>(indices[row]) * width, width, to + row * width);
  }
}

void add_row(const float* from, std::size_t width, float* to) {
  for (std::size_t i = 0; i < width; ++i) to[i] += from[i];
}

std::size_t texts_of(const std::vector<TextGroup>& groups) {
  std::size_t texts = 0;
  for (const TextGroup& group : groups) texts += group.texts;
  return texts;
}

}  // namespace

std::shared_ptr<const SchemaState> Engine::encode_schema(const SchemaInputs& inputs) const {
  check(inputs);
  const auto lease = workspaces_.take();
  GraphWorkspace& workspace = lease->graph;
  workspace.scratch.clear();

  auto state = std::make_shared<SchemaState>();
  state->nodes = inputs.nodes;
  state->values = inputs.values;
  const std::size_t n = inputs.items();
  std::vector<float>& rows = state->items;
  rows = item_states(inputs, workspace.scratch);
  for (std::size_t index = 0; index < config_.cached_layers; ++index) {
    SchemaLayer layer = read_layer(graph_[index], rows, inputs.relations, workspace);
    graph_[index].finish(rows.data(), n, layer.mixed.data(), rows.data(), workspace.scratch, workers_);
    state->layers.push_back({std::move(layer.keys_values), {}, {}, {}});
  }
  if (config_.joint_layers > 0) {
    state->layers.push_back(read_layer(graph_[config_.cached_layers], rows, inputs.relations, workspace));
  } else {
    SchemaMemory& memory = state->memory;
    memory.rows.resize(n * config_.d);
    graph_norm_.apply(rows.data(), n, memory.rows.data());
    memory.keyed.resize(decoder_.keyed_size(n));
    memory.items = decoder_.read_rows(memory.rows.data(), n, memory.keyed.data(), workers_);
    memory.table_keys.resize(inputs.nodes.tables * config_.d);
    memory.column_keys.resize(inputs.nodes.columns * config_.d);
    decoder_.pointer_keys(grammar::Kind::kTable, memory.rows.data(), inputs.nodes.tables, memory.table_keys.data(), workers_);
    decoder_.pointer_keys(grammar::Kind::kColumn, memory.rows.data() + inputs.nodes.first(NodeKind::kColumn) * config_.d,
                          inputs.nodes.columns, memory.column_keys.data(), workers_);
  }
  state->value_states = value_states(inputs, rows, workspace.scratch);
  state->value_keys.resize(state->value_states.size());
  if (inputs.values > 0)
    decoder_.pointer_keys(grammar::Kind::kSchemaValue, state->value_states.data(), inputs.values, state->value_keys.data(),
                          workers_);
  return state;
}

void Engine::check(const SchemaInputs& inputs) const {
  if (inputs.nodes.tables == 0) throw ModelError("a schema without tables cannot be encoded");
  const std::size_t n = inputs.items();
  expect_below("item_text", inputs.item_text, n, texts_of(inputs.texts));
  expect_below("item_type", inputs.item_type, n, item_type_.rows());
  expect_below("column_table", inputs.column_table, inputs.nodes.columns, inputs.nodes.tables);
  expect_below("value_text", inputs.value_text, inputs.values, texts_of(inputs.value_texts));
  expect_below("value_column", inputs.value_column, inputs.values, inputs.nodes.columns, -1);
  if (inputs.relations.rows != n || inputs.relations.columns != n) {
    throw ModelError("a schema of " + std::to_string(n) + " tables and columns has relations [" +
                     std::to_string(inputs.relations.rows) + ", " + std::to_string(inputs.relations.columns) + "]");
  }
}

// The mean state of every text of all groups, [texts, hidden]: those given, or the native encoder's.
std::vector<float> Engine::mean_states(const std::vector<TextGroup>& groups, const float* given, Scratch& scratch) const {
  const std::size_t hidden = config_.encoder.hidden, size = texts_of(groups) * hidden;
  if (given != nullptr) return std::vector<float>(given, given + size);
  std::vector<float> means(size, 0.0f);
  float* mean = means.data();
  for (const TextGroup& group : groups) {
    const std::size_t at_once = std::max<std::size_t>(1, kTokensAtOnce / std::max<std::size_t>(1, group.tokens));
    for (std::size_t first = 0; first < group.texts; first += at_once) {
      const Scratch::Scope scope(scratch);
      const std::size_t count = std::min(at_once, group.texts - first);
      float* states = scratch.take(count * group.tokens * hidden);
      encoder().encode(group.ids + first * group.tokens, count, group.tokens, states, scratch, workers_);
      for (std::size_t text = 0; text < count; ++text, mean += hidden) {
        for (std::size_t token = 0; token < group.tokens; ++token) {
          add_row(states + (text * group.tokens + token) * hidden, hidden, mean);
        }
        for (std::size_t i = 0; i < hidden; ++i) mean[i] /= static_cast<float>(group.tokens);
      }
    }
  }
  return means;
}

// First states of tables and columns, [S, d]; a column's also says whose it is, as labels repeat.
std::vector<float> Engine::item_states(const SchemaInputs& inputs, Scratch& scratch) const {
  const std::size_t n = inputs.items(), d = config_.d, hidden = config_.encoder.hidden;
  const std::vector<float> means = mean_states(inputs.texts, inputs.text_means, scratch);
  const Scratch::Scope scope(scratch);
  float* texts = scratch.take(n * hidden);
  gather(means.data(), hidden, inputs.item_text, n, texts);
  float* owners = scratch.take(inputs.nodes.tables * d);
  owner_in_.apply(texts, inputs.nodes.tables, owners, Then::kStore, workers_);

  std::vector<float> items(n * d);
  item_in_.apply(texts, n, items.data(), Then::kStore, workers_);
  for (std::size_t item = 0; item < n; ++item) {
    item_type_.add(static_cast<std::size_t>(inputs.item_type[item]), items.data() + item * d);
  }
  for (std::size_t column = 0; column < inputs.nodes.columns; ++column) {
    const auto table = static_cast<std::size_t>(inputs.column_table[column]);
    add_row(owners + table * d, d, items.data() + (inputs.nodes.first(NodeKind::kColumn) + column) * d);
  }
  return items;
}

// States of the schema values, [W, d], from their text and the cached state of their column.
std::vector<float> Engine::value_states(const SchemaInputs& inputs, const std::vector<float>& items, Scratch& scratch) const {
  const std::size_t n = inputs.values, d = config_.d, hidden = config_.encoder.hidden;
  std::vector<float> states(n * d);
  if (n == 0) return states;
  const std::vector<float> means = mean_states(inputs.value_texts, inputs.value_means, scratch);
  const Scratch::Scope scope(scratch);
  float* texts = scratch.take(n * hidden);
  gather(means.data(), hidden, inputs.value_text, n, texts);
  value_in_.apply(texts, n, states.data(), Then::kStore, workers_);
  for (std::size_t value = 0; value < n; ++value) {
    if (inputs.value_column[value] < 0) continue;
    const std::size_t item = inputs.nodes.first(NodeKind::kColumn) + static_cast<std::size_t>(inputs.value_column[value]);
    add_row(items.data() + item * d, d, states.data() + value * d);
  }
  value_norm_.apply(states.data(), n, states.data());
  return states;
}

SchemaLayer Engine::read_layer(const GraphLayer& layer, const std::vector<float>& rows, RelationRows relations,
                               GraphWorkspace& workspace) const {
  const std::size_t d = config_.d, n = rows.size() / d;
  SchemaLayer read;
  read.query.resize(n * d);
  read.keys_values.resize(2 * n * d);
  read.mixed.resize(n * d);
  read.log_sum.resize(config_.heads * n);
  const Projected projected =
      layer.project(rows.data(), n, read.query.data(), read.keys_values.data(), workspace.scratch, workers_);
  layer.read_schema(projected, relations, read.mixed.data(), read.log_sum.data(), workspace, workers_);
  return read;
}

}  // namespace fastsql
