// What the rules ask of a query's scope.
#pragma once

#include "grammar/state.h"

namespace fastsql::grammar {

FASTSQL_HOST_DEVICE bool has(const Symbol& symbol, std::uint32_t role) { return (symbol.roles & role) != 0; }

// Sources whose columns a pointer may name: those from `first` on back to, not including, `last`.
struct Eligible {
  const Source* first;
  const Source* last;
};
FASTSQL_HOST_DEVICE Eligible eligible(const Scope& scope, Pointer pointer) {
  const Source* newest = scope.sources;
  if (newest == nullptr) return {nullptr, nullptr};
  if (pointer == Pointer::kEarlier) return {newest->before, nullptr};
  if (pointer == Pointer::kNewest) return {newest, newest->before};
  return {newest, nullptr};
}

// Whether a column's source is a key of GROUP BY; for a derived table `column` is the step of its item.
FASTSQL_HOST_DEVICE bool is_key(const Scope& scope, const Source& source, std::int32_t column) {
  for (const Key* key = scope.keys; key != nullptr; key = key->before) {
    if (source.table >= 0 ? key->column == column && key->step == source.step : key->column == -1 && key->step == column) {
      return true;
    }
  }
  return false;
}

// Actions that an alternative of a symbol will cost in right operands of set operations, beside its own; negative where they
// were set aside. `all_columns`: whether it selects all columns.
FASTSQL_HOST_DEVICE std::int32_t surcharge(const State& state, const GrammarView& grammar, const Symbol& symbol,
                                           bool all_columns) {
  if (!state.in_query) return 0;
  const Scope& scope = state.scope;
  if (has(symbol, symbol_role::kItems)) {
    return scope.stands_for == nullptr ? grammar.item_cost * scope.followers : -grammar.item_cost;
  }
  if (has(symbol, symbol_role::kJoins) && scope.widths != nullptr) return -grammar.bounds.least_join;
  if (has(symbol, symbol_role::kHops)) return -grammar.hop_cost;  // set aside when the way was chosen
  if (all_columns && scope.widths == nullptr) {
    return grammar.bounds.least_join * (count_of(scope.sources) - 1) * scope.followers;
  }
  return 0;
}

}  // namespace fastsql::grammar
