#include "reranker/reranker_network.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "attention/row_attention.h"
#include "core/error.h"

namespace fastsql {
namespace {

constexpr float kEpsilon = 1e-12f;
constexpr std::size_t kLargestSize = std::size_t{1} << 16;
// Tokens that go through the network together, where one row has not more: memory does not grow with the number of programs.
constexpr std::size_t kTokensAtOnce = 1024;

[[noreturn]] void wrong(const std::string& what) { throw ModelError("the reranker's sizes cannot be: " + what); }

const RerankerConfig& checked(const RerankerConfig& config) {
  for (const std::size_t size :
       {config.pieces, config.symbols, config.hidden, config.heads, config.ffn, config.layers, config.max_tokens}) {
    if (size == 0 || size > kLargestSize) wrong(std::to_string(size) + " is none from 1 to " + std::to_string(kLargestSize));
  }
  if (config.hidden % config.heads != 0) {
    wrong("hidden = " + std::to_string(config.hidden) + " is not a multiple of the " + std::to_string(config.heads) + " heads");
  }
  return config;
}

LayerNorm norm_at(const model::Weights& weights, const std::string& name, std::size_t width, InstructionSet set) {
  return LayerNorm(weights.floats(name + ".weight", {width}), weights.floats(name + ".bias", {width}), kEpsilon, set);
}

}  // namespace

RerankerNetwork::RerankerNetwork(const RerankerConfig& config, const model::Weights& weights, std::size_t threads,
                                 InstructionSet set)
    : config_(checked(config)),
      set_(set),
      workers_(threads),
      words_(weights, "words.weight", config.pieces, config.hidden),
      symbols_(weights, "symbols.weight", config.symbols, config.hidden),
      positions_(weights, "positions.weight", config.max_tokens, config.hidden),
      kinds_(weights, "kinds.weight", weights.rows("kinds.weight"), config.hidden),
      tables_(weights, "tables.weight", weights.rows("tables.weight"), config.hidden),
      shared_(weights, "shared.weight", 2, config.hidden),
      norm_(norm_at(weights, "norm", config.hidden, set)),
      hidden_(weights.linear("output.hidden", config.hidden, config.hidden, set)),
      log_odds_(weights.linear("output.log_odds", 1, config.hidden, set)) {
  const std::size_t hidden = config.hidden;
  for (std::size_t number = 0; number < config.layers; ++number) {
    const std::string layer = "layers." + std::to_string(number) + ".";
    layers_.push_back(
        {weights.linear(layer + "qkv", 3 * hidden, hidden, set), weights.linear(layer + "out", hidden, hidden, set),
         norm_at(weights, layer + "attention_norm", hidden, set), weights.linear(layer + "ffn_in", config.ffn, hidden, set),
         weights.linear(layer + "ffn_out", hidden, config.ffn, set), norm_at(weights, layer + "ffn_norm", hidden, set)});
  }
}

void RerankerNetwork::log_odds(const RerankerRows& rows, double* result) const {
  check(rows);
  const auto workspace = workspaces_.take();
  std::size_t token = 0;
  for (std::size_t row = 0; row < rows.count;) {
    // As many rows as go through the network together, but one at least.
    RerankerRows part{rows.ids + token, rows.kinds + token, rows.tables + token, rows.shared + token, 0, rows.lengths + row, 0};
    for (; row + part.count < rows.count; ++part.count) {
      const auto tokens = static_cast<std::size_t>(part.lengths[part.count]);
      if (part.count > 0 && part.total + tokens > kTokensAtOnce) break;
      part.total += tokens;
    }
    score(part, *workspace, result + row);
    row += part.count;
    token += part.total;
  }
}

void RerankerNetwork::check(const RerankerRows& rows) const {
  std::size_t total = 0;
  for (std::size_t i = 0; i < rows.count; ++i) {
    const std::int64_t tokens = rows.lengths[i];
    if (tokens < 1) throw ModelError("a row has " + std::to_string(tokens) + " tokens; it needs one at least");
    if (static_cast<std::uint64_t>(tokens) > config_.max_tokens) {
      throw LimitError("a question and a program have " + std::to_string(tokens) + " tokens, more than the " +
                       std::to_string(config_.max_tokens) + " that the reranker reads");
    }
    total += static_cast<std::size_t>(tokens);
  }
  if (total != rows.total) {
    throw ModelError("rows of " + std::to_string(total) + " tokens in all were given with " + std::to_string(rows.total));
  }
  const std::size_t ids = config_.pieces + config_.symbols;
  for (std::size_t i = 0; i < total; ++i) {
    if (rows.ids[i] < 0 || static_cast<std::size_t>(rows.ids[i]) >= ids) {
      throw ModelError("a token's id is " + std::to_string(rows.ids[i]) + "; the model knows " + std::to_string(ids));
    }
    kinds_.expect("a token's kind", rows.kinds[i]);
    tables_.expect("a token's table", rows.tables[i]);
    shared_.expect("whether a token is shared", rows.shared[i]);
  }
}

void RerankerNetwork::score(const RerankerRows& rows, Workspace& workspace, double* result) const {
  const std::size_t hidden = config_.hidden;
  Scratch& scratch = workspace.scratch;
  scratch.clear();
  workspace.first.resize(rows.count + 1);
  workspace.first[0] = 0;
  for (std::size_t i = 0; i < rows.count; ++i) {
    workspace.first[i + 1] = workspace.first[i] + static_cast<std::size_t>(rows.lengths[i]);
  }
  const std::size_t* first = workspace.first.data();
  float* x = scratch.take(rows.total * hidden);
  float* inner = scratch.take(rows.total * config_.ffn);
  embed(rows, first, x);
  norm_.apply(x, rows.total, x);
  for (const Layer& layer : layers_) {
    attend(layer, first, rows.count, x, scratch);
    layer.ffn_in.apply(x, rows.total, inner, Then::kGelu, workers_);
    layer.ffn_out.apply(inner, rows.total, x, Then::kAdd, workers_);
    layer.ffn_norm.apply(x, rows.total, x);
  }
  float* read = scratch.take(rows.count * hidden);
  float* told = scratch.take(rows.count * hidden);
  for (std::size_t row = 0; row < rows.count; ++row) std::copy_n(x + first[row] * hidden, hidden, read + row * hidden);
  hidden_.apply(read, rows.count, told, Then::kStore, workers_);
  for (std::size_t i = 0; i < rows.count * hidden; ++i) told[i] = std::tanh(told[i]);
  log_odds_.apply(told, rows.count, read, Then::kStore, workers_);
  std::copy_n(read, rows.count, result);
}

// First states x [total, hidden]: what a token is, where it stands, and how it belongs to the rest.
void RerankerNetwork::embed(const RerankerRows& rows, const std::size_t* first, float* x) const {
  std::fill_n(x, rows.total * config_.hidden, 0.0f);
  for (std::size_t row = 0; row < rows.count; ++row) {
    for (std::size_t token = first[row]; token < first[row + 1]; ++token) {
      float* state = x + token * config_.hidden;
      const auto id = static_cast<std::size_t>(rows.ids[token]);
      if (id < config_.pieces) {
        words_.add(id, state);
      } else {
        symbols_.add(id - config_.pieces, state);
      }
      positions_.add(token - first[row], state);
      kinds_.add(static_cast<std::size_t>(rows.kinds[token]), state);
      tables_.add(static_cast<std::size_t>(rows.tables[token]), state);
      shared_.add(static_cast<std::size_t>(rows.shared[token]), state);
    }
  }
}

// The attention half of a layer: each row's tokens see each other.
void RerankerNetwork::attend(const Layer& layer, const std::size_t* first, std::size_t count, float* x, Scratch& scratch) const {
  const std::size_t hidden = config_.hidden, tokens = first[count];
  const Scratch::Scope scope(scratch);
  float* qkv = scratch.take(tokens * 3 * hidden);
  float* mixed = scratch.take(tokens * hidden);
  layer.qkv.apply(x, tokens, qkv, Then::kStore, workers_);
  const auto one_row = [&](std::size_t row) {
    RowAttention one;
    one.query = qkv + first[row] * 3 * hidden;
    one.key = one.query + hidden;
    one.value = one.query + 2 * hidden;
    one.rows = one.columns = first[row + 1] - first[row];
    one.query_stride = one.stride = 3 * hidden;
    one.heads = config_.heads;
    one.head_size = hidden / config_.heads;
    one.mixed = mixed + first[row] * hidden;
    return one;
  };
  row_attention(count, std::cref(one_row), scratch, workers_, set_);
  layer.out.apply(mixed, tokens, x, Then::kAdd, workers_);
  layer.attention_norm.apply(x, tokens, x);
}

}  // namespace fastsql
