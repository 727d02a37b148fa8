// Semantic actions: what completing a construct changes in the scope. Functions that return a bool return false where memory has
// none left.
#pragma once

#include "grammar/joining.h"
#include "grammar/routes.h"

namespace fastsql::grammar {

// The decision that ended what is complete now.
FASTSQL_HOST_DEVICE std::int32_t step_of(const State& state) { return state.decisions > 0 ? state.decisions - 1 : 0; }

template <class Memory>
FASTSQL_HOST_DEVICE bool open_query(Memory& memory, State& state) {
  Scope scope;
  if (state.in_query) {
    scope.outer = memory.keep(state.scope);
    if (scope.outer == nullptr) return false;
  }
  scope.arity = state.arity;
  scope.followers = state.followers;
  scope.stands_for = state.stands_for;
  scope.widths = state.widths;
  scope.wanted = state.wanted;
  state.scope = scope;
  state.in_query = true;
  state.arity = -1;
  state.followers = 0;
  state.stands_for = nullptr;
  state.widths = nullptr;
  state.wanted = -1;
  return true;
}

FASTSQL_HOST_DEVICE void close_query(State& state) {
  const Scope& scope = state.scope;
  state.closed = scope.stands_for != nullptr ? scope.stands_for : scope.items;
  state.closed_widths = scope.starred ? scope.sources : nullptr;
  if (state.closed != nullptr) state.last = state.closed->first->typed;
  state.in_query = scope.outer != nullptr;
  state.scope = state.in_query ? Scope(*scope.outer) : Scope{};
}

// `table` joins FROM, or where it is -1, a derived table with these items: of a query, or of a `turn`.
template <class Memory>
FASTSQL_HOST_DEVICE bool add_source(const SpaceView& space, Memory& memory, State& state, std::int32_t table, const Item* items,
                                    std::int32_t turn = -1) {
  const SchemaView& schema = space.schema;
  const Source* before = state.scope.sources;
  Source source{};
  source.before = before;
  source.items = items;
  source.count = count_of(before) + 1;
  source.table = table;
  source.turn = turn;
  source.step = step_of(state);
  source.width = table < 0 ? count_of(items) : schema.columns_of[table].size();
  source.total_width = (before == nullptr ? 0 : before->total_width) + source.width;
  source.any_time =
      (before != nullptr && before->any_time) || (table < 0 ? items != nullptr && items->any_time : schema.has_time[table] != 0);
  source.any_derived = (before != nullptr && before->any_derived) || table < 0;
  state.scope.sources = memory.keep(source);
  return state.scope.sources != nullptr;
}

// A query opens with the FROM of an earlier turn's.
template <class Memory>
FASTSQL_HOST_DEVICE bool reopen(Memory& memory, State& state, std::int32_t turn) {
  if (!open_query(memory, state)) return false;
  state.scope.sources = state.offered[turn].sources;
  state.scope.reopened = turn;
  return true;
}

// `count` items more than `items`, the newest of the given type.
template <class Memory>
FASTSQL_HOST_DEVICE const Item* longer(Memory& memory, const Item* items, Typed typed, std::int32_t count, std::int32_t step) {
  Item* item = memory.template allocate<Item>(1);
  if (item == nullptr) return nullptr;
  const bool any_time = (items != nullptr && items->any_time) || can_hold_time(typed.type);
  *item = {items, items == nullptr ? item : items->first, count_of(items) + count, step, typed, any_time};
  return item;
}

template <class Memory>
FASTSQL_HOST_DEVICE bool add_item(Memory& memory, State& state) {
  state.scope.items = longer(memory, state.scope.items, state.last, 1, step_of(state));
  return state.scope.items != nullptr;
}

// One entry stands for all columns: a query that selects `*` is never nested in another, so nothing points into its items;
// only their number and the first of them matter.
template <class Memory>
FASTSQL_HOST_DEVICE bool select_all_columns(const SpaceView& space, Memory& memory, State& state) {
  state.scope.starred = true;
  state.scope.items = nullptr;
  const Source* source = state.scope.sources;
  if (source == nullptr) return true;
  const std::int32_t count = source->total_width;
  while (source->before != nullptr) source = source->before;
  Typed first;
  if (source->table < 0) {
    if (source->items != nullptr) first = source->items->first->typed;
  } else if (source->width > 0) {
    const std::int32_t column = space.schema.columns_of[source->table].begin;
    first = {space.schema.types[column], column};
  }
  state.scope.items = longer(memory, static_cast<const Item*>(nullptr), first, count, step_of(state));
  return state.scope.items != nullptr;
}

// The query selects and groups as the turn does that it extends.
FASTSQL_HOST_DEVICE void keep_items(const SpaceView& space, State& state) {
  Scope& scope = state.scope;
  if (scope.reopened < 0) return;
  const Turn& turn = space.turn[scope.reopened];
  scope.items = state.offered[scope.reopened].items;
  scope.keys = state.offered[scope.reopened].keys;
  scope.starred = turn.starred;
  scope.grouped = turn.grouped;
  scope.aggregated = turn.aggregated;
  scope.of_rows = turn.of_rows;
}

template <class Memory>
FASTSQL_HOST_DEVICE bool carry_out(const SpaceView& space, Memory& memory, State& state, Effect effect, Action action) {
  switch (effect) {
    case Effect::kFrom:  // a query opens with the table just pointed at
      return open_query(memory, state) && add_source(space, memory, state, action.index, nullptr);
    case Effect::kScope:  // a query opens whose first source is yet to come
      return open_query(memory, state);
    case Effect::kSource:  // the table just pointed at joins FROM
      return add_source(space, memory, state, action.index, nullptr);
    case Effect::kDerived:  // the query just closed joins FROM
      return add_source(space, memory, state, -1, state.closed);
    case Effect::kItem:  // a select item is complete
      return add_item(memory, state);
    case Effect::kColumns:  // the query selects all columns of its sources
      return select_all_columns(space, memory, state);
    case Effect::kGrouped:  // the query groups
      state.scope.grouped = true;
      break;
    case Effect::kToward:  // the table just pointed at is where a way along keys leads
      set_out(space, state, action.index);
      break;
    case Effect::kPrevious:  // the result of the turn just pointed at joins FROM
      return action.kind != Kind::kTurn || add_source(space, memory, state, -1, state.offered[action.index].items, action.index);
    case Effect::kReopen:  // a query opens with the FROM of the turn just pointed at
      return action.kind != Kind::kTurn || reopen(memory, state, action.index);
    case Effect::kKeep:  // it selects what that turn does
      keep_items(space, state);
      break;
    case Effect::kClose:  // the innermost query is complete
      close_query(state);
      break;
    case Effect::kOne:  // the query to come selects one item, which what was just completed is compared with
      state.arity = 1;
      state.wanted = group_of(space.schema, state.last);
      break;
    case Effect::kFirst:  // the left operand of a set operation comes
      state.followers += 1;
      break;
    case Effect::kSecond:  // the right operand comes: as many items as the left one had
      state.arity = count_of(state.closed);
      state.stands_for = state.closed;
      state.widths = state.closed_widths;
      break;
    case Effect::kLeft:  // what was just completed is the left-hand side of a comparison
      state.scope.left = state.last;
      break;
    case Effect::kNumbers:  // the literals to come are numbers
      state.scope.left = {TypeClass::kNumber, -1};
      break;
    case Effect::kNumber:  // what was just completed is a number
      state.last = {TypeClass::kNumber, -1};
      break;
    case Effect::kText:
      state.last = {TypeClass::kText, -1};
      break;
    case Effect::kTime:
      state.last = {TypeClass::kTime, -1};
      break;
  }
  return true;
}

// Carries out the semantic actions that now lie on top of the stack.
template <class Memory>
FASTSQL_HOST_DEVICE bool settle(const SpaceView& space, Memory& memory, State& state, Action action) {
  while (state.stack != nullptr && state.stack->symbol < 0) {
    const Effect effect = static_cast<Effect>(-1 - state.stack->symbol);
    state.stack = state.stack->below;
    if (!carry_out(space, memory, state, effect, action)) return false;
  }
  return true;
}

}  // namespace fastsql::grammar
