#include "engine/turns.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace fastsql {
namespace {

void add_row(const float* from, std::size_t width, float* to) {
  for (std::size_t i = 0; i < width; ++i) to[i] += from[i];
}

void expect_from(const char* what, std::int64_t found, std::int64_t least, std::size_t end) {
  if (found >= least && found < static_cast<std::int64_t>(end)) return;
  throw ModelError(std::string(what) + " is " + std::to_string(found) + "; there are " + std::to_string(end));
}

}  // namespace

Turns::Turns(const model::Config& config, const model::Weights& weights, InstructionSet set)
    : d_(config.d),
      question_(weights.linear("turn.question", config.d, config.d, set)),
      entry_norm_(weights.floats("turn.entry_norm.weight", {config.d}), weights.floats("turn.entry_norm.bias", {config.d}), 1e-5f,
                  set) {
  for (const char* name : kTurnEmbeddings) features_.emplace_back(weights, name, weights.rows(name), d_);
  for (const char* name : kEntryEmbeddings) entry_.emplace_back(weights, name, weights.rows(name), d_);
}

void Turns::check(const TurnInputs& inputs, std::size_t items) const {
  for (std::size_t i = 0; i < inputs.turns * kTurnFeatures; ++i) {
    features_[i % kTurnFeatures].expect("a turn's feature", inputs.features[i]);
  }
  for (std::size_t entry = 0; entry < inputs.entries; ++entry) {
    const std::int64_t* numbers = inputs.entry + entry * kEntryNumbers;
    expect_from("the turn that offers an entry", numbers[0], 0, inputs.turns);
    for (std::size_t i = 0; i < entry_.size(); ++i) entry_[i].expect("an entry's feature", numbers[1 + i]);
    expect_from("the table or column of an entry", numbers[kEntryNumbers - 1], -1, items);
  }
}

void Turns::first_states(const TurnInputs& inputs, float* states, const Workers& workers) const {
  question_.apply(inputs.pooled, inputs.turns, states, Then::kStore, workers);
  for (std::size_t i = 0; i < inputs.turns * kTurnFeatures; ++i) {
    features_[i % kTurnFeatures].add(static_cast<std::size_t>(inputs.features[i]), states + i / kTurnFeatures * d_);
  }
}

void Turns::entry_states(const TurnInputs& inputs, const float* turns, const float* items, float* states) const {
  for (std::size_t entry = 0; entry < inputs.entries; ++entry) {
    const std::int64_t* numbers = inputs.entry + entry * kEntryNumbers;
    float* state = states + entry * d_;
    std::copy_n(turns + static_cast<std::size_t>(numbers[0]) * d_, d_, state);
    for (std::size_t i = 0; i < entry_.size(); ++i) entry_[i].add(static_cast<std::size_t>(numbers[1 + i]), state);
    const std::int64_t item = numbers[kEntryNumbers - 1];
    if (item >= 0) add_row(items + static_cast<std::size_t>(item) * d_, d_, state);
  }
  entry_norm_.apply(states, inputs.entries, states);
}

}  // namespace fastsql
