// Patterns that match: where all values of a column are known, LIKE is offered what one of them has. See
// python/fastsql/grammar/matching.py.
#pragma once

#include "grammar/grounding.h"

namespace fastsql::grammar {

// The lists of SpaceView::patterns, in their order; those from kWithin on are also bits of what a pattern says of a value, in the order
// of production_role::kContains, kBegins, kEnds, kLike.
namespace pattern {
enum List : std::int32_t { kCandidates, kWithin, kBegun, kEnded, kLists };
constexpr std::uint8_t kContains = 1, kBegins = 2, kEnds = 4, kLike = 8;
constexpr std::int32_t kEvery = -1;  // in the place of a column: all of them
}  // namespace pattern

// What of a value a production says: one bit of those of `pattern`; 0 where it compares with no pattern.
FASTSQL_HOST_DEVICE std::uint32_t way_of(const SpaceView& space, const Cell& cell) {
  return space.grammar.roles_of(cell.parent) / production_role::kContains & 15;
}

// Whether columns are asked for that a pattern is to match.
FASTSQL_HOST_DEVICE bool is_compared(const SpaceView& space, const Cell& cell) {
  return space.has_patterns && way_of(space, cell) != 0 && has(space.grammar.symbol(cell.symbol), symbol_role::kListed);
}

// The column that a pattern must match; -1 where it may say anything.
FASTSQL_HOST_DEVICE std::int32_t matched_column(const SpaceView& space, const State& state, const Cell& cell) {
  if (!space.has_patterns || way_of(space, cell) == 0 || !state.in_query) return -1;
  if (has(space.grammar.symbol(cell.symbol), symbol_role::kListed)) return -1;
  const std::int32_t column = state.scope.left.column;
  return column >= 0 && (space.grounds[column] & ground::kWhole) != 0 ? column : -1;
}

// The entry of a list for a column and a candidate or token, be it that of all columns; nullptr where there is none.
FASTSQL_HOST_DEVICE const Held* find_pattern(const SpaceView& space, pattern::List list, std::int32_t column,
                                             std::int32_t fixed) {
  const std::int32_t begin = space.pattern_bounds[list], size = space.pattern_bounds[list + 1] - begin;
  return find_held(space.patterns + begin, size, {column, fixed, -1});
}

// The tokens from `first` to `last` lie in what is known of a column, or begin what is where `last` is -1.
FASTSQL_HOST_DEVICE bool is_part(const SpaceView& space, std::uint32_t way, std::int32_t column, std::int32_t first,
                                 std::int32_t last) {
  if (way == pattern::kLike) {
    const Held* found = find_held(space.held_spans, space.held_spans_size, {column, first, last});
    return found != nullptr && (last < 0 || found->last == last);
  }
  if (way != pattern::kEnds) {
    const Held* own = find_pattern(space, way == pattern::kBegins ? pattern::kBegun : pattern::kWithin, column, first);
    const Held* any = find_pattern(space, pattern::kWithin, pattern::kEvery, first);
    return (own != nullptr && own->last >= last) || (any != nullptr && any->last >= last);
  }
  const Held* found = space.patterns + space.pattern_bounds[pattern::kEnded];
  const Held* const end = space.patterns + space.pattern_bounds[pattern::kEnded + 1];
  for (; found != end; ++found) {
    if (found->column != column && found->column != pattern::kEvery) continue;
    if (found->last <= first && (last < 0 ? first <= found->first : found->first == last)) return true;
  }
  return false;
}

// Whether a legal action may say a pattern that matches nothing.
FASTSQL_HOST_DEVICE bool binds_pattern(const SpaceView& space, const State& state) {
  return state.stack != nullptr && (is_compared(space, *state.stack) || matched_column(space, state, *state.stack) >= 0);
}

// Whether a legal action says no pattern, or one that matches.
FASTSQL_HOST_DEVICE bool matches(const SpaceView& space, const State& state, std::int32_t flat_id) {
  if (!space.has_patterns) return true;
  const std::uint32_t way = way_of(space, *state.stack);
  if (way == 0) return true;
  const Action action = space.locate(flat_id);
  if (action.kind == Kind::kColumn) {
    return !is_compared(space, *state.stack) || (space.grounds[action.index] & ground::kWhole) == 0 ||
           (space.matched[action.index] & way) != 0;
  }
  const std::int32_t column = matched_column(space, state, *state.stack);
  if (column < 0) return true;
  switch (action.kind) {
    case Kind::kCandidate: {
      if (names_column(space, action.index, column)) return true;
      const Held* held = find_pattern(space, pattern::kCandidates, column, action.index);
      const Held* any = find_pattern(space, pattern::kCandidates, pattern::kEvery, action.index);
      return (held != nullptr && (static_cast<std::uint32_t>(held->last) & way) != 0) ||
             (any != nullptr && (static_cast<std::uint32_t>(any->last) & way) != 0);
    }
    case Kind::kStart:
      return is_part(space, way, column, action.index, -1);
    case Kind::kEnd:
      return is_part(space, way, column, state.span, action.index);
    default:
      return true;  // a schema value is one of this column: no constant is legal beside text
  }
}

}  // namespace fastsql::grammar
