// Joins follow keys: a table joins FROM that has a key in common with those before it, and it is joined on one. As in grounding.h,
// what is legal is left as it is; a search passes over other tables and columns. See python/fastsql/grammar/joining.py.
#pragma once

#include "grammar/scope.h"

namespace fastsql::grammar {

// The group of keys of what passes a column on; -1 where that is no key.
FASTSQL_HOST_DEVICE std::int32_t group_of(const SchemaView& schema, Typed typed) {
  return typed.column < 0 ? -1 : schema.key_group[typed.column];
}

// Whether a column is of a group of keys; of any, where the group is -1.
FASTSQL_HOST_DEVICE bool is_of_group(const SchemaView& schema, std::int32_t column, std::int32_t group) {
  return group < 0 ? schema.key_group[column] >= 0 : schema.key_group[column] == group;
}

// Whether a source offers a column of a group of keys; of any, where the group is -1.
FASTSQL_HOST_DEVICE bool has_key(const SchemaView& schema, const Source& source, std::int32_t group = -1) {
  if (source.table >= 0) {
    const Range columns = schema.columns_of[source.table];
    for (std::int32_t column = columns.begin; column < columns.end; ++column) {
      if (is_of_group(schema, column, group)) return true;
    }
    return false;
  }
  for (const Item* item = source.items; item != nullptr; item = item->before) {
    if (item->typed.column >= 0 && is_of_group(schema, item->typed.column, group)) return true;
  }
  return false;
}

// Whether a joined source comes next, or one side of a joined table's first comparison with those before it.
FASTSQL_HOST_DEVICE bool joins(const SpaceView& space, const State& state) {
  const GrammarView& grammar = space.grammar;
  if (state.stack == nullptr || !state.in_query) return false;
  if ((grammar.roles_of(state.stack->parent) & production_role::kKeyed) == 0) return false;
  const Symbol& symbol = grammar.symbol(state.stack->symbol);
  const Source* newest = state.scope.sources;
  if (!has(symbol, symbol_role::kSide)) {
    if (!has(symbol, symbol_role::kNewSource)) return false;
    for (const Source* source = newest; source != nullptr; source = source->before) {
      if (has_key(space.schema, *source)) return true;
    }
    return false;
  }
  return newest->table >= 0;
}

// Whether a table has a key in common with a source; with itself, if not only that which tells its rows apart.
FASTSQL_HOST_DEVICE bool can_join(const SpaceView& space, const State& state, std::int32_t table) {
  const SchemaView& schema = space.schema;
  const Range columns = schema.columns_of[table];
  for (std::int32_t column = columns.begin; column < columns.end; ++column) {
    if (schema.key_group[column] < 0) continue;
    for (const Source* source = state.scope.sources; source != nullptr; source = source->before) {
      if (source->table == table && schema.is_unique[column]) continue;
      if (has_key(schema, *source, schema.key_group[column])) return true;
    }
  }
  return false;
}

// The group of keys that an action names as what a pointer points at; -1 where it names no key.
FASTSQL_HOST_DEVICE std::int32_t key_group_of(const SpaceView& space, const State& state, Action action,
                                              Pointer pointer = Pointer::kEarlier) {
  if (action.kind == Kind::kColumn) return space.schema.key_group[action.index];
  if (action.kind != Kind::kStep) return -1;
  const Eligible sources = eligible(state.scope, pointer);
  std::int32_t group = -1;  // of items that one decision ended, the first is meant: the last that is met
  for (const Source* source = sources.first; source != sources.last; source = source->before) {
    for (const Item* item = source->items; item != nullptr; item = item->before) {
      if (item->step == action.index) group = group_of(space.schema, item->typed);
    }
  }
  return group;
}

// Whether a legal action names a table that can join, or a key that both sides have, where one of these comes next.
FASTSQL_HOST_DEVICE bool is_keyed(const SpaceView& space, const State& state, std::int32_t flat_id) {
  if (!joins(space, state)) return true;
  const Action action = space.locate(flat_id);
  const Symbol& symbol = space.grammar.symbol(state.stack->symbol);
  if (has(symbol, symbol_role::kNewSource)) return action.kind != Kind::kTable || can_join(space, state, action.index);
  const Source& newest = *state.scope.sources;
  const std::int32_t group = key_group_of(space, state, action);
  if (!has(symbol, symbol_role::kNewest)) return group >= 0 && has_key(space.schema, newest, group);
  const std::int32_t other = state.last.column;
  const std::int32_t wanted = other < 0 ? -1 : space.schema.key_group[other];
  return group == wanted || wanted < 0 || !has_key(space.schema, newest, wanted);
}

}  // namespace fastsql::grammar
