// The pushdown automaton of the action grammar on the processor: the steps of grammar/step.h over a question's action space, with
// memory for the states of one search.
//
//   Automaton automaton(space);
//   State state = automaton.start();
//   while (!state.finished()) {
//     automaton.mask(state, legal.data());                  // a bit for each action
//     State fork = state;                                   // free
//     automaton.advance(state, best_of(legal), true);
//   }
//
// One automaton serves one search on one thread; its space, schema and grammar may be shared by many.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>

#include "grammar/action_space.h"
#include "grammar/arena.h"
#include "grammar/state.h"

namespace fastsql::grammar {

class Automaton {
 public:
  explicit Automaton(std::shared_ptr<const ActionSpace> space) : space_(std::move(space)) {}

  const ActionSpace& space() const { return *space_; }

  // The state before the first action.
  State start();

  // Takes an action, which should be one that `mask` offers. `decision` is false for the only legal one. Returns false,
  // with the state as it was, for one that the frontier does not know or that the budget has no room for; requirements
  // are checked by `mask` alone.
  bool advance(State& state, std::int32_t flat_id, bool decision);

  // Writes which actions may come next: a set of space().words() words. Empty after the end.
  void mask(const State& state, Word* set) const;

  // Forgets all states made so far; their memory is used again.
  void clear() { arena_.clear(); }

  // Bytes of memory held for states.
  std::size_t capacity() const { return arena_.capacity(); }

 private:
  std::shared_ptr<const ActionSpace> space_;
  Arena arena_;
};

}  // namespace fastsql::grammar
