// The memory of a search, which leaves it to the next one: in the steady state nothing is asked of the heap but the result.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "decode/decoder_state.h"
#include "decode/ranking.h"
#include "grammar/state.h"

namespace fastsql::decode {

// An action of a hypothesis, and the one before it (kNone: none). Hypotheses with a common beginning share it.
struct Taken {
  std::int32_t before;
  std::int32_t action;
  float log_probability;  // of a decision
  float kept;             // log-probability of all that the search might decide there
  bool decision;          // whether it was not the only legal one
};

// A hypothesis whose next action is a decision.
struct Live {
  grammar::State state;
  std::int32_t last = grammar::kNone;          // of its actions, among all that were taken
  std::int32_t previous = grammar::kNoAction;  // the action decided last
  double score = 0;                            // log-probability of the whole sequence
  LegalActions legal;
  bool bound = false;  // whether it may not take all of them: some say what does not exist
  float kept = 0;      // log-probability of those that it may take
};

struct Finished {
  std::int32_t last;  // of its actions
  double score;
};

struct Workspace {
  DecoderState decoder;
  std::vector<Taken> taken;
  std::vector<Live> live, grown;  // more than there are hypotheses; what is behind them is kept for its memory
  std::vector<Finished> finished;
  std::vector<Continuation> own, continuations;
  std::vector<Frontier> frontiers;
  std::vector<LegalActions*> legal;
  std::vector<std::size_t> kept;
  std::vector<grammar::Word> mask;
};

}  // namespace fastsql::decode
