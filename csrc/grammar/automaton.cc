#include "grammar/automaton.h"

#include "grammar/step.h"

namespace fastsql::grammar {

State Automaton::start() { return grammar::start(space_->view(), arena_); }

bool Automaton::advance(State& state, std::int32_t flat_id, bool decision) {
  return grammar::advance(space_->view(), arena_, state, flat_id, decision);
}

void Automaton::mask(const State& state, Word* set) const { grammar::mask(space_->view(), state, set); }

}  // namespace fastsql::grammar
