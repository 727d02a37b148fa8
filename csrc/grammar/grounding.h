// Literals that exist: where all values of a column are known, only one of them is compared with it. What is legal is left as it is; a
// search normalises over all of that and takes what is grounded. See python/fastsql/grammar/grounding.py.
#pragma once

#include "grammar/literals.h"
#include "grammar/scope.h"

namespace fastsql::grammar {

// What is known of a column's values: the bits of SpaceView::grounds.
namespace ground {
constexpr std::uint8_t kWhole = 1;                     // all of them
constexpr std::uint8_t kZero = 2, kOne = 4, kTwo = 8;  // it holds 0, 1, 2
constexpr std::uint8_t kOperand = 16;                  // it holds something that the question or the grammar can say
}  // namespace ground

FASTSQL_HOST_DEVICE bool is_before(const Held& one, const Held& other) {
  if (one.column != other.column) return one.column < other.column;
  return one.first != other.first ? one.first < other.first : one.last < other.last;
}

// Whether a sorted list has an entry that is not before `least` and, of its column, begins as it does.
FASTSQL_HOST_DEVICE const Held* find_held(const Held* list, std::int32_t size, const Held& least) {
  const Held* first = list;
  const Held* const end = list + size;
  for (std::int32_t count = size; count > 0;) {
    const std::int32_t half = count / 2;
    if (is_before(first[half], least)) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  return first != end && first->column == least.column && first->first == least.first ? first : nullptr;
}

// The column whose values alone may be said next; -1 where anything may be.
FASTSQL_HOST_DEVICE std::int32_t bound_column(const SpaceView& space, const State& state, const Cell& cell) {
  const GrammarView& grammar = space.grammar;
  if (!space.has_grounds || (grammar.roles_of(cell.parent) & production_role::kEquates) == 0) return -1;
  if (grammar.symbol(cell.symbol).nullable || !state.in_query) return -1;
  const std::int32_t column = state.scope.left.column;
  return column >= 0 && (space.grounds[column] & ground::kWhole) != 0 ? column : -1;
}

// Whether there is a literal that a column holds.
FASTSQL_HOST_DEVICE bool has_operand(const SpaceView& space, std::int32_t column) {
  return (space.grounds[column] & ground::kOperand) != 0;
}

// Whether columns are asked for that are to be compared with a list of literals.
FASTSQL_HOST_DEVICE bool is_listed(const SpaceView& space, const Cell& cell) {
  const GrammarView& grammar = space.grammar;
  return space.has_grounds && (grammar.roles_of(cell.parent) & production_role::kLists) != 0 &&
         has(grammar.symbol(cell.symbol), symbol_role::kListed);
}

// Whether a legal action may say what does not exist.
FASTSQL_HOST_DEVICE bool binds(const SpaceView& space, const State& state) {
  return state.stack != nullptr && (is_listed(space, *state.stack) || bound_column(space, state, *state.stack) >= 0);
}

// Whether a legal action says nothing, or a literal that exists.
FASTSQL_HOST_DEVICE bool is_grounded(const SpaceView& space, const State& state, std::int32_t flat_id) {
  const Action action = space.locate(flat_id);
  if (action.kind == Kind::kColumn) {
    return !is_listed(space, *state.stack) || (space.grounds[action.index] & ground::kWhole) == 0 ||
           has_operand(space, action.index);
  }
  const std::int32_t column = bound_column(space, state, *state.stack);
  if (column < 0) return true;
  switch (action.kind) {
    case Kind::kCandidate: {
      if (names_column(space, action.index, column)) return true;
      return find_held(space.held, space.held_size, {column, action.index, 0}) != nullptr;
    }
    case Kind::kSchemaValue:
      return true;  // of this column: no constant is legal beside text
    case Kind::kStart:
      return find_held(space.held_spans, space.held_spans_size, {column, action.index, 0}) != nullptr;
    case Kind::kEnd: {
      const Held* found = find_held(space.held_spans, space.held_spans_size, {column, state.span, action.index});
      return found != nullptr && found->last == action.index;
    }
    case Kind::kProduction: {
      const std::uint32_t roles = space.grammar.roles_of(action.index);
      if ((roles & production_role::kComputed) != 0) return false;
      const std::uint32_t holds = space.grounds[column];
      const bool zero = (roles & production_role::kZero) != 0, one = (roles & production_role::kOne) != 0;
      if (zero || one) return (holds & (zero ? ground::kZero : ground::kOne)) != 0;
      return (roles & production_role::kTwo) == 0 || (holds & ground::kTwo) != 0;
    }
    default:
      return true;
  }
}

}  // namespace fastsql::grammar
