// Constrained beam search: the automaton says what may come, the decoder what is likely. The semantics are those of
// python/fastsql/decode/beam.py, search for search.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "core/workers.h"
#include "decode/breadth.h"
#include "decode/decoder.h"
#include "decode/memory.h"
#include "grammar/action_space.h"

namespace fastsql::decode {

struct Hypothesis {
  std::vector<std::int32_t> actions;     // decisions; forced actions are not among them
  std::vector<float> log_probabilities;  // of each
  std::vector<float> kept;               // log-probability of all that could be decided there; 0 where nothing was passed over
  std::vector<std::int32_t> path;        // all actions in their order; a forced action a is written ~a (-1 - a)
};

struct Search {
  std::vector<Hypothesis> finished;  // best first: at least one, at most as many as the beam is wide
  double unfinished = 0;             // log-probability of the best that was left unfinished; minus infinity if there is none
  std::size_t steps = 0;             // of the decoder
};

// Thread-safe. Throws ModelError where the space and the memory do not belong together, LimitError where a query would have
// more decisions than the model was made for.
Search beam_search(const Decoder& decoder, const Memory& memory, std::shared_ptr<const grammar::ActionSpace> space,
                   Breadth breadth, const Workers& workers = {});

}  // namespace fastsql::decode
