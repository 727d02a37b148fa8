// Comparisons make sense: a column is not compared with itself, and a time meets no amount. As in grounding.h, what is legal is left
// as it is; a search passes over what makes no sense. See python/fastsql/grammar/comparing.py.
#pragma once

#include "grammar/scope.h"

namespace fastsql::grammar {

// Whether values of two type classes may be equal. Ids are often stored as text, so text meets everything.
FASTSQL_HOST_DEVICE bool meets(TypeClass one, TypeClass other) {
  const bool times = one == TypeClass::kTime || other == TypeClass::kTime;
  const TypeClass rest = one == TypeClass::kTime ? other : one;
  return !times || (rest != TypeClass::kNumber && rest != TypeClass::kBoolean);
}

// Whether what comes next is compared with what is on its left.
FASTSQL_HOST_DEVICE bool compares(const SpaceView& space, const State& state, const Cell& cell) {
  const GrammarView& grammar = space.grammar;
  return state.in_query && has(grammar.symbol(cell.symbol), symbol_role::kCompared) &&
         (grammar.roles_of(cell.parent) & production_role::kCompares) != 0;
}

// Whether a legal action may make no sense.
FASTSQL_HOST_DEVICE bool weighs(const SpaceView& space, const State& state) {
  return state.stack != nullptr && state.in_query &&
         (has(space.grammar.symbol(state.stack->symbol), symbol_role::kNewest) || compares(space, state, *state.stack));
}

// Whether a legal action compares what can be compared.
FASTSQL_HOST_DEVICE bool is_sensible(const SpaceView& space, const State& state, std::int32_t flat_id) {
  const Action action = space.locate(flat_id);
  if (action.kind != Kind::kColumn) return true;
  const Cell& cell = *state.stack;
  const TypeClass type = space.schema.types[action.index];
  if (has(space.grammar.symbol(cell.symbol), symbol_role::kNewest)) {
    if (action.index == state.last.column && space.schema.is_unique[action.index]) return false;
    return meets(state.last.type, type);
  }
  if (!compares(space, state, cell)) return true;
  const Typed left = state.scope.left;
  if (action.index == left.column) {
    const std::int32_t table = space.schema.table_of[action.index];
    std::int32_t offering = 0;
    for (const Source* source = state.scope.sources; source != nullptr; source = source->before) {
      offering += source->table == table;
    }
    if (offering < 2) return false;
  }
  return meets(left.type, type);
}

}  // namespace fastsql::grammar
