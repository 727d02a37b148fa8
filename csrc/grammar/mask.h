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
  if (has(symbol, symbol_role::kHops)) {
    const bool arrived = has_arrived(state);
    return {!arrived, arrived};
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
  // Each operand names its columns, as `*` is written out.
  return scope.sources->total_width * (scope.followers + 1) <= grammar.bounds.columns;
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

// Calls `use` on each of the productions that are in both sets.
template <typename Use>
FASTSQL_HOST_DEVICE void each_production(const HeadSet& one, const HeadSet& other, Use use) {
  for (std::size_t word = 0; word < kPointerWord; ++word) {
    for (Word rest = one.words[word] & other.words[word]; rest != 0; rest &= rest - 1) {
      use(static_cast<std::int32_t>(word * kWordBits + lowest_bit(rest)));
    }
  }
}

// Whether an alternative of a symbol needs no earlier turn, or there is one for it.
FASTSQL_HOST_DEVICE bool points_at_turn(const SpaceView& space, const State& state, const Cell& cell, const Alternative& head,
                                        std::int32_t room) {
  if ((head.requirements & requirement::kTurns) == 0) return true;
  const bool extends = (head.requirements & requirement::kExtended) != 0;
  if (extends && state.in_query) return false;  // it is the whole query
  const Pointer pointer = extends                                           ? Pointer::kExtended
                          : (head.requirements & requirement::kMember) != 0 ? Pointer::kMember
                                                                            : Pointer::kTurn;
  const bool joins = state.in_query && has(space.grammar.symbol(cell.symbol), symbol_role::kNewSource);
  for (std::int32_t number = 0; number < space.turns; ++number) {
    if (!fits(space, number, pointer, cell.depth + head.weight, room - 1 - head.children_cost)) continue;
    if (!joins || !is_in_from(state.scope, number)) return true;
  }
  return false;
}

// Whether the items of the turn that is extended may be kept, and whether they are grouped.
struct Keeps {
  bool kept, groups;
};
FASTSQL_HOST_DEVICE Keeps may_keep(const SpaceView& space, const State& state) {
  if (!state.in_query || state.scope.reopened < 0) return {false, false};
  const Turn& turn = space.turn[state.scope.reopened];
  return {!turn.starred || offers_all_columns(space.grammar, state.scope), turn.grouped};
}

// Takes away the heads whose requirements are not met. Most symbols have none.
FASTSQL_HOST_DEVICE void keep_possible(const SpaceView& space, const State& state, const Cell& cell, HeadSet& heads) {
  const Symbol& symbol = space.grammar.symbol(cell.symbol);
  const auto needs = [&](std::uint32_t bit) { return (symbol.requirements & bit) != 0; };
  const bool has_time = state.in_query && state.scope.sources != nullptr && state.scope.sources->any_time;
  const bool groups = space.strict_grouping || (state.in_query && state.scope.grouped);
  if (needs(requirement::kTime) && !has_time) heads.remove(symbol.needs_time);
  if (needs(requirement::kDate) && !space.has_dates) heads.remove(symbol.needs_date);
  if (needs(requirement::kText) && !space.offers_text) heads.remove(symbol.needs_text);
  if (needs(requirement::kGrouped) && !groups) heads.remove(symbol.needs_grouped);
  if (needs(requirement::kWay) && !(state.in_query && state.scope.widths == nullptr && leads_on(space, state.scope))) {
    heads.remove(symbol.needs_way);
  }
  if (needs(requirement::kFree) && state.in_query && state.scope.arity >= 0) heads.remove(symbol.needs_free);
  if (needs(requirement::kTurns) && space.turns == 0) heads.remove(symbol.needs_turns);
  if (!needs(requirement::kKeeps)) return;
  const Keeps keeps = may_keep(space, state);
  const std::uint32_t unmet = (keeps.kept ? 0u : requirement::kKept) | (keeps.groups ? requirement::kRows : requirement::kGroups);
  each_production(heads, symbol.needs_kept, [&](std::int32_t production) {
    const Alternative* head = space.grammar.find(cell.symbol, {Kind::kProduction, production});
    if ((head->requirements & unmet) != 0) heads.remove(static_cast<std::size_t>(production));
  });
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
  if (symbol.requirements != 0) keep_possible(space, state, cell, heads);
  if (space.turns > 0 && (symbol.requirements & requirement::kTurns) != 0) {
    const std::int32_t plain = room - surcharge(state, grammar, symbol, false);
    each_production(heads, symbol.needs_turns, [&](std::int32_t production) {
      const Alternative* head = grammar.find(cell.symbol, {Kind::kProduction, production});
      if (!points_at_turn(space, state, cell, *head, plain)) heads.remove(static_cast<std::size_t>(production));
    });
  }
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
      const std::int32_t room = space.budget - state.used - rest;
      const HeadSet here = offered(space, state, *cell, room);
      heads |= here;
      for (Word pointers = here.words[kPointerWord]; pointers != 0; pointers &= pointers - 1) {
        const auto pointer = static_cast<Pointer>(lowest_bit(pointers));
        if (pointer >= Pointer::kTurn) {
          add_turns(space, state, *cell, pointer, room - 1, set);
        } else {
          add_pointed(space, state, *cell, pointer, room, set);
        }
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
