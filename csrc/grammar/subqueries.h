// Subqueries follow keys: what is compared with a key by IN, = or <> is a key of the same group. As in grounding.h, what is legal is
// left as it is; a search passes over other items and tables. See python/fastsql/grammar/subqueries.py.
#pragma once

#include "grammar/joining.h"

namespace fastsql::grammar {

// Whether a column that is no key of a join has the name of one of a group.
FASTSQL_HOST_DEVICE bool is_called_so(const SchemaView& schema, std::int32_t column, std::int32_t group) {
  const std::int32_t name = schema.key_name[column];
  for (std::int32_t key = 0; name >= 0 && key < schema.columns; ++key) {
    if (schema.key_name[key] == name && schema.key_group[key] == group) return true;
  }
  return false;
}

// Whether what stands in a cell is a select item, or its last part, which passes on what it is.
FASTSQL_HOST_DEVICE bool ends(const SpaceView& space, const Cell& cell) {
  const Symbol& symbol = space.grammar.symbol(cell.symbol);
  const bool behind = cell.below != nullptr && cell.below->symbol == -1 - static_cast<int>(Effect::kItem);
  return has(symbol, symbol_role::kSelecting) || (behind && !has(symbol, symbol_role::kWhich));
}

// Whether a table has a column of a group of keys, or one in common with a table that has.
FASTSQL_HOST_DEVICE bool leads(const SchemaView& schema, std::int32_t table, std::int32_t group) {
  const Range own = schema.columns_of[table];
  for (std::int32_t held = 0; held < schema.columns; ++held) {
    if (schema.key_group[held] != group) continue;
    if (schema.table_of[held] == table) return true;
    const Range others = schema.columns_of[schema.table_of[held]];
    for (std::int32_t column = own.begin; column < own.end; ++column) {
      if (schema.key_group[column] < 0) continue;
      for (std::int32_t other = others.begin; other < others.end; ++other) {
        if (schema.key_group[other] == schema.key_group[column]) return true;
      }
    }
  }
  return false;
}

// Whether an alternative makes something of a type of its own, which passes no column on.
FASTSQL_HOST_DEVICE bool computes(const GrammarView& grammar, const Alternative& alternative) {
  for (std::int32_t place = 0; place < alternative.child_count; ++place) {
    const std::int32_t child = grammar.children[alternative.first_child + place];
    if (child >= 0) continue;
    const Effect effect = static_cast<Effect>(-1 - child);
    if (effect == Effect::kNumber || effect == Effect::kText || effect == Effect::kTime) return true;
  }
  return false;
}

// Whether a source of FROM has the keys that are wanted.
FASTSQL_HOST_DEVICE bool offers(const SpaceView& space, const State& state) {
  for (const Source* source = state.scope.sources; source != nullptr; source = source->before) {
    if (has_key(space.schema, *source, state.scope.wanted)) return true;
  }
  return false;
}

// Whether FROM names tables alone so far, none of which has the keys that are wanted.
FASTSQL_HOST_DEVICE bool lacks(const SpaceView& space, const State& state) {
  const Source* newest = state.scope.sources;
  return (newest == nullptr || !newest->any_derived) && !offers(space, state);
}

// Whether FROM or the select list comes of a query that is compared with a key.
FASTSQL_HOST_DEVICE bool seeks(const SpaceView& space, const State& state) {
  if (state.wanted >= 0) return true;
  if (!state.in_query || state.scope.wanted < 0 || state.scope.items != nullptr) return false;
  for (const Cell* cell = state.stack; cell != nullptr && cell->symbol >= 0; cell = cell->below) {
    const Symbol& symbol = space.grammar.symbol(cell->symbol);
    if (ends(space, *cell) || has(symbol, symbol_role::kNewSource)) return true;
    if (!symbol.nullable) return false;
  }
  return false;
}

// Whether an action that is a select item, or begins one, may pass a wanted key on.
FASTSQL_HOST_DEVICE bool selects(const SpaceView& space, const State& state, Action action, const Alternative& taken) {
  if (action.kind == Kind::kProduction) return !computes(space.grammar, taken);
  if (action.kind != Kind::kColumn && action.kind != Kind::kStep) return true;
  const std::int32_t group = key_group_of(space, state, action, Pointer::kColumn);
  if (group >= 0) return group == state.scope.wanted;
  return !offers(space, state) || (action.kind == Kind::kColumn && is_called_so(space.schema, action.index, state.scope.wanted));
}

// Whether a legal action leads to the keys that a query is compared with, where it is with any.
FASTSQL_HOST_DEVICE bool follows(const SpaceView& space, const State& state, std::int32_t flat_id) {
  const SchemaView& schema = space.schema;
  const Action action = space.locate(flat_id);
  if (state.wanted >= 0) return action.kind != Kind::kTable || leads(schema, action.index, state.wanted);
  if (!seeks(space, state)) return true;
  const Cell* cell = state.stack;
  const Alternative* taken = space.grammar.find(cell->symbol, action);
  while (taken == nullptr) {
    cell = cell->below;
    if (cell == nullptr || cell->symbol < 0) return true;  // not legal
    taken = space.grammar.find(cell->symbol, action);
  }
  const Symbol& symbol = space.grammar.symbol(cell->symbol);
  const bool lacking = lacks(space, state);
  if (has(symbol, symbol_role::kNewSource)) {
    Source joined{};
    joined.table = action.index;
    return action.kind != Kind::kTable || !lacking || has_key(schema, joined, state.scope.wanted);
  }
  if (lacking) return has(symbol, symbol_role::kJoining);
  return !ends(space, *cell) || selects(space, state, action, *taken);
}

}  // namespace fastsql::grammar
