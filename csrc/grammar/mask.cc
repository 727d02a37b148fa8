// What may come next: alternatives of the symbols that the next action may expand, and what their pointers may point at.
#include <algorithm>

#include "grammar/automaton.h"

namespace fastsql::grammar {
namespace {

bool has(const Symbol& symbol, std::uint32_t role) { return (symbol.roles & role) != 0; }

struct May {
  bool be_taken, be_left_out;
};

// Whether a symbol that may be left out may be taken, and whether it may be left out.
May may(const State& state, const Symbol& symbol) {
  if (!state.in_query) return {true, true};
  const Scope& scope = state.scope;
  if (has(symbol, symbol_role::kJoins) && scope.widths != nullptr) {
    const bool more = count_of(scope.sources) < count_of(scope.widths);
    return {more, !more};
  }
  if (!has(symbol, symbol_role::kItems | symbol_role::kBareItems) || scope.arity < 0) return {true, true};
  const bool more = count_of(scope.items) < scope.arity;
  return {more, !more};
}

}  // namespace

void Automaton::mask(const State& state, Word* set) const {
  std::fill_n(set, space_->words(), Word{0});
  const Grammar& grammar = space_->grammar();
  HeadSet heads;
  std::int32_t rest = state.cost;
  for (const Cell* cell = state.stack; cell != nullptr && cell->symbol >= 0; cell = cell->below) {
    const Symbol& symbol = grammar.symbol(cell->symbol);
    rest -= symbol.cost;
    const May is = may(state, symbol);
    if (is.be_taken) {
      const HeadSet here = offered(state, *cell, space_->budget() - state.used - rest);
      heads |= here;
      for (Word pointers = here.words[kPointerWord]; pointers != 0; pointers &= pointers - 1) {
        add_pointed(state, *cell, static_cast<Pointer>(lowest_bit(pointers)), set);
      }
    }
    if (!symbol.nullable || !is.be_left_out) break;
  }
  const std::size_t words = words_for(grammar.productions());
  for (std::size_t word = 0; word < words; ++word) set[word] |= heads.words[word];
}

// ---------------------------------------------------------------- alternatives

// Alternatives that budget, nesting, scope and question allow where a cell stands; `room` is what is left of the budget.
HeadSet Automaton::offered(const State& state, const Cell& cell, std::int32_t room) const {
  const Grammar& grammar = space_->grammar();
  const Symbol& symbol = grammar.symbol(cell.symbol);
  HeadSet heads = symbol.affordable(room - surcharge(state, grammar, symbol, false));
  if (!symbol.needs_columns.empty()) {
    HeadSet starred = symbol.affordable(room - surcharge(state, grammar, symbol, true));
    starred &= symbol.needs_columns;
    heads.remove(symbol.needs_columns);
    if (state.in_query && offers_all_columns(state.scope)) heads |= starred;
  }
  heads &= symbol.shallow_enough(grammar.bounds().nesting - cell.depth);
  const bool has_time = state.in_query && state.scope.sources != nullptr && state.scope.sources->any_time;
  if (!has_time) heads.remove(symbol.needs_time);
  if (!space_->has_dates()) heads.remove(symbol.needs_date);
  if (!space_->offers_text()) heads.remove(symbol.needs_text);
  if (!space_->strict_grouping() && !(state.in_query && state.scope.grouped)) heads.remove(symbol.needs_grouped);
  if (state.in_query && count_of(state.scope.sources) >= grammar.bounds().sources) heads.remove(grammar.joins());
  if (!offers_span(state)) heads.remove(head_of(Pointer::kStart));
  keep_repeats(state, symbol, heads);
  if (space_->strict_grouping()) keep_grouped(state, cell, heads);
  return heads;
}

std::int32_t surcharge(const State& state, const Grammar& grammar, const Symbol& symbol, bool all_columns) {
  if (!state.in_query) return 0;
  const Scope& scope = state.scope;
  if (has(symbol, symbol_role::kItems)) {
    return scope.stands_for == nullptr ? grammar.item_cost() * scope.followers : -grammar.item_cost();
  }
  if (has(symbol, symbol_role::kJoins) && scope.widths != nullptr) return -grammar.bounds().least_join;
  if (all_columns && scope.widths == nullptr) {
    return grammar.bounds().least_join * (count_of(scope.sources) - 1) * scope.followers;
  }
  return 0;
}

// Whether the query may select `*`: the outermost one, or an operand of it whose other operands can do so too.
bool Automaton::offers_all_columns(const Scope& scope) const {
  if (scope.outer != nullptr || (scope.arity >= 0 && scope.widths == nullptr)) return false;
  if (scope.sources == nullptr) return true;
  if (scope.followers > 0 && scope.sources->any_derived) return false;
  return scope.sources->total_width <= space_->grammar().bounds().columns;
}

bool Automaton::offers_span(const State& state) const {
  if (!space_->has_tokens() || !state.in_query) return false;
  return takes_span(state.scope.left.type) ||
         has(space_->grammar().symbol(state.stack->symbol), symbol_role::kPartial);
}

// Lets the right operand of a query that selects `*` only do the same, source by source.
void Automaton::keep_repeats(const State& state, const Symbol& symbol, HeadSet& heads) const {
  if (state.widths == nullptr && (!state.in_query || state.scope.widths == nullptr)) return;
  if (width_to_come(state, symbol) >= 0) {
    heads &= only(head_of(Pointer::kTable));
  } else if (has(symbol, symbol_role::kOperandBody)) {
    heads &= symbol.needs_columns;
  }
}

// How many columns the source that opens or joins FROM must have; -1 where that is not fixed.
std::int32_t Automaton::width_to_come(const State& state, const Symbol& symbol) const {
  if (has(symbol, symbol_role::kOperand) && state.widths != nullptr) return width_at(state.widths, 0);
  if (has(symbol, symbol_role::kNewSource) && state.in_query && state.scope.widths != nullptr) {
    return width_at(state.scope.widths, count_of(state.scope.sources));
  }
  return -1;
}

// ---------------------------------------------------------------- pointers

// Adds what a pointer may point at where a cell stands.
void Automaton::add_pointed(const State& state, const Cell& cell, Pointer pointer, Word* set) const {
  if (pointer == Pointer::kTable) {
    add_tables(width_to_come(state, space_->grammar().symbol(cell.symbol)), set);
    return;
  }
  if (!state.in_query) return;  // everything else is asked for within a query
  const Typed left = state.scope.left;
  switch (pointer) {
    case Pointer::kColumn:
    case Pointer::kTime:
    case Pointer::kEarlier:
    case Pointer::kNewest:
      restricts_to_keys(state, cell) ? add_keys(state.scope, set) : add_columns(state.scope, pointer, set);
      break;
    case Pointer::kWhich:
      add_sources_meant(state, cell, set);
      break;
    case Pointer::kNumber:
      space_->add_whole_numbers(set);
      break;
    case Pointer::kDate:
      space_->add_dates(set);
      break;
    case Pointer::kText:
      space_->add_texts(set);
      break;
    case Pointer::kPattern:
      space_->add_literals(left, set);
      space_->add_texts(set);
      break;
    case Pointer::kValue:
      space_->add_literals(left, set);
      break;
    case Pointer::kStart:
      space_->add_span_starts(left, has(space_->grammar().symbol(state.stack->symbol), symbol_role::kPartial), set);
      break;
    case Pointer::kEnd:
      space_->add_span_ends(state.span, set);
      break;
    case Pointer::kTable:
      break;
  }
}

void Automaton::add_tables(std::int32_t width, Word* set) const {
  const SchemaItems& schema = space_->schema();
  const auto first = static_cast<std::size_t>(schema.first_table());
  const auto tables = static_cast<std::size_t>(schema.tables());
  if (width < 0) set_range(set, first, first + tables);
  for (std::size_t table = 0; table < tables && width >= 0; ++table) {
    if (schema.columns_of(static_cast<std::int32_t>(table)).size() == width) set_bit(set, first + table);
  }
}

void Automaton::add_columns(const Scope& scope, Pointer pointer, Word* set) const {
  const SchemaItems& schema = space_->schema();
  const auto first = static_cast<std::size_t>(schema.first_column());
  const auto step = static_cast<std::size_t>(space_->offset(Kind::kStep));
  const bool times_only = pointer == Pointer::kTime;
  const Eligible sources = eligible(scope, pointer);
  for (const Source* source = sources.first; source != sources.last; source = source->before) {
    if (source->table >= 0) {
      const Range& columns = schema.columns_of(source->table);
      const std::size_t begin = first + static_cast<std::size_t>(columns.begin);
      const std::size_t end = first + static_cast<std::size_t>(columns.end);
      times_only ? or_range(set, schema.times().data(), begin, end) : set_range(set, begin, end);
      continue;
    }
    for (const Item* item = source->items; item != nullptr; item = item->before) {
      if (times_only && !can_hold_time(item->typed.type)) continue;
      set_bit(set, step + static_cast<std::size_t>(item->step));
    }
  }
}

void Automaton::add_keys(const Scope& scope, Word* set) const {
  for (const Key* key = scope.keys; key != nullptr; key = key->before) {
    const std::int32_t id =
        key->column < 0 ? space_->offset(Kind::kStep) + key->step : space_->offset(Kind::kColumn) + key->column;
    set_bit(set, static_cast<std::size_t>(id));
  }
}

// Adds the sources that offer the column just pointed at.
void Automaton::add_sources_meant(const State& state, const Cell& cell, Word* set) const {
  if (state.column < 0) return;
  const std::int32_t table = space_->schema().table_of(state.column);
  const auto step = static_cast<std::size_t>(space_->offset(Kind::kStep));
  const bool keys_only = restricts_to_keys(state, cell);
  const Eligible sources = eligible(state.scope, state.pointer);
  for (const Source* source = sources.first; source != sources.last; source = source->before) {
    if (source->table != table || (keys_only && !is_key(state.scope, *source, state.column))) continue;
    set_bit(set, step + static_cast<std::size_t>(source->step));
  }
}

}  // namespace fastsql::grammar
