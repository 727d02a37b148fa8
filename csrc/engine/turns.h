// Earlier turns of a conversation: the first states of their nodes, and the states of what they offer. Mirrors
// python/fastsql/model/turns.py.
#pragma once

#include <cstddef>
#include <vector>

#include "core/layer_norm.h"
#include "core/workers.h"
#include "engine/inputs.h"
#include "linear/linear.h"
#include "model/config.h"
#include "model/embedding.h"
#include "model/weights.h"

namespace fastsql {

// Immutable.
class Turns {
 public:
  // Copies the weights whose names begin with "turn.". Throws ModelError where one is missing or of another shape.
  Turns(const model::Config& config, const model::Weights& weights, InstructionSet set);

  // Throws ModelError where a number is out of range, for a schema of so many tables and columns.
  void check(const TurnInputs& inputs, std::size_t items) const;
  // First states [K, d].
  void first_states(const TurnInputs& inputs, float* states, const Workers& workers) const;
  // States [E, d], from final states of the turns [K, d] and of the schema's tables and columns [S, d].
  void entry_states(const TurnInputs& inputs, const float* turns, const float* items, float* states) const;

 private:
  std::size_t d_;
  Linear question_;
  std::vector<model::Embedding> features_;  // of a turn
  std::vector<model::Embedding> entry_;     // of what it offers
  LayerNorm entry_norm_;
};

}  // namespace fastsql
