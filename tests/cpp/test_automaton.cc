#include <catch2/catch.hpp>
#include <random>

#include "allocations.h"
#include "core/error.h"
#include "says.h"
#include "toy_grammar.h"

using namespace fastsql;
using namespace fastsql::grammar;
using namespace fastsql::test;

namespace {

// Takes random legal actions until the end, a dead end, or 100 actions.
State random_walk(Automaton& automaton, std::mt19937& random) {
  State state = automaton.start();
  while (!state.finished() && state.used < 100) {
    const Integers ids = legal(automaton, state);
    if (ids.empty()) break;
    if (!automaton.advance(state, ids[random() % ids.size()], true)) break;
  }
  return state;
}

}  // namespace

TEST_CASE("offers what scope and budget allow, and ends") {
  Automaton automaton(toy_space());
  State state = automaton.start();
  CHECK(legal(automaton, state) == (Integers{1, 2}));
  CHECK(automaton.advance(state, 1, true));
  CHECK(legal(automaton, state) == (Integers{3, 4}));  // the columns of the first table
  CHECK(automaton.advance(state, 4, true));
  CHECK(legal(automaton, state) == (Integers{0, 3, 4}));  // one more of them, or the end
  CHECK(automaton.advance(state, 3, true));
  CHECK(automaton.advance(state, 3, true));
  CHECK(legal(automaton, state) == (Integers{0}));  // a column may cost two actions, and one is left beside the end
  CHECK(automaton.advance(state, 0, false));
  CHECK(state.finished());
  CHECK(state.used == 5);
  CHECK(state.decisions == 4);
  CHECK(state.cost == 0);
  CHECK(legal(automaton, state).empty());
  CHECK(!automaton.advance(state, 0, true));
}

TEST_CASE("a copy of a state is a hypothesis of its own") {
  Automaton automaton(toy_space());
  State one = automaton.start();
  State other = one;
  CHECK(automaton.advance(one, 1, true));
  CHECK(automaton.advance(other, 2, true));
  CHECK(legal(automaton, one) == (Integers{3, 4}));
  CHECK(legal(automaton, other) == (Integers{5}));
}

TEST_CASE("an action that the frontier does not know changes nothing") {
  Automaton automaton(toy_space());
  State state = automaton.start();
  for (const std::int32_t action : {0, 3, 6, -1, 12, 1 << 30}) CHECK(!automaton.advance(state, action, true));
  CHECK(state.used == 0);
  CHECK(state.cost == 4);
  CHECK(legal(automaton, state) == (Integers{1, 2}));
}

TEST_CASE("nothing is asked of the heap in the steady state") {
  Automaton automaton(toy_space(1000));
  std::vector<Word> set(automaton.space().words());
  const auto search = [&] {
    automaton.clear();
    State state = automaton.start();
    automaton.advance(state, 1, true);
    for (int i = 0; i < 900; ++i) {
      const State fork = state;
      automaton.mask(fork, set.data());
      automaton.advance(state, 3, true);
    }
    return state.used;
  };
  CHECK(search() == 901);
  const std::size_t capacity = automaton.capacity(), before = allocations();
  for (int i = 0; i < 10; ++i) search();
  const std::size_t after = allocations();
  CHECK(after == before);
  CHECK(automaton.capacity() == capacity);
}

