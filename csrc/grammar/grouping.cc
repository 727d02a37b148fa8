// Strict grouping, as python/fastsql/grammar/grouping.py has it.
#include "grammar/automaton.h"

namespace fastsql::grammar {
namespace {

constexpr std::size_t kColumnHead = head_of(Pointer::kColumn);

bool is_key_of_partition(const Grammar& grammar, const Cell& cell) {
  return (grammar.symbol(cell.symbol).roles & symbol_role::kPlain) != 0 &&
         (grammar.production_roles(cell.parent) & production_role::kPartition) != 0;
}

bool in_group(const Grammar& grammar, const Cell& cell) {
  return (grammar.production_roles(cell.parent) & production_role::kGroup) != 0;
}

}  // namespace

// Takes away the heads that strict grouping forbids.
void Automaton::keep_grouped(const State& state, const Cell& cell, HeadSet& heads) const {
  if (!state.in_query) return;
  const Grammar& grammar = space_->grammar();
  const Symbol& symbol = grammar.symbol(cell.symbol);
  const Scope& scope = state.scope;
  const bool has_keys = scope.keys != nullptr;
  const bool key_of_group = (symbol.roles & symbol_role::kPlain) != 0 && in_group(grammar, cell);
  if (key_of_group || (is_key_of_partition(grammar, cell) && scope.aggregated)) {
    heads &= only(kColumnHead);
    return;
  }
  if ((symbol.roles & symbol_role::kTailRow) != 0 && scope.aggregated) heads.remove(grammar.orders());
  HeadSet partitions = heads;
  partitions &= grammar.partitions();
  heads.remove(partitions);
  if ((symbol.roles & symbol_role::kBeside) != 0) {
    if (scope.of_rows) {
      heads.remove(grammar.aggregates());
    } else if (scope.aggregated) {
      heads.remove(symbol.reads_rows);
      if (!has_keys) heads.remove(kColumnHead);
    }
  }
  if (!scope.aggregated || has_keys) heads |= partitions;
}

// Whether only keys of GROUP BY may be pointed at where a cell stands.
bool Automaton::restricts_to_keys(const State& state, const Cell& cell) const {
  if (!space_->strict_grouping() || !state.in_query || !state.scope.aggregated) return false;
  const std::uint32_t roles = space_->grammar().symbol(cell.symbol).roles;
  return (roles & symbol_role::kBeside) != 0 || is_key_of_partition(space_->grammar(), cell) ||
         ((roles & symbol_role::kWhich) != 0 && state.beside);
}

// Notes that an alternative was taken.
void Automaton::account(State& state, const Cell& cell, const Alternative& taken) const {
  if (!state.in_query) return;
  const Grammar& grammar = space_->grammar();
  const Symbol& symbol = grammar.symbol(cell.symbol);
  Scope& scope = state.scope;
  const std::uint32_t roles = grammar.production_roles(taken.production);
  if ((roles & production_role::kGroup) != 0) {
    scope.aggregated = true;
  } else if ((symbol.roles & symbol_role::kBeside) != 0 && !scope.aggregated) {
    const bool reads_rows =
        taken.production >= 0 ? has_bit(symbol.reads_rows.words, static_cast<std::size_t>(taken.production))
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

// Notes the column that a key of GROUP BY points at.
void Automaton::add_key(State& state, const Cell& cell, Action action) {
  const Grammar& grammar = space_->grammar();
  if (!state.in_query || !in_group(grammar, cell)) return;
  std::int32_t column = -1, step = action.index;
  if ((grammar.symbol(cell.symbol).roles & symbol_role::kWhich) != 0) {
    column = state.column;
  } else if (action.kind == Kind::kColumn) {
    column = action.index;
    int found = 0;
    for (const Source* source = state.scope.sources; source != nullptr; source = source->before) {
      if (source->table != space_->schema().table_of(column)) continue;
      ++found;
      step = source->step;
    }
    if (found != 1) return;  // of several, the source is asked for next
  } else if (action.kind != Kind::kStep) {
    return;
  }
  state.scope.keys = arena_.keep(Key{state.scope.keys, column, step});
}

bool is_key(const Scope& scope, const Source& source, std::int32_t column) {
  for (const Key* key = scope.keys; key != nullptr; key = key->before) {
    if (source.table >= 0 ? key->column == column && key->step == source.step
                          : key->column == -1 && key->step == column) {
      return true;
    }
  }
  return false;
}

}  // namespace fastsql::grammar
