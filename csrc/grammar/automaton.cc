#include "grammar/automaton.h"

namespace fastsql::grammar {

State Automaton::start() {
  const Grammar& grammar = space_->grammar();
  State state;
  push(state, {0, static_cast<std::int16_t>(grammar.productions()), 0, nullptr});
  state.cost = grammar.symbol(0).cost;
  return state;
}

bool Automaton::advance(State& state, std::int32_t flat_id, bool decision) {
  if (flat_id < 0 || flat_id >= space_->size() || state.used >= space_->budget()) return false;
  const Grammar& grammar = space_->grammar();
  const Action action = space_->locate(flat_id);
  const Cell* cell = state.stack;
  std::int32_t cost = state.cost;
  const Alternative* taken = nullptr;
  for (; cell != nullptr && cell->symbol >= 0; cell = cell->below) {
    const Symbol& symbol = grammar.symbol(cell->symbol);
    cost -= symbol.cost;
    taken = grammar.find(cell->symbol, action.kind, action.index);
    if (taken != nullptr || !symbol.nullable) break;
  }
  if (taken == nullptr) return false;

  const bool all_columns = (taken->requirements & requirement::kColumns) != 0;
  cost += surcharge(state, grammar, grammar.symbol(cell->symbol), all_columns) + taken->children_cost;
  state.used += 1;
  state.decisions += decision;
  state.cost = cost;
  const std::int16_t parent =
      taken->production >= 0 ? static_cast<std::int16_t>(taken->production) : cell->parent;
  const Cell* below = cell->below;
  if (taken->child_count > 0) {
    Cell* cells = arena_.allocate<Cell>(taken->child_count);
    for (std::size_t child = taken->child_count; child-- > 0; ++cells) {
      *cells = {static_cast<std::int16_t>(taken->children[child]), parent, cell->depth + taken->weight, below};
      below = cells;
    }
  }
  state.stack = below;
  if (space_->strict_grouping()) account(state, *cell, *taken);
  if (taken->production < 0) {
    note_pointed(state, *cell, *taken, action);
    if (space_->strict_grouping()) add_key(state, *cell, action);
  }
  settle(state, action);
  return true;
}

void Automaton::push(State& state, const Cell& cell) { state.stack = arena_.keep(cell); }

// Notes what was pointed at; asks which source is meant where several offer the column.
void Automaton::note_pointed(State& state, const Cell& cell, const Alternative& taken, Action action) {
  const Grammar& grammar = space_->grammar();
  const SchemaItems& schema = space_->schema();
  if (action.kind == Kind::kStart) state.span = action.index;
  if (action.kind == Kind::kColumn) {
    state.last = {schema.type(action.index), action.index};
    if (!state.in_query || grammar.which() < 0) return;
    const std::int32_t table = schema.table_of(action.index);
    const Eligible sources = eligible(state.scope, taken.pointer);
    int offering = 0;
    for (const Source* source = sources.first; source != sources.last; source = source->before) {
      offering += source->table == table;
    }
    if (offering < 2) return;
    state.column = action.index;
    state.pointer = taken.pointer;
    state.beside = restricts_to_keys(state, cell);
    push(state, {static_cast<std::int16_t>(grammar.which()), cell.parent, cell.depth + taken.weight, state.stack});
    state.cost += grammar.symbol(grammar.which()).cost;
  } else if (action.kind == Kind::kStep && taken.pointer != Pointer::kWhich && state.in_query) {
    // Of items that one decision ended, the first is meant: the last that is met from the newest on.
    const Eligible sources = eligible(state.scope, taken.pointer);
    for (const Source* source = sources.first; source != sources.last; source = source->before) {
      for (const Item* item = source->items; item != nullptr; item = item->before) {
        if (item->step == action.index) state.last = item->typed;
      }
    }
  }
}

Eligible eligible(const Scope& scope, Pointer pointer) {
  const Source* newest = scope.sources;
  if (newest == nullptr) return {nullptr, nullptr};
  if (pointer == Pointer::kEarlier) return {newest->before, nullptr};
  if (pointer == Pointer::kNewest) return {newest, newest->before};
  return {newest, nullptr};
}

}  // namespace fastsql::grammar