TEST_CASE("tables that do not fit together are refused, and say why") {
  Integers grammar = toy_grammar();
  grammar[0] = 3;
  CHECK_THROWS_MATCHES(Grammar(view(grammar)), ModelError, Says("grammar table is of version 3"));
  grammar = toy_grammar();
  grammar.pop_back();
  CHECK_THROWS_MATCHES(Grammar(view(grammar)), ModelError, Says("ends before child"));
  grammar = toy_grammar();
  grammar.push_back(0);
  CHECK_THROWS_MATCHES(Grammar(view(grammar)), ModelError, Says("its sizes ask for"));
  grammar = toy_grammar();
  grammar.back() = 5;
  CHECK_THROWS_MATCHES(Grammar(view(grammar)), ModelError, Says("child of an alternative is 5"));
  grammar = toy_grammar();
  grammar.back() = -1;
  CHECK_THROWS_MATCHES(Grammar(view(grammar)), ModelError, Says("adds a table to FROM"));
  Integers schema = toy_schema();
  schema[1] = 1 << 15;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), schema, toy_question()), ModelError, Says("no room"));
  schema = toy_schema();
  schema[8] = 5;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), schema, toy_question()), ModelError, Says("type of a column is 5"));
  schema = toy_schema();
  schema[9] = 3;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), schema, toy_question()), ModelError, Says("key group of a column is 3"));
  schema = toy_schema();
  schema[12] = 3;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), schema, toy_question()), ModelError, Says("key named like a column is 3"));
  schema = toy_schema();
  schema[15] = 5;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), schema, toy_question()), ModelError, Says("uniqueness of a column is 5"));
  schema = toy_schema();
  schema.back() = -1;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), schema, toy_question()), ModelError, Says("distances of a table is -1"));
  CHECK_THROWS_MATCHES(toy_space(0), ModelError, Says("the step budget is 0"));
  Integers question = turn_question();
  question[5] = 8;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), toy_schema(), question), ModelError,
                       Says("has 8 entries of turns; its turns have 6"));
  question = turn_question();
  question.back() = 5;
  CHECK_THROWS_MATCHES(assemble(toy_grammar(), toy_schema(), question), ModelError, Says("entry of a key is 5"));
}

TEST_CASE("whatever table is read can be walked") {
  std::mt19937 random(0);
  const std::int32_t numbers[] = {-2147483647, -20, -19, -18, -17, -16, -15, -14, -12, -6,  -4,        -3,
                                  -1,          0,   1,   2,   3,   4,   5,   8,   63,  255, 2147483647};
  Integers tables[] = {toy_grammar(), toy_schema(), turn_question()};
  int read = 0, refused = 0;
  for (Integers& table : tables) {
    for (std::int32_t& entry : table) {
      const std::int32_t right = entry;
      for (const std::int32_t wrong : numbers) {
        entry = wrong;
        try {
          Automaton automaton(assemble(tables[0], tables[1], tables[2]));
          for (int i = 0; i < 5; ++i) random_walk(automaton, random);
          ++read;
        } catch (const ModelError&) {
          ++refused;
        }
      }
      entry = right;
    }
  }
  CHECK(read > 100);
  CHECK(refused > 100);
}

TEST_CASE("ranges of bits are what a loop over their elements says") {
  constexpr std::size_t kSize = 200;
  std::mt19937 random(0);
  std::vector<Word> from(words_for(kSize));
  for (Word& word : from) word = Word{random()} << 32 | random();
  for (std::size_t begin = 0; begin <= kSize; ++begin) {
    for (std::size_t end = begin; end <= kSize; ++end) {
      std::vector<Word> set(from.size()), taken(from.size()), set_one_by_one(from.size()), taken_one_by_one(from.size());
      SetPart(set.data(), Alone()).add_range(begin, end);
      SetPart(taken.data(), Alone()).add_from(from.data(), begin, end);
      for (std::size_t bit = begin; bit < end; ++bit) {
        set_bit(set_one_by_one.data(), bit);
        if (has_bit(from.data(), bit)) set_bit(taken_one_by_one.data(), bit);
      }
      CHECK(set == set_one_by_one);
      CHECK(taken == taken_one_by_one);
      CHECK(any_in_range(from.data(), begin, end) == (taken != std::vector<Word>(from.size())));
    }
  }
}

TEST_CASE("the only element of a set is found where there is one") {
  std::vector<Word> set(3);
  CHECK(only_element(set.data(), 3) == kNone);
  for (const std::size_t bit : {std::size_t{0}, std::size_t{63}, std::size_t{64}, std::size_t{191}}) {
    set.assign(3, 0);
    set_bit(set.data(), bit);
    CHECK(only_element(set.data(), 3) == static_cast<std::int32_t>(bit));
    set_bit(set.data(), 100);
    CHECK(only_element(set.data(), 3) == kSeveral);
  }
}
