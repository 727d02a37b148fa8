// Semantic actions: what completing a construct changes in the scope.
#include <algorithm>

#include "grammar/automaton.h"

namespace fastsql::grammar {

// Carries out the semantic actions that now lie on top of the stack.
void Automaton::settle(State& state, Action action) {
  while (state.stack != nullptr && state.stack->symbol < 0) {
    const Effect effect = static_cast<Effect>(-1 - state.stack->symbol);
    state.stack = state.stack->below;
    carry_out(state, effect, action);
  }
}

void Automaton::carry_out(State& state, Effect effect, Action action) {
  switch (effect) {
    case Effect::kFrom:  // a query opens with the table just pointed at
      open_query(state);
      add_source(state, action.index, nullptr);
      break;
    case Effect::kScope:  // a query opens whose first source is yet to come
      open_query(state);
      break;
    case Effect::kSource:  // the table just pointed at joins FROM
      add_source(state, action.index, nullptr);
      break;
    case Effect::kDerived:  // the query just closed joins FROM
      add_source(state, -1, state.closed);
      break;
    case Effect::kItem:  // a select item is complete
      state.scope.items = longer(state.scope.items, state.last, 1, std::max(state.decisions - 1, 0));
      break;
    case Effect::kColumns:  // the query selects all columns of its sources
      state.scope.items = all_columns(state);
      state.scope.starred = true;
      break;
    case Effect::kGrouped:  // the query groups
      state.scope.grouped = true;
      break;
    case Effect::kClose:  // the innermost query is complete
      close_query(state);
      break;
    case Effect::kOne:  // the query to come selects one item
      state.arity = 1;
      break;
    case Effect::kFirst:  // the left operand of a set operation comes
      state.followers += 1;
      break;
    case Effect::kSecond:  // the right operand comes: as many items as the left one had
      state.arity = count_of(state.closed);
      state.stands_for = state.closed;
      state.widths = state.closed_widths;
      break;
    case Effect::kLeft:  // what was just completed is the left-hand side of a comparison
      state.scope.left = state.last;
      break;
    case Effect::kNumbers:  // the literals to come are numbers
      state.scope.left = {TypeClass::kNumber, -1};
      break;
    case Effect::kNumber:  // what was just completed is a number
      state.last = {TypeClass::kNumber, -1};
      break;
    case Effect::kText:
      state.last = {TypeClass::kText, -1};
      break;
    case Effect::kTime:
      state.last = {TypeClass::kTime, -1};
      break;
  }
}

void Automaton::open_query(State& state) {
  Scope scope;
  scope.outer = state.in_query ? arena_.keep(state.scope) : nullptr;
  scope.arity = state.arity;
  scope.followers = state.followers;
  scope.stands_for = state.stands_for;
  scope.widths = state.widths;
  state.scope = scope;
  state.in_query = true;
  state.arity = -1;
  state.followers = 0;
  state.stands_for = nullptr;
  state.widths = nullptr;
}

void Automaton::close_query(State& state) const {
  const Scope& scope = state.scope;
  state.closed = scope.stands_for != nullptr ? scope.stands_for : scope.items;
  state.closed_widths = scope.starred ? scope.sources : nullptr;
  if (state.closed != nullptr) state.last = state.closed->first->typed;
  state.in_query = scope.outer != nullptr;
  state.scope = state.in_query ? Scope(*scope.outer) : Scope{};
}

void Automaton::add_source(State& state, std::int32_t table, const Item* items) {
  const SchemaItems& schema = space_->schema();
  const Source* before = state.scope.sources;
  Source source{};
  source.before = before;
  source.items = items;
  source.count = count_of(before) + 1;
  source.table = table;
  source.step = std::max(state.decisions - 1, 0);
  source.width = table < 0 ? count_of(items) : schema.columns_of(table).size();
  source.total_width = (before == nullptr ? 0 : before->total_width) + source.width;
  source.any_time = (before != nullptr && before->any_time) ||
                    (table < 0 ? items != nullptr && items->any_time : schema.has_time(table));
  source.any_derived = (before != nullptr && before->any_derived) || table < 0;
  state.scope.sources = arena_.keep(source);
}

const Item* Automaton::longer(const Item* items, Typed typed, std::int32_t count, std::int32_t step) {
  Item* item = arena_.allocate<Item>(1);
  *item = {items, items == nullptr ? item : items->first, count_of(items) + count, step, typed, false};
  item->any_time = (items != nullptr && items->any_time) || can_hold_time(typed.type);
  return item;
}

// One entry stands for all columns: a query that selects `*` is never nested in another, so nothing points into its items;
// only their number and the first of them matter.
const Item* Automaton::all_columns(const State& state) {
  const Source* source = state.scope.sources;
  if (source == nullptr) return nullptr;
  const std::int32_t count = source->total_width;
  while (source->before != nullptr) source = source->before;
  Typed first;
  if (source->table < 0) {
    if (source->items != nullptr) first = source->items->first->typed;
  } else if (source->width > 0) {
    const std::int32_t column = space_->schema().columns_of(source->table).begin;
    first = {space_->schema().type(column), column};
  }
  return longer(nullptr, first, count, std::max(state.decisions - 1, 0));
}

}  // namespace fastsql::grammar
