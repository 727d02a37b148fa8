#include "graph/graph_layer.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <functional>

#include "core/kernels.h"
#include "graph/merge_cpu.h"

namespace fastsql {
namespace {

// Rows that go through what follows attention together, at most: enough to use each weight that is fetched many times, few enough
// to stay in the second-level cache and to be shared evenly.
constexpr std::size_t kRowsAtOnce = 32;

LayerNorm norm_at(const model::Weights& weights, const std::string& name, std::size_t d, InstructionSet set) {
  return LayerNorm(weights.floats(name + ".weight", {d}), weights.floats(name + ".bias", {d}), 1e-5f, set);
}

// The output channels from `first` on of the map "<prefix>qkv".
Linear part_of_qkv(const model::Weights& weights, const std::string& prefix, std::size_t d, std::size_t first, std::size_t count,
                   InstructionSet set) {
  const std::vector<float> bias = weights.floats(prefix + "qkv.bias", {3 * d});
  return Linear(weights.matrix(prefix + "qkv.weight", 3 * d, d).rows(first, count), bias.data() + first, set);
}

}  // namespace

GraphLayer::GraphLayer(const model::Config& config, const model::Weights& weights, const std::string& prefix, InstructionSet set)
    : d_(config.d),
      heads_(config.heads),
      ffn_(config.ffn),
      set_(set),
      norm_(norm_at(weights, prefix + "norm", d_, set)),
      query_(part_of_qkv(weights, prefix, d_, 0, d_, set)),
      keys_values_(part_of_qkv(weights, prefix, d_, d_, 2 * d_, set)),
      relation_key_(weights.floats(prefix + "relation_key", {config.relations, config.head_size()})),
      relation_value_(weights.floats(prefix + "relation_value", {config.relations, config.head_size()})),
      out_(weights.linear(prefix + "out", d_, d_, set)),
      ffn_norm_(norm_at(weights, prefix + "ffn_norm", d_, set)),
      ffn_in_(weights.linear(prefix + "ffn_in", config.ffn, d_, set)),
      ffn_out_(weights.linear(prefix + "ffn_out", d_, config.ffn, set)) {}

Projected GraphLayer::project(const float* rows, std::size_t n, float* query, float* keys_values, Scratch& scratch,
                              const Workers& workers) const {
  const Scratch::Scope scope(scratch);
  float* normed = scratch.take(n * d_);
  norm_.apply(rows, n, normed);
  query_.apply(normed, n, query, Then::kStore, workers);
  keys_values_.apply(normed, n, keys_values, Then::kStore, workers);
  return {n, query, keys_values};
}

void GraphLayer::read_schema(const Projected& schema, RelationRows relations, float* mixed, float* log_sum,
                             GraphWorkspace& workspace, const Workers& workers) const {
  attend(schema, schema, {}, relations, mixed, log_sum, workspace, workers);
}

// Threads share the columns of a few rows, and the rows of many: a block of rows stays near its processor from the first map to
// the last one.
void GraphLayer::finish(const float* input, std::size_t n, const float* mixed, float* output, Scratch& scratch,
                        const Workers& workers) const {
  const Scratch::Scope scope(scratch);
  const std::size_t blocks = (n + kRowsAtOnce - 1) / kRowsAtOnce, own = std::min(n, kRowsAtOnce) * (d_ + ffn_);
  if (blocks <= 1) return finish_block(input, n, mixed, output, scratch.take(own), workers);
  const std::size_t threads = std::min(workers.threads(), blocks);
  float* memory = scratch.take(threads * own);
  std::atomic<std::size_t> next{0};
  const auto part = [&](std::size_t thread) {
    for (std::size_t block = next++; block < blocks; block = next++) {
      const std::size_t first = n * block / blocks, rows = n * (block + 1) / blocks - first;
      finish_block(input + first * d_, rows, mixed + first * d_, output + first * d_, memory + thread * own, Workers());
    }
  };
  workers.run(threads, std::cref(part));
}

// `memory` holds n * (d + ffn) floats.
void GraphLayer::finish_block(const float* input, std::size_t n, const float* mixed, float* output, float* memory,
                              const Workers& workers) const {
  float* normed = memory;
  float* inner = memory + n * d_;
  if (output != input) std::copy_n(input, n * d_, output);
  out_.apply(mixed, n, output, Then::kAdd, workers);
  ffn_norm_.apply(output, n, normed);
  ffn_in_.apply(normed, n, inner, Then::kRelu, workers);
  ffn_out_.apply_to_sparse(inner, n, output, Then::kAdd, workers);
}

void GraphLayer::question(float* rows, const Projected& question, const Projected& schema, RelationRows relations,
                          GraphWorkspace& workspace, const Workers& workers) const {
  if (question.n == 0) return;
  const Scratch::Scope scope(workspace.scratch);
  float* mixed = workspace.scratch.take(question.n * d_);
  attend(question, question, schema, relations, mixed, nullptr, workspace, workers);
  finish(rows, question.n, mixed, rows, workspace.scratch, workers);
}

void GraphLayer::schema_with_question(const SchemaRows& schema, const Projected& question, RelationRows relations, float* output,
                                      GraphWorkspace& workspace, const Workers& workers) const {
  const std::size_t n = schema.projected.n;
  if (question.n == 0) return finish(schema.rows, n, schema.mixed, output, workspace.scratch, workers);
  const Scratch::Scope scope(workspace.scratch);
  float* mixed = workspace.scratch.take(n * d_);
  float* log_sum = workspace.scratch.take(heads_ * n);
  attend(schema.projected, question, {}, relations, mixed, log_sum, workspace, workers);
  const auto merge = FASTSQL_KERNEL(merge_halves, set_);
  merge({schema.mixed, schema.log_sum}, {mixed, log_sum}, n, heads_, d_ / heads_, mixed);
  finish(schema.rows, n, mixed, output, workspace.scratch, workers);
}

KeysAndValues GraphLayer::keys_values_of(const Projected& projected) const {
  const auto half = [&](std::size_t offset) {
    const float* data = projected.keys_values == nullptr ? nullptr : projected.keys_values + offset;
    return HeadRows<const float>::heads_beside(data, heads_, projected.n, d_ / heads_, 2 * d_);
  };
  return {half(0), half(d_)};
}

void GraphLayer::attend(const Projected& rows, const Projected& first, const Projected& second, RelationRows relations,
                        float* mixed, float* log_sum, GraphWorkspace& workspace, const Workers& workers) const {
  const std::size_t head_size = d_ / heads_, count = relation_key_.size() / head_size;
  RelationAttentionInput input;
  input.query = HeadRows<const float>::heads_beside(rows.query, heads_, rows.n, head_size, d_);
  input.first = keys_values_of(first);
  input.second = keys_values_of(second);
  input.relation_key = {relation_key_.data(), {count, head_size}};
  input.relation_value = {relation_value_.data(), {count, head_size}};
  input.relations = relations;
  input.scale = 1.0f / std::sqrt(static_cast<float>(head_size));
  const RelationAttentionOutput output{HeadRows<float>::heads_beside(mixed, heads_, rows.n, head_size, d_), log_sum};
  relation_attention(input, output, workspace.attention, workers, set_);
}

}  // namespace fastsql
