#include "decode/decoder_state.h"

#include <algorithm>
#include <cmath>
#include <string>

#include "core/error.h"
#include "decode/head_attention.h"

namespace fastsql::decode {
namespace {

using grammar::Action;
using grammar::Kind;

// Makes a buffer at least `size` long; it never shrinks.
template <typename T>
void reserve(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(std::max(size, 2 * buffer.size()));
}

void add(const float* from, std::size_t d, float* to) {
  for (std::size_t i = 0; i < d; ++i) to[i] += from[i];
}

}  // namespace

void DecoderState::start(const DecoderWeights& weights, const Memory& memory, const grammar::ActionSpace& space) {
  weights_ = &weights;
  memory_ = &memory;
  space_ = &space;
  hypotheses_ = 1;
  steps_ = nodes_ = 0;
  keys_.start(weights, memory);
  attended_.resize(weights.layers.size());
  reserve(head_scores_, cpu::head_scores_size(weights.layout.padded_heads,
                                              std::max(memory.question.n + memory.items.n, weights.config.max_steps)));
}

void DecoderState::step(const Frontier* frontiers, const Workers& workers) {
  const model::Config& config = weights_->config;
  if (steps_ >= config.max_steps) {
    throw LimitError("the decoder was asked for decision " + std::to_string(steps_ + 1) + ", the model has " +
                     std::to_string(config.max_steps) + ". Give the automaton a step budget no larger than the model's.");
  }
  make_room();
  embed(frontiers, workers);
  for (std::size_t hypothesis = 0; hypothesis < hypotheses_; ++hypothesis) {
    paths_[hypothesis * config.max_steps + steps_] = static_cast<std::int32_t>(nodes_ + hypothesis);
  }
  for (std::size_t layer = 0; layer < weights_->layers.size(); ++layer) {
    attend_to_decisions(layer, workers);
    attend_to_graph(layer, workers);
    feed_forward(layer, workers);
  }
  weights_->norm.apply(x_.data(), hypotheses_, states_.data() + nodes_ * config.d);
  nodes_ += hypotheses_;
  ++steps_;
}

void DecoderState::reorder(const std::size_t* kept, std::size_t count) {
  const std::size_t stride = weights_->config.max_steps;
  reserve(kept_paths_, count * stride);
  for (std::size_t hypothesis = 0; hypothesis < count; ++hypothesis) {
    std::copy_n(paths_.data() + kept[hypothesis] * stride, steps_, kept_paths_.data() + hypothesis * stride);
  }
  std::swap(paths_, kept_paths_);
  hypotheses_ = count;
}

std::size_t DecoderState::capacity() const {
  std::size_t floats = states_.capacity();
  for (const auto& layer : attended_) floats += layer.capacity();
  for (const auto* buffer : {&x_, &normed_, &query_, &mixed_, &hidden_, &gathered_, &projected_, &step_keys_, &head_scores_}) {
    floats += buffer->capacity();
  }
  const std::size_t numbers = arrived_.capacity() + paths_.capacity() + kept_paths_.capacity() + places_.capacity();
  return floats * sizeof(float) + numbers * sizeof(std::int32_t) + members_.capacity() * sizeof(Member) + keys_.capacity();
}

void DecoderState::make_room() {
  const model::Config& config = weights_->config;
  const std::size_t width = weights_->layout.width, nodes = nodes_ + hypotheses_;
  for (auto& layer : attended_) reserve(layer, nodes * 3 * width);
  reserve(states_, nodes * config.d);
  reserve(arrived_, nodes);
  reserve(paths_, hypotheses_ * config.max_steps);
  for (auto* buffer : {&x_, &normed_, &gathered_, &projected_}) reserve(*buffer, hypotheses_ * config.d);
  for (auto* buffer : {&query_, &mixed_}) reserve(*buffer, hypotheses_ * width);
  reserve(hidden_, hypotheses_ * config.ffn);
}

// ---------------------------------------------------------------- what was decided

// The sum of what a step starts from: the last action, the symbol to be expanded, the production above it, the step's number.
void DecoderState::embed(const Frontier* frontiers, const Workers& workers) {
  const DecoderWeights& weights = *weights_;
  const std::size_t d = weights.config.d, productions = weights.config.productions;
  members_.clear();
  for (std::size_t hypothesis = 0; hypothesis < hypotheses_; ++hypothesis) {
    const Frontier& frontier = frontiers[hypothesis];
    if (frontier.symbol < 0 || static_cast<std::size_t>(frontier.symbol) >= weights.config.symbols) {
      throw ModelError("the grammar has a symbol " + std::to_string(frontier.symbol) + ", the model learned " +
                       std::to_string(weights.config.symbols));
    }
    float* x = x_.data() + hypothesis * d;
    std::copy_n(weights.position.data() + steps_ * d, d, x);
    add(weights.symbol.data() + static_cast<std::size_t>(frontier.symbol) * d, d, x);
    add(weights.parent.data() + static_cast<std::size_t>(frontier.parent) * d, d, x);

    const std::int32_t previous = resolved(hypothesis, frontier.previous);
    arrived_[nodes_ + hypothesis] = previous;
    if (previous == grammar::kNoAction) {
      add(weights.kind.data() + grammar::kWeightedKinds * d, d, x);
      add(weights.production.data() + (productions + 1) * d, d, x);
      add(weights.row_bias.data(), d, x);
      continue;
    }
    const Action action = space_->locate(previous);
    // The kind is that of the pointer itself; the rest, of what it stands for.
    const Kind kind = space_->locate(frontier.previous).kind;
    add(kind == Kind::kTurn ? weights.turn_kind.data() : weights.kind.data() + static_cast<std::size_t>(kind) * d, d, x);
    if (action.kind == Kind::kProduction) {
      add(weights.production.data() + static_cast<std::size_t>(action.index) * d, d, x);
      add(weights.row_bias.data(), d, x);
    } else {
      add(weights.production.data() + productions * d, d, x);
      std::copy_n(pointed_row(action), d, gathered_.data() + members_.size() * d);
      members_.push_back({hypothesis, 0, 0});
    }
  }
  if (members_.empty()) return;
  weights.row.apply(gathered_.data(), members_.size(), projected_.data(), Then::kStore, workers);
  for (std::size_t member = 0; member < members_.size(); ++member) {
    add(projected_.data() + member * d, d, x_.data() + members_[member].hypothesis * d);
  }
}

// What a pointer to an earlier decision stands for is what was decided there; one to what an earlier turn offers stands for itself.
std::int32_t DecoderState::resolved(std::size_t hypothesis, std::int32_t action) const {
  if (action == grammar::kNoAction) return action;
  const Action pointer = space_->locate(action);
  if (pointer.kind != Kind::kStep || pointer.index >= space_->view().budget) return action;
  // What was decided in step s led to the node of step s + 1.
  const std::size_t arrival = static_cast<std::size_t>(pointer.index) + 1;
  if (arrival >= steps_) throw ModelError("a pointer to decision " + std::to_string(arrival) + " comes before it");
  return arrived_[static_cast<std::size_t>(paths_[hypothesis * weights_->config.max_steps + arrival])];
}

// The row [d] that a pointer to the graph, to a schema value or to what an earlier turn offers points at.
const float* DecoderState::pointed_row(Action action) const {
  const std::size_t d = weights_->config.d;
  if (action.kind == Kind::kStep) return memory_->entry(static_cast<std::size_t>(action.index - space_->view().budget), d);
  return memory_->row(memory_->pointed(action.kind).first + static_cast<std::size_t>(action.index), d);
}

// ---------------------------------------------------------------- layers

void DecoderState::attend_to_decisions(std::size_t layer, const Workers& workers) {
  const DecoderLayer& weights = weights_->layers[layer];
  const HeadLayout& layout = weights_->layout;
  float* rows = attended_[layer].data();
  float* own = rows + nodes_ * 3 * layout.width;
  weights.self_norm.apply(x_.data(), hypotheses_, normed_.data());
  weights.self_qkv.apply(normed_.data(), hypotheses_, own, Then::kStore, workers);
  for (std::size_t hypothesis = 0; hypothesis < hypotheses_; ++hypothesis) {
    cpu::HeadAttention attention{};
    attention.queries = own + hypothesis * 3 * layout.width;
    attention.count = 1;
    attention.blocks[0] = {rows + layout.width, rows + 2 * layout.width, paths_.data() + hypothesis * weights_->config.max_steps,
                           steps_ + 1, 3 * layout.width};
    attention.width = layout.width;
    attention.padded_heads = layout.padded_heads;
    attention.scale = 1.0f / std::sqrt(static_cast<float>(layout.head_size));
    attention.scores = head_scores_.data();
    attention.output = mixed_.data() + hypothesis * layout.width;
    head_attention(attention, workers, weights_->set);
  }
  weights.self_out.apply(mixed_.data(), hypotheses_, x_.data(), Then::kAdd, workers);
}

void DecoderState::attend_to_graph(std::size_t layer, const Workers& workers) {
  const DecoderLayer& weights = weights_->layers[layer];
  const HeadLayout& layout = weights_->layout;
  const Memory& memory = *memory_;
  weights.cross_norm.apply(x_.data(), hypotheses_, normed_.data());
  weights.cross_query.apply(normed_.data(), hypotheses_, query_.data(), Then::kStore, workers);
  cpu::HeadAttention attention{};
  attention.queries = query_.data();
  attention.count = hypotheses_;
  attention.query_stride = layout.width;
  const auto rows_of = [&](const Keyed& keyed) {
    const std::size_t offset = layer * keyed.n * layout.width;
    return cpu::AttendedRows{keyed.keys + offset, keyed.values + offset, nullptr, keyed.n, layout.width};
  };
  attention.blocks[0] = rows_of(memory.question);
  attention.blocks[1] = rows_of(memory.items);
  attention.width = layout.width;
  attention.padded_heads = layout.padded_heads;
  attention.scale = 1.0f / std::sqrt(static_cast<float>(layout.head_size));
  attention.scores = head_scores_.data();
  attention.output = mixed_.data();
  head_attention(attention, workers, weights_->set);
  weights.cross_out.apply(mixed_.data(), hypotheses_, x_.data(), Then::kAdd, workers);
}

void DecoderState::feed_forward(std::size_t layer, const Workers& workers) {
  const DecoderLayer& weights = weights_->layers[layer];
  weights.ffn_norm.apply(x_.data(), hypotheses_, normed_.data());
  weights.ffn_in.apply(normed_.data(), hypotheses_, hidden_.data(), Then::kRelu, workers);
  weights.ffn_out.apply_to_sparse(hidden_.data(), hypotheses_, x_.data(), Then::kAdd, workers);
}

}  // namespace fastsql::decode
