// The engine's part that is done for every question before the search. Mirrors Model.encode_question of
// python/fastsql/model/model.py.

#include <algorithm>
#include <chrono>
#include <string>

#include "core/error.h"
#include "engine/engine.h"

namespace fastsql {
namespace {

using Clock = std::chrono::steady_clock;

double milliseconds(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double, std::milli>(to - from).count();
}

// The block of a relation matrix whose first entry is [row, column].
RelationRows block(const RelationRows& relations, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns) {
  return {relations.data + row * relations.row_stride + column, rows, columns, relations.row_stride};
}

std::size_t place(grammar::Kind kind) { return static_cast<std::size_t>(kind); }

}  // namespace

// Afterwards the workspace's memory describes the question; it lives until the workspace is used again.
Milliseconds Engine::encode_question(const SchemaState& schema, const QuestionInputs& question, Workspace& workspace) const {
  check(schema, question);
  workspace.graph.scratch.clear();
  const auto start = Clock::now();
  float* rows = workspace.graph.scratch.take(question.rows() * config_.d);
  encode_tokens(question, rows, workspace);
  const auto encoded = Clock::now();
  mean_of_rows(rows, question.tokens, config_.d, workspace.pooled);
  candidate_states(question, rows);
  if (question.turns.turns > 0) {
    turns_->first_states(question.turns, rows + question.nodes().first(NodeKind::kTurn) * config_.d, workers_);
  }
  const float* items = run_graph(schema, question, rows, workspace);
  read_memory(schema, question, rows, items, workspace);
  return {milliseconds(start, encoded), milliseconds(encoded, Clock::now()), 0};
}

void Engine::check(const SchemaState& schema, const QuestionInputs& question) const {
  const std::size_t n = question.rows() + schema.n_items();
  if (question.relations.rows != n || question.relations.columns != n) {
    throw ModelError("a question of " + std::to_string(question.tokens) + " tokens, " + std::to_string(question.candidates) +
                     " candidates and " + std::to_string(question.turns.turns) + " earlier turns over " +
                     std::to_string(schema.n_items()) + " tables and columns has relations [" +
                     std::to_string(question.relations.rows) + ", " + std::to_string(question.relations.columns) + "]");
  }
  check_turns(question.turns, schema.n_items());
  for (std::size_t i = 0; i < question.candidates * kCandidateFeatures; ++i) {
    candidate_[i % kCandidateFeatures].expect("a candidate's feature", question.features[i]);
  }
}

void Engine::check_turns(const TurnInputs& turns, std::size_t items) const {
  if (turns.turns == 0 && turns.entries == 0) return;
  if (!turns_) throw ModelError("the model has no weights for earlier turns of a conversation");
  turns_->check(turns, items);
}

// Encoder states of the tokens, [Q, d], to the first rows.
void Engine::encode_tokens(const QuestionInputs& question, float* rows, Workspace& workspace) const {
  Scratch& scratch = workspace.graph.scratch;
  const Scratch::Scope scope(scratch);
  const float* states = question.token_states;
  if (states == nullptr) {
    const std::size_t hidden = config_.encoder.hidden, tokens = question.tokens + 2;
    workspace.ids.clear();
    workspace.ids.push_back(cls_);
    workspace.ids.insert(workspace.ids.end(), question.token_ids, question.token_ids + question.tokens);
    workspace.ids.push_back(sep_);
    float* all = scratch.take(tokens * hidden);
    encoder().encode(workspace.ids.data(), 1, tokens, all, scratch, workers_);
    states = all + hidden;
  }
  token_in_.apply(states, question.tokens, rows, Then::kStore, workers_);
}

// First states of the value candidates, [V, d], behind the tokens: the mean of their span, and what they are.
void Engine::candidate_states(const QuestionInputs& question, float* rows) const {
  const std::size_t d = config_.d;
  for (std::size_t candidate = 0; candidate < question.candidates; ++candidate) {
    float* row = rows + (question.nodes().first(NodeKind::kCandidate) + candidate) * d;
    std::fill_n(row, d, 0.0f);
    for (std::size_t token = 0; token < question.tokens; ++token) {
      const float weight = question.inside[candidate * question.tokens + token];
      if (weight == 0.0f) continue;
      for (std::size_t i = 0; i < d; ++i) row[i] += weight * rows[token * d + i];
    }
    for (std::size_t feature = 0; feature < kCandidateFeatures; ++feature) {
      candidate_[feature].add(static_cast<std::size_t>(question.features[candidate * kCandidateFeatures + feature]), row);
    }
  }
}

// Takes the question's rows [q, d] through all layers; returns the schema's [S, d].
const float* Engine::run_graph(const SchemaState& schema, const QuestionInputs& question, float* rows,
                               Workspace& workspace) const {
  GraphWorkspace& graph = workspace.graph;
  const std::size_t d = config_.d, q = question.rows(), n = schema.n_items();
  const RelationRows& relations = question.relations;
  const float* items = schema.items.data();
  float* query = graph.scratch.take(q * d);
  float* keys_values = graph.scratch.take(2 * q * d);
  for (std::size_t index = 0; index < graph_.size(); ++index) {
    const GraphLayer& layer = graph_[index];
    const bool joint = index >= config_.cached_layers;
    SchemaRows read;
    if (index < schema.layers.size()) {
      const SchemaLayer& cached = schema.layers[index];
      read = {items, {n, cached.query.data(), cached.keys_values.data()}, cached.mixed.data(), cached.log_sum.data()};
    } else {
      // A second joint layer sees schema rows that this question has changed.
      float* mixed = graph.scratch.take(n * d);
      float* log_sum = graph.scratch.take(config_.heads * n);
      read = {items, {}, mixed, log_sum};
      read.projected = layer.project(items, n, graph.scratch.take(n * d), graph.scratch.take(2 * n * d), graph.scratch, workers_);
      layer.read_schema(read.projected, block(relations, q, n, q, n), mixed, log_sum, graph, workers_);
    }
    const Projected projected = layer.project(rows, q, query, keys_values, graph.scratch, workers_);
    if (joint) {
      float* output = graph.scratch.take(n * d);
      layer.schema_with_question(read, projected, block(relations, q, n, 0, q), output, graph, workers_);
      items = output;
    }
    layer.question(rows, projected, read.projected, block(relations, 0, q, 0, q + n), graph, workers_);
  }
  return items;
}

// What the decoder reads: everything after the last norm.
void Engine::read_memory(const SchemaState& schema, const QuestionInputs& question, float* rows, const float* items,
                         Workspace& workspace) const {
  Scratch& scratch = workspace.graph.scratch;
  decode::Memory& memory = workspace.memory;
  const std::size_t d = config_.d, q = question.rows(), n = schema.n_items();
  memory.nodes = schema.nodes.with_question(question.tokens, question.candidates, question.turns.turns);
  memory.schema_values = schema.values;
  graph_norm_.apply(rows, q, rows);
  memory.question = decoder_.read_rows(rows, q, scratch.take(decoder_.keyed_size(q)), workers_);
  memory.value_rows = schema.value_states.data();
  memory.pointer_keys[place(grammar::Kind::kSchemaValue)] = schema.value_keys.data();
  if (config_.joint_layers == 0) {
    memory.items = schema.memory.items;
    memory.pointer_keys[place(grammar::Kind::kTable)] = schema.memory.table_keys.data();
    memory.pointer_keys[place(grammar::Kind::kColumn)] = schema.memory.column_keys.data();
  } else {
    float* normed = scratch.take(n * d);
    graph_norm_.apply(items, n, normed);
    memory.items = decoder_.read_rows(normed, n, scratch.take(decoder_.keyed_size(n)), workers_);
  }
  memory.entries = question.turns.entries;
  if (memory.entries > 0) {
    float* entries = scratch.take(memory.entries * d);
    turns_->entry_states(question.turns, rows + memory.nodes.first(NodeKind::kTurn) * d, memory.items.rows, entries);
    memory.entry_rows = entries;
  }
}

}  // namespace fastsql
