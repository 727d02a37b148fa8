// What may come next: alternatives of the symbols that the next action may expand, and what their pointers may point at.
#pragma once

#include "grammar/pointed.h"

namespace fastsql::grammar {

// Whether a symbol that may be left out may be taken, and whether it may be left out.
struct May {
  bool be_taken, be_left_out;
};
FASTSQL_HOST_DEVICE May may(const State& state, const Symbol& symbol) {
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

// Whether the query may select `*`: the outermost one, or an operand of it whose other operands can do so too.
FASTSQL_HOST_DEVICE bool offers_all_columns(const GrammarView& grammar, const Scope& scope) {
  if (scope.outer != nullptr || (scope.arity >= 0 && scope.widths == nullptr)) return false;
  if (scope.sources == nullptr) return true;
  if (scope.followers > 0 && scope.sources->any_derived) return false;
  return scope.sources->total_width <= grammar.bounds.columns;
}

FASTSQL_HOST_DEVICE bool offers_span(const SpaceView& space, const State& state) {
  if (!space.has_tokens() || !state.in_query) return false;
  return takes_span(state.scope.left.type) || has(space.grammar.symbol(state.stack->symbol), symbol_role::kPartial);
}

// Lets the right operand of a query that selects `*` only do the same, source by source.
FASTSQL_HOST_DEVICE void keep_repeats(const State& state, const Symbol& symbol, HeadSet& heads) {
  if (state.widths == nullptr && (!state.in_query || state.scope.widths == nullptr)) return;
  if (width_to_come(state, symbol) >= 0) {
    heads.keep_only(head_of(Pointer::kTable));
  } else if (has(symbol, symbol_role::kOperandBody)) {
    heads &= symbol.needs_columns;
  }
}

// Takes away the heads whose requirements are not met. Most symbols have none.
FASTSQL_HOST_DEVICE void keep_possible(const SpaceView& space, const State& state, const Symbol& symbol, HeadSet& heads) {
  const auto needs = [&](std::uint32_t bit) { return (symbol.requirements & bit) != 0; };
  const bool has_time = state.in_query && state.scope.sources != nullptr && state.scope.sources->any_time;
  const bool groups = space.strict_grouping || (state.in_query && state.scope.grouped);
  if (needs(requirement::kTime) && !has_time) heads.remove(symbol.needs_time);
  if (needs(requirement::kDate) && !space.has_dates) heads.remove(symbol.needs_date);
  if (needs(requirement::kText) && !space.offers_text) heads.remove(symbol.needs_text);
  if (needs(requirement::kGrouped) && !groups) heads.remove(symbol.needs_grouped);
}

// Alternatives that budget, nesting, scope and question allow where a cell stands; `room` is what is left of the budget.
FASTSQL_HOST_DEVICE HeadSet offered(const SpaceView& space, const State& state, const Cell& cell, std::int32_t room) {
  const GrammarView& grammar = space.grammar;
  const Symbol& symbol = grammar.symbol(cell.symbol);
  HeadSet heads = grammar.affordable(symbol, room - surcharge(state, grammar, symbol, false));
  if ((symbol.requirements & requirement::kColumns) != 0) {
    heads.remove(symbol.needs_columns);
    if (state.in_query && offers_all_columns(grammar, state.scope)) {
      HeadSet starred = grammar.affordable(symbol, room - surcharge(state, grammar, symbol, true));
      starred &= symbol.needs_columns;
      heads |= starred;
    }
  }
  heads &= grammar.shallow_enough(symbol, grammar.bounds.nesting - cell.depth);
  if (symbol.requirements != 0) keep_possible(space, state, symbol, heads);
  if (state.in_query && count_of(state.scope.sources) >= grammar.bounds.sources) heads.remove(grammar.heads->joins);
  if (!offers_span(space, state)) heads.remove(head_of(Pointer::kStart));
  keep_repeats(state, symbol, heads);
  if (space.strict_grouping) keep_grouped(space, state, cell, heads);
  return heads;
}

// Writes which actions may come next: a set of space.words() words. Empty after the end. Threads that share the writing all call
// it with the same state.
template <class Writer = Alone>
FASTSQL_HOST_DEVICE void mask(const SpaceView& space, const State& state, Word* words, Writer writer = {}) {
  SetPart<Writer> set(words, writer);
  set.clear(space.words());
  const GrammarView& grammar = space.grammar;
  HeadSet heads;
  std::int32_t rest = state.cost;
  for (const Cell* cell = state.stack; cell != nullptr && cell->symbol >= 0; cell = cell->below) {
    const Symbol& symbol = grammar.symbol(cell->symbol);
    rest -= symbol.cost;
    const May is = may(state, symbol);
    if (is.be_taken) {
      const HeadSet here = offered(space, state, *cell, space.budget - state.used - rest);
      heads |= here;
      for (Word pointers = here.words[kPointerWord]; pointers != 0; pointers &= pointers - 1) {
        add_pointed(space, state, *cell, static_cast<Pointer>(lowest_bit(pointers)), set);
      }
    }
    if (!symbol.nullable || !is.be_left_out) break;
  }
  const std::size_t productions = words_for(static_cast<std::size_t>(grammar.productions));
  for (std::size_t word = 0; word < kPointerWord; ++word) {  // of a fixed number, so that heads can stay in registers
    if (word < productions) set.add_word(word, heads.words[word]);
  }
}

}  // namespace fastsql::grammar
