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

// Whether what comes next is looked for in what an earlier turn returned.
FASTSQL_HOST_DEVICE bool is_sought(const SpaceView& space, const State& state, const Cell& cell) {
  const GrammarView& grammar = space.grammar;
  return state.in_query && has(grammar.symbol(cell.symbol), symbol_role::kListed) &&
         (grammar.roles_of(cell.parent) & production_role::kMembers) != 0;
}

// Whether a legal action may make no sense.
FASTSQL_HOST_DEVICE bool weighs(const SpaceView& space, const State& state) {
  if (state.stack == nullptr || !state.in_query) return false;
  const Cell& cell = *state.stack;
  return has(space.grammar.symbol(cell.symbol), symbol_role::kNewest) || compares(space, state, cell) ||
         is_sought(space, state, cell) || state.compared;
}

// Whether what a turn returned, if that is one column, may be equal to what is on the left.
FASTSQL_HOST_DEVICE bool turn_meets(const SpaceView& space, const State& state, std::int32_t number) {
  const Turn& turn = space.turn[number];
  return turn.usable && turn.items.size() == 1 && meets(state.scope.left.type, space.turn_items[turn.items.begin].type);
}

// Whether a legal action compares what can be compared.
FASTSQL_HOST_DEVICE bool is_sensible(const SpaceView& space, const State& state, std::int32_t flat_id) {
  const Action action = space.locate(flat_id);
  const Cell& cell = *state.stack;
  if (action.kind == Kind::kTurn) return !state.compared || turn_meets(space, state, action.index);
  if (action.kind == Kind::kProduction && compares(space, state, cell)) {
    constexpr std::uint32_t kNumbers =
        production_role::kZero | production_role::kOne | production_role::kTwo | production_role::kComputed;
    if ((space.grammar.roles_of(action.index) & kNumbers) != 0) return meets(state.scope.left.type, TypeClass::kNumber);
    const Alternative* taken = space.grammar.find(cell.symbol, action);
    if (taken == nullptr || (taken->requirements & requirement::kMember) == 0) return true;
    for (std::int32_t number = 0; number < space.turns; ++number) {
      if (turn_meets(space, state, number)) return true;
    }
    return false;
  }
  if (action.kind != Kind::kColumn) return true;
  const TypeClass type = space.schema.types[action.index];
  if (is_sought(space, state, cell)) return meets(state.scope.left.type, type);
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
