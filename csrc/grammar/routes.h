// Ways along keys: `along` names a table, and the joins of the shortest way of keys from FROM to it follow by themselves.
// See python/fastsql/grammar/routes.py.
#pragma once

#include "grammar/scope.h"

namespace fastsql::grammar {

// Whether one side of a join on a way stands in a cell.
FASTSQL_HOST_DEVICE bool is_routed(const GrammarView& grammar, const Cell& cell) {
  return (grammar.roles_of(cell.parent) & production_role::kRouted) != 0;
}

// Joins on the shortest way from FROM to a table: 0 where it is in FROM, more than a way has where none leads there.
FASTSQL_HOST_DEVICE std::int32_t distance(const SpaceView& space, const Scope& scope, std::int32_t table) {
  std::int32_t least = space.grammar.bounds.hops + 1;
  for (const Source* source = scope.sources; source != nullptr; source = source->before) {
    if (source->table < 0) continue;
    const std::int32_t found = space.schema.distance(table, source->table);
    if (found < least) least = found;
  }
  return least;
}

// Whether a way of one join leads to a table that is not in FROM.
FASTSQL_HOST_DEVICE bool leads_on(const SpaceView& space, const Scope& scope) {
  for (std::int32_t table = 0; table < space.schema.tables; ++table) {
    if (distance(space, scope, table) == 1) return true;
  }
  return false;
}

// Notes where a way leads, and sets aside what its joins but for the first will cost.
FASTSQL_HOST_DEVICE void set_out(const SpaceView& space, State& state, std::int32_t table) {
  state.toward = table;
  state.cost += (distance(space, state.scope, table) - 1) * space.grammar.hop_cost;
}

FASTSQL_HOST_DEVICE bool has_arrived(const State& state) {
  return state.scope.sources != nullptr && state.scope.sources->table == state.toward;
}

// Tables to which ways lead that budget and FROM have room for.
template <class Writer>
FASTSQL_HOST_DEVICE void add_targets(const SpaceView& space, const State& state, std::int32_t room, SetPart<Writer>& set) {
  const Bounds& bounds = space.grammar.bounds;
  const std::int32_t sources = bounds.sources - count_of(state.scope.sources);
  const std::int32_t affordable = room < 0 ? 0 : 1 + room / space.grammar.hop_cost;
  std::int32_t longest = bounds.hops;
  if (sources < longest) longest = sources;
  if (affordable < longest) longest = affordable;
  for (std::int32_t table = 0; table < space.schema.tables; ++table) {
    const std::int32_t found = distance(space, state.scope, table);
    if (found >= 1 && found <= longest) set.add(static_cast<std::size_t>(space.schema.first_table + table));
  }
}

// The next tables of the shortest ways.
template <class Writer>
FASTSQL_HOST_DEVICE void add_hops(const SpaceView& space, const State& state, SetPart<Writer>& set) {
  const SchemaView& schema = space.schema;
  if (state.toward < 0) return;
  const std::int32_t left = distance(space, state.scope, state.toward);
  for (std::int32_t table = 0; table < schema.tables; ++table) {
    if (schema.distance(table, state.toward) != left - 1) continue;
    for (const Source* source = state.scope.sources; source != nullptr; source = source->before) {
      if (source->table < 0 || schema.distance(source->table, state.toward) != left) continue;
      if (schema.distance(table, source->table) != 1) continue;
      set.add(static_cast<std::size_t>(schema.first_table + table));
      break;
    }
  }
}

// Columns by which the newest table is joined to those from which the way goes on.
template <class Writer>
FASTSQL_HOST_DEVICE void add_sides(const SpaceView& space, const State& state, Pointer pointer, SetPart<Writer>& set) {
  const SchemaView& schema = space.schema;
  const Source* newest = state.scope.sources;
  if (newest == nullptr || newest->table < 0 || state.toward < 0) return;
  const auto first = static_cast<std::size_t>(schema.first_column());
  const Range keys = schema.columns_of[newest->table];
  if (pointer == Pointer::kNewest) {
    const std::int32_t group = state.last.column < 0 ? -1 : schema.key_group[state.last.column];
    for (std::int32_t key = keys.begin; key < keys.end && group >= 0; ++key) {
      if (schema.key_group[key] == group) set.add(first + static_cast<std::size_t>(key));
    }
    return;
  }
  const std::int32_t before = schema.distance(newest->table, state.toward) + 1;
  for (const Source* source = newest->before; source != nullptr; source = source->before) {
    if (source->table < 0 || schema.distance(source->table, state.toward) != before) continue;
    const Range columns = schema.columns_of[source->table];
    for (std::int32_t column = columns.begin; column < columns.end; ++column) {
      for (std::int32_t key = keys.begin; key < keys.end && schema.key_group[column] >= 0; ++key) {
        if (schema.key_group[key] != schema.key_group[column]) continue;
        set.add(first + static_cast<std::size_t>(column));
        break;
      }
    }
  }
}

}  // namespace fastsql::grammar
