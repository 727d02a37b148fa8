// Strict grouping, as python/fastsql/grammar/grouping.py has it: beside aggregates stand only columns that the query groups by,
// as PostgreSQL demands.
#pragma once

#include "grammar/scope.h"

namespace fastsql::grammar {

FASTSQL_HOST_DEVICE bool is_key_of_partition(const GrammarView& grammar, const Cell& cell) {
  return has(grammar.symbol(cell.symbol), symbol_role::kPlain) &&
         (grammar.roles_of(cell.parent) & production_role::kPartition) != 0;
}

FASTSQL_HOST_DEVICE bool in_group(const GrammarView& grammar, const Cell& cell) {
  return (grammar.roles_of(cell.parent) & production_role::kGroup) != 0 ||
         has(grammar.symbol(cell.symbol), symbol_role::kGathered);
}

// Takes away the heads that strict grouping forbids.
FASTSQL_HOST_DEVICE void keep_grouped(const SpaceView& space, const State& state, const Cell& cell, HeadSet& heads) {
  constexpr std::size_t kColumnHead = head_of(Pointer::kColumn);
  if (!state.in_query) return;
  const GrammarView& grammar = space.grammar;
  const Symbol& symbol = grammar.symbol(cell.symbol);
  const Scope& scope = state.scope;
  const bool has_keys = scope.keys != nullptr;
  const bool key_of_group = has(symbol, symbol_role::kPlain) && in_group(grammar, cell);
  if (key_of_group || (is_key_of_partition(grammar, cell) && scope.aggregated)) {
    heads.keep_only(kColumnHead);
    return;
  }
  if (has(symbol, symbol_role::kGathered)) {
    HeadSet keys_and_aggregates = heads;
    keys_and_aggregates &= grammar.heads->aggregates;
    heads.keep_only(kColumnHead);
    heads |= keys_and_aggregates;
    return;
  }
  if (has(symbol, symbol_role::kTailRow) && scope.aggregated) heads.remove(grammar.heads->orders);
  HeadSet partitions = heads;
  partitions &= grammar.heads->partitions;
  heads.remove(partitions);
  if (has(symbol, symbol_role::kBeside)) {
    if (scope.of_rows) {
      heads.remove(grammar.heads->aggregates);
    } else if (scope.aggregated) {
      heads.remove(symbol.reads_rows);
      if (!has_keys) heads.remove(kColumnHead);
    }
  }
  if (!scope.aggregated || has_keys) heads |= partitions;
}

// Whether only keys of GROUP BY may be pointed at where a cell stands.
FASTSQL_HOST_DEVICE bool restricts_to_keys(const SpaceView& space, const State& state, const Cell& cell) {
  if (!space.strict_grouping || !state.in_query || !state.scope.aggregated) return false;
  const Symbol& symbol = space.grammar.symbol(cell.symbol);
  return has(symbol, symbol_role::kBeside) || is_key_of_partition(space.grammar, cell) ||
         (has(symbol, symbol_role::kWhich) && state.beside);
}

// Notes that an alternative was taken.
FASTSQL_HOST_DEVICE void account(const SpaceView& space, State& state, const Cell& cell, const Alternative& taken) {
  if (!state.in_query) return;
  const GrammarView& grammar = space.grammar;
  const Symbol& symbol = grammar.symbol(cell.symbol);
  Scope& scope = state.scope;
  const std::uint32_t roles = grammar.roles_of(taken.production);
  if ((roles & production_role::kGroup) != 0) {
    scope.aggregated = true;
  } else if (has(symbol, symbol_role::kBeside) && !scope.aggregated) {
    const bool reads_rows = taken.production >= 0 ? has_bit(symbol.reads_rows.words, static_cast<std::size_t>(taken.production))
                                                  : taken.pointer == Pointer::kColumn;
    if ((roles & production_role::kAggregate) != 0) {
      scope.aggregated = true;
    } else if (reads_rows) {
      scope.of_rows = true;
    }
  } else if ((roles & production_role::kPartition) != 0 && !scope.aggregated) {
    scope.of_rows = true;
  }
}

// Notes the column that a key of GROUP BY points at; false where memory has none left.
template <class Memory>
FASTSQL_HOST_DEVICE bool add_key(const SpaceView& space, Memory& memory, State& state, const Cell& cell, Action action) {
  const bool asked = has(space.grammar.symbol(cell.symbol), symbol_role::kWhich);
  if (!state.in_query || !(asked ? state.keying : in_group(space.grammar, cell))) return true;
  std::int32_t column = -1, step = action.index;
  if (asked) {
    column = state.column;
  } else if (action.kind == Kind::kColumn) {
    column = action.index;
    int found = 0;
    for (const Source* source = state.scope.sources; source != nullptr; source = source->before) {
      if (source->table != space.schema.table_of[column]) continue;
      ++found;
      step = source->step;
    }
    if (found != 1) return true;  // of several, the source is asked for next
  } else if (action.kind != Kind::kStep) {
    return true;
  }
  state.scope.keys = memory.keep(Key{state.scope.keys, column, step});
  return state.scope.keys != nullptr;
}

}  // namespace fastsql::grammar
