// The pushdown automaton of the action grammar: which actions may come next, and what each one changes. Its semantics are
// those of python/fastsql/grammar/automaton.py, mask for mask: every alternative is offered only if its cheapest completion
// fits in the step budget, if the columns, tables and literals that it must point at exist, and if nesting allows.
//
//   Automaton automaton(space);
//   State state = automaton.start();
//   while (!state.finished()) {
//     automaton.mask(state, legal.data());                  // a bit for each action
//     State fork = state;                                   // free
//     automaton.advance(state, best_of(legal), true);
//   }
//
// One automaton serves one search on one thread; its space, schema and grammar may be shared by many.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "grammar/arena.h"
#include "grammar/state.h"

namespace fastsql::grammar {

class Automaton {
 public:
  explicit Automaton(std::shared_ptr<const ActionSpace> space) : space_(std::move(space)) {}

  const ActionSpace& space() const { return *space_; }

  // The state before the first action.
  State start();

  // Takes an action, which should be one that `mask` offers. `decision` is false for the only legal one. Returns false,
  // with the state as it was, for one that the frontier does not know or that the budget has no room for; requirements
  // are checked by `mask` alone.
  bool advance(State& state, std::int32_t flat_id, bool decision);

  // Writes which actions may come next: a set of space().words() words. Empty after the end.
  void mask(const State& state, Word* set) const;

  // Forgets all states made so far; their memory is used again.
  void clear() { arena_.clear(); }

  // Bytes of memory held for states.
  std::size_t capacity() const { return arena_.capacity(); }

 private:
  // What may be taken where a cell of the stack is: which alternatives...
  HeadSet offered(const State& state, const Cell& cell, std::int32_t room) const;
  bool offers_all_columns(const Scope& scope) const;
  bool offers_span(const State& state) const;
  void keep_repeats(const State& state, const Symbol& symbol, HeadSet& heads) const;
  std::int32_t width_to_come(const State& state, const Symbol& symbol) const;
  // ... and what their pointers may point at.
  void add_pointed(const State& state, const Cell& cell, Pointer pointer, Word* set) const;
  void add_tables(std::int32_t width, Word* set) const;
  void add_columns(const Scope& scope, Pointer pointer, Word* set) const;
  void add_keys(const Scope& scope, Word* set) const;
  void add_sources_meant(const State& state, const Cell& cell, Word* set) const;

  // Strict grouping: beside aggregates stand only columns that the query groups by, as PostgreSQL demands.
  void keep_grouped(const State& state, const Cell& cell, HeadSet& heads) const;
  bool restricts_to_keys(const State& state, const Cell& cell) const;
  void account(State& state, const Cell& cell, const Alternative& taken) const;
  void add_key(State& state, const Cell& cell, Action action);

  // What taking an alternative, and completing a construct, changes.
  void note_pointed(State& state, const Cell& cell, const Alternative& taken, Action action);
  void settle(State& state, Action action);
  void carry_out(State& state, Effect effect, Action action);
  void open_query(State& state);
  void close_query(State& state) const;
  void add_source(State& state, std::int32_t table, const Item* items);
  const Item* longer(const Item* items, Typed typed, std::int32_t count, std::int32_t step);
  const Item* all_columns(const State& state);
  void push(State& state, const Cell& cell);

  std::shared_ptr<const ActionSpace> space_;
  Arena arena_;
};

// Actions that an alternative of a symbol will cost in right operands of set operations, beside its own; negative where they
// were set aside. `all_columns`: whether it selects all columns.
std::int32_t surcharge(const State& state, const Grammar& grammar, const Symbol& symbol, bool all_columns);

// Sources whose columns a pointer may name: those from `first` on back to, not including, `last`.
struct Eligible {
  const Source* first;
  const Source* last;
};
Eligible eligible(const Scope& scope, Pointer pointer);

// Whether a column's source is a key of GROUP BY; for a derived table `column` is the step of its item.
bool is_key(const Scope& scope, const Source& source, std::int32_t column);

constexpr bool points_at_column(Pointer pointer) {
  return pointer == Pointer::kColumn || pointer == Pointer::kTime || pointer == Pointer::kEarlier ||
         pointer == Pointer::kNewest;
}

}  // namespace fastsql::grammar
