// A hypothesis of the automaton. A state is a small value: to fork a hypothesis is to copy it. What its pointers lead to
// lies in an arena, is shared by all states that came from one another, and never changes.
#pragma once

#include <cstdint>
#include <type_traits>

#include "grammar/views.h"

namespace fastsql::grammar {

// An entry of the stack: a symbol (>= 0) or an effect (< 0), the production that put it there (the number of productions:
// none did), and the entries of SQLite's parser stack that are taken where it stands.
struct alignas(16) Cell {
  std::int16_t symbol;
  std::int16_t parent;
  std::int32_t depth;
  const Cell* below;
};

// A select item and those before it: type and column passed on, the decision that ended it.
struct Item {
  const Item* before;
  const Item* first;  // of the list; itself where there is none before
  std::int32_t count;
  std::int32_t step;
  Typed typed;
  bool any_time;  // whether one of the list can hold a time
};

// An entry of FROM and those before it: a table, or a derived table (-1) and its items.
struct Source {
  const Source* before;
  const Item* items;
  std::int32_t count;
  std::int32_t table;
  std::int32_t step;
  std::int32_t width;        // columns that it has
  std::int32_t total_width;  // with those before
  std::int32_t turn;         // whose result it is, or -1
  bool any_time, any_derived;
};

// A key of GROUP BY and those before it: a column and its source's step, or -1 and the step of a derived table's item.
struct Key {
  const Key* before;
  std::int32_t column;
  std::int32_t step;
};

// What an earlier turn offers, at steps of its own.
struct Offered {
  const Item* items;
  const Source* sources;
  const Key* keys;
};

// What is known of the query that is being written, and through `outer` of those around it.
struct Scope {
  const Scope* outer = nullptr;
  const Source* sources = nullptr;
  const Item* items = nullptr;
  const Item* stands_for = nullptr;  // as right operand: the left one's items, which name the result
  const Source* widths = nullptr;    // as right operand of one that selects `*`: that one's sources
  const Key* keys = nullptr;
  std::int32_t arity = -1;     // items that it must select; -1 where nothing has fixed it
  std::int32_t followers = 0;  // right operands to come that must select as many items
  Typed left;                  // what a literal is to be compared with
  std::int32_t wanted = -1;    // the group of keys that its item is compared with; -1: none
  bool starred = false;        // it selects `*`
  bool grouped = false;        // it has GROUP BY
  bool aggregated = false;     // it groups or aggregates
  bool of_rows = false;        // it reads columns of single rows in its select list
  std::int32_t reopened = -1;  // the turn that it extends
};

struct State {
  const Cell* stack = nullptr;
  Scope scope;  // where `in_query`
  bool in_query = false;
  bool beside = false;                 // whether the source asked for must be a key of GROUP BY
  bool keying = false;                 // whether the column whose source is asked for becomes one
  bool compared = false;               // whether the turn asked for is compared with `left`
  Pointer pointer = Pointer::kColumn;  // that named the column whose source is asked for
  std::int32_t column = -1;            // that column
  std::int32_t toward = -1;            // the table to which a way along keys leads
  std::int32_t span = -1;              // token at which the span begins
  std::int32_t used = 0;               // actions
  std::int32_t decisions = 0;          // those that were not the only legal one
  std::int32_t cost = 0;               // fewest actions that complete the query
  Typed last;                          // what was completed last
  // What the next query to open must do, and what the one closed last has done.
  std::int32_t arity = -1;
  std::int32_t followers = 0;
  const Item* stands_for = nullptr;
  const Source* widths = nullptr;
  std::int32_t wanted = -1;
  const Item* closed = nullptr;
  const Source* closed_widths = nullptr;
  const Offered* offered = nullptr;  // by earlier turns, [turns]

  FASTSQL_HOST_DEVICE bool finished() const { return stack == nullptr; }
  FASTSQL_HOST_DEVICE std::int32_t symbol() const { return stack->symbol; }  // the frontier; not once finished
  FASTSQL_HOST_DEVICE std::int32_t parent() const { return stack->parent; }
};
static_assert(std::is_trivially_copyable_v<State> && sizeof(State) <= 256);

FASTSQL_HOST_DEVICE std::int32_t count_of(const Item* items) { return items == nullptr ? 0 : items->count; }
FASTSQL_HOST_DEVICE std::int32_t count_of(const Source* sources) { return sources == nullptr ? 0 : sources->count; }

// Width of the source at a place, counted from 0; -1 where there is none.
FASTSQL_HOST_DEVICE std::int32_t width_at(const Source* sources, std::int32_t place) {
  while (sources != nullptr && sources->count > place + 1) sources = sources->before;
  return sources != nullptr && sources->count == place + 1 ? sources->width : -1;
}

}  // namespace fastsql::grammar
