// What the pointers of the offered alternatives may point at. Each function adds flat ids to a set of space.words() words.
#pragma once

#include "grammar/grouping.h"
#include "grammar/literals.h"
#include "grammar/routes.h"

namespace fastsql::grammar {

// How many columns the source that opens or joins FROM must have; -1 where that is not fixed.
FASTSQL_HOST_DEVICE std::int32_t width_to_come(const State& state, const Symbol& symbol) {
  if (has(symbol, symbol_role::kOperand) && state.widths != nullptr) return width_at(state.widths, 0);
  if (has(symbol, symbol_role::kNewSource) && state.in_query && state.scope.widths != nullptr) {
    return width_at(state.scope.widths, count_of(state.scope.sources));
  }
  return -1;
}

// Tables of that width, or all where it is -1.
template <class Writer>
FASTSQL_HOST_DEVICE void add_tables(const SchemaView& schema, std::int32_t width, SetPart<Writer>& set) {
  const auto first = static_cast<std::size_t>(schema.first_table), tables = static_cast<std::size_t>(schema.tables);
  if (width < 0) set.add_range(first, first + tables);
  for (std::size_t table = 0; table < tables && width >= 0; ++table) {
    if (schema.columns_of[table].size() == width) set.add(first + table);
  }
}

// Columns of the sources that a pointer may name; `stored`: those of tables.
template <class Writer>
FASTSQL_HOST_DEVICE void add_columns(const SpaceView& space, const Scope& scope, Pointer pointer, bool stored,
                                     SetPart<Writer>& set) {
  const SchemaView& schema = space.schema;
  const auto first = static_cast<std::size_t>(schema.first_column());
  const auto step = static_cast<std::size_t>(space.offset(Kind::kStep));
  const bool times_only = pointer == Pointer::kTime;
  const Eligible sources = eligible(scope, pointer);
  for (const Source* source = sources.first; source != sources.last; source = source->before) {
    if (source->table >= 0) {
      const Range columns = schema.columns_of[source->table];
      const std::size_t begin = first + static_cast<std::size_t>(columns.begin);
      const std::size_t end = first + static_cast<std::size_t>(columns.end);
      times_only ? set.add_from(schema.times, begin, end) : set.add_range(begin, end);
      continue;
    }
    if (stored) continue;
    for (const Item* item = source->items; item != nullptr; item = item->before) {
      if (times_only && !can_hold_time(item->typed.type)) continue;
      set.add(step + static_cast<std::size_t>(item->step));
    }
  }
}

// Keys of GROUP BY; `stored`: those that are columns of tables.
template <class Writer>
FASTSQL_HOST_DEVICE void add_keys(const SpaceView& space, const Scope& scope, bool stored, SetPart<Writer>& set) {
  for (const Key* key = scope.keys; key != nullptr; key = key->before) {
    if (stored && key->column < 0) continue;
    const std::int32_t id = key->column < 0 ? space.offset(Kind::kStep) + key->step : space.offset(Kind::kColumn) + key->column;
    set.add(static_cast<std::size_t>(id));
  }
}

// The sources that offer the column just pointed at.
template <class Writer>
FASTSQL_HOST_DEVICE void add_sources_meant(const SpaceView& space, const State& state, const Cell& cell, SetPart<Writer>& set) {
  if (state.column < 0) return;
  const std::int32_t table = space.schema.table_of[state.column];
  const auto step = static_cast<std::size_t>(space.offset(Kind::kStep));
  const bool keys_only = restricts_to_keys(space, state, cell);
  const Eligible sources = eligible(state.scope, state.pointer);
  for (const Source* source = sources.first; source != sources.last; source = source->before) {
    if (source->table != table || (keys_only && !is_key(state.scope, *source, state.column))) continue;
    set.add(step + static_cast<std::size_t>(source->step));
  }
}

// Tables that may open or join FROM where a symbol stands, or to which a way along keys may lead.
template <class Writer>
FASTSQL_HOST_DEVICE void add_joined(const SpaceView& space, const State& state, const Symbol& symbol, std::int32_t room,
                                    SetPart<Writer>& set) {
  if (has(symbol, symbol_role::kTarget)) {
    add_targets(space, state, room, set);
  } else if (has(symbol, symbol_role::kHop)) {
    add_hops(space, state, set);
  } else {
    add_tables(space.schema, width_to_come(state, symbol), set);
  }
}

// Whether the result of a turn is in FROM: it may be once, where its columns have one name each.
FASTSQL_HOST_DEVICE bool is_in_from(const Scope& scope, std::int32_t turn) {
  for (const Source* source = scope.sources; source != nullptr; source = source->before) {
    if (source->turn == turn) return true;
  }
  return false;
}

// Whether a pointer may point at a turn that is written out so deep, where so much of the budget is left for it.
FASTSQL_HOST_DEVICE bool fits(const SpaceView& space, std::int32_t number, Pointer pointer, std::int32_t depth,
                              std::int32_t room) {
  const Turn& turn = space.turn[number];
  if (!turn.usable) return false;
  if (pointer == Pointer::kExtended) return turn.actions <= room && turn.sources.size() > 0;
  if (pointer == Pointer::kMember && turn.items.size() != 1) return false;
  return turn.spelled <= room && turn.nesting <= space.grammar.bounds.nesting - depth;
}

// Earlier turns, where so much of the budget is left for them.
template <class Writer>
FASTSQL_HOST_DEVICE void add_turns(const SpaceView& space, const State& state, const Cell& cell, Pointer pointer,
                                   std::int32_t room, SetPart<Writer>& set) {
  for (std::int32_t number = 0; number < space.turns; ++number) {
    if (!fits(space, number, pointer, cell.depth, room)) continue;
    if (pointer == Pointer::kTurn && state.in_query && is_in_from(state.scope, number)) continue;
    set.add(static_cast<std::size_t>(space.offset(Kind::kTurn) + number));
  }
}

// What a pointer may point at where a cell stands; `room` is what is left of the budget before.
template <class Writer>
FASTSQL_HOST_DEVICE void add_pointed(const SpaceView& space, const State& state, const Cell& cell, Pointer pointer,
                                     std::int32_t room, SetPart<Writer>& set) {
  if (pointer == Pointer::kTable) {
    add_joined(space, state, space.grammar.symbol(cell.symbol), room - 1, set);
    return;
  }
  if (!state.in_query) return;  // everything else is asked for within a query
  const Typed left = state.scope.left;
  switch (pointer) {
    case Pointer::kColumn:
    case Pointer::kTime:
    case Pointer::kEarlier:
    case Pointer::kNewest: {
      if (is_routed(space.grammar, cell)) {
        add_sides(space, state, pointer, set);
        break;
      }
      const bool stored = has(space.grammar.symbol(cell.symbol), symbol_role::kStored);
      restricts_to_keys(space, state, cell) ? add_keys(space, state.scope, stored, set)
                                            : add_columns(space, state.scope, pointer, stored, set);
      break;
    }
    case Pointer::kWhich:
      add_sources_meant(space, state, cell, set);
      break;
    case Pointer::kNumber:
      add_candidates(space, space.whole_numbers, set);
      break;
    case Pointer::kDate:
      add_candidates(space, space.dates, set);
      break;
    case Pointer::kText:
      add_candidates(space, space.texts, set);
      break;
    case Pointer::kPattern:
      add_literals(space, left, set);
      add_candidates(space, space.texts, set);
      break;
    case Pointer::kValue:
      add_literals(space, left, set);
      break;
    case Pointer::kStart:
      add_span_starts(space, left, has(space.grammar.symbol(state.stack->symbol), symbol_role::kPartial), set);
      break;
    case Pointer::kEnd:
      add_span_ends(space, state.span, set);
      break;
    case Pointer::kTable:
    case Pointer::kTurn:
    case Pointer::kMember:
    case Pointer::kExtended:
      break;
  }
}

}  // namespace fastsql::grammar
