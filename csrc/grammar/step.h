// The steps of the pushdown automaton, written once for the processor and the GPU: which actions may come next (mask), and what
// each one changes (start, advance). Semantics are those of python/fastsql/grammar/step.py and mask.py, mask for mask: every
// alternative is offered only if its cheapest completion fits in the step budget, if the columns, tables and literals that it
// must point at exist, and if nesting allows.
//
// Memory is where states keep what they share: an Arena, which grows, or a BoundedArena. Nothing here throws, recurs or allocates
// otherwise.
#pragma once

#include "grammar/comparing.h"
#include "grammar/effects.h"
#include "grammar/mask.h"
#include "grammar/turns.h"

namespace fastsql::grammar {

template <class Memory>
FASTSQL_HOST_DEVICE bool push(Memory& memory, State& state, const Cell& cell) {
  const Cell* kept = memory.keep(cell);
  if (kept != nullptr) state.stack = kept;
  return kept != nullptr;
}

// The state before the first action. Where memory has no room for that it is finished at once: see whether memory is full.
template <class Memory>
FASTSQL_HOST_DEVICE State start(const SpaceView& space, Memory& memory) {
  State state;
  push(memory, state, {0, static_cast<std::int16_t>(space.grammar.productions), 0, nullptr});
  state.cost = space.grammar.symbol(0).cost;
  if (space.turns > 0) {
    state.offered = offer_turns(space, memory);
    if (state.offered == nullptr) state.stack = nullptr;
  }
  return state;
}

// Puts the children of what was taken at a cell on the stack.
template <class Memory>
FASTSQL_HOST_DEVICE bool expand(const SpaceView& space, Memory& memory, State& state, const Cell& cell,
                                const Alternative& taken) {
  const Cell* below = cell.below;
  if (taken.child_count > 0) {
    const std::int16_t* children = space.grammar.children + taken.first_child;
    const std::int16_t parent = taken.production >= 0 ? taken.production : cell.parent;
    Cell* cells = memory.template allocate<Cell>(taken.child_count);
    if (cells == nullptr) return false;
    for (int child = taken.child_count; child-- > 0; ++cells) {
      *cells = {children[child], parent, cell.depth + taken.weight, below};
      below = cells;
    }
  }
  state.stack = below;
  return true;
}

// Notes what was pointed at; asks which source is meant where several offer the column.
template <class Memory>
FASTSQL_HOST_DEVICE bool note_pointed(const SpaceView& space, Memory& memory, State& state, const Cell& cell,
                                      const Alternative& taken, Action action) {
  const GrammarView& grammar = space.grammar;
  const SchemaView& schema = space.schema;
  if (action.kind == Kind::kStart) state.span = action.index;
  if (action.kind == Kind::kColumn) {
    state.last = {schema.types[action.index], action.index};
    if (!state.in_query || grammar.which < 0) return true;
    const std::int32_t table = schema.table_of[action.index];
    const Eligible sources = eligible(state.scope, taken.pointer);
    int offering = 0;
    for (const Source* source = sources.first; source != sources.last; source = source->before) {
      offering += source->table == table;
    }
    if (offering < 2) return true;
    state.column = action.index;
    state.pointer = taken.pointer;
    state.beside = restricts_to_keys(space, state, cell);
    state.keying = in_group(grammar, cell);
    state.cost += grammar.symbol(grammar.which).cost;
    return push(memory, state, {static_cast<std::int16_t>(grammar.which), cell.parent, cell.depth + taken.weight, state.stack});
  }
  if (action.kind == Kind::kStep && taken.pointer != Pointer::kWhich && state.in_query) {
    // Of items that one decision ended, the first is meant: the last that is met from the newest on.
    const Eligible sources = eligible(state.scope, taken.pointer);
    for (const Source* source = sources.first; source != sources.last; source = source->before) {
      for (const Item* item = source->items; item != nullptr; item = item->before) {
        if (item->step == action.index) state.last = item->typed;
      }
    }
  }
  if (action.kind == Kind::kTurn) {
    const Turn& turn = space.turn[action.index];
    state.used += taken.pointer == Pointer::kExtended ? turn.actions : turn.spelled;
    if (turn.items.size() > 0) state.last = space.turn_items[turn.items.begin];
  }
  return true;
}

// Notes which keys a scalar subquery is compared with that stands in a cell: what was completed last is not its left.
FASTSQL_HOST_DEVICE void note_scalar(const SpaceView& space, State& state, const Cell& cell) {
  const bool equated = compares(space, state, cell) && (space.grammar.roles_of(cell.parent) & production_role::kEquates) != 0;
  state.wanted = equated ? group_of(space.schema, state.scope.left) : -1;
}

// Takes an action, which should be one that `mask` offers. `decision` is false for the only legal one. Returns false, with the
// state as it was, for one that the frontier does not know or that the budget has no room for; requirements are checked by `mask`
// alone. Returns false, too, where memory is full, and then the state is of no more use.
template <class Memory>
FASTSQL_HOST_DEVICE bool advance(const SpaceView& space, Memory& memory, State& state, std::int32_t flat_id, bool decision) {
  if (flat_id < 0 || flat_id >= space.size() || state.used >= space.budget) return false;
  const GrammarView& grammar = space.grammar;
  const Action action = space.locate(flat_id);
  const Cell* cell = state.stack;
  std::int32_t cost = state.cost;
  const Alternative* taken = nullptr;
  for (; cell != nullptr && cell->symbol >= 0; cell = cell->below) {
    const Symbol& symbol = grammar.symbol(cell->symbol);
    cost -= symbol.cost;
    taken = grammar.find(cell->symbol, action);
    if (taken != nullptr || !symbol.nullable) break;
  }
  if (taken == nullptr) return false;

  const bool all_columns = (taken->requirements & requirement::kColumns) != 0;
  state.cost = cost + surcharge(state, grammar, grammar.symbol(cell->symbol), all_columns) + taken->children_cost;
  state.used += 1;
  state.decisions += decision;
  state.compared = (taken->requirements & requirement::kMember) != 0 && compares(space, state, *cell);
  if (!expand(space, memory, state, *cell, *taken)) return false;
  if (space.strict_grouping) account(space, state, *cell, *taken);
  if (taken->production < 0) {
    if (!note_pointed(space, memory, state, *cell, *taken, action)) return false;
    if (space.strict_grouping && !add_key(space, memory, state, *cell, action)) return false;
  }
  if (!settle(space, memory, state, action)) return false;
  const bool opens = taken->child_count > 0 && grammar.children[taken->first_child] == -1 - static_cast<int>(Effect::kOne);
  if (opens) note_scalar(space, state, *cell);
  return true;
}

}  // namespace fastsql::grammar
