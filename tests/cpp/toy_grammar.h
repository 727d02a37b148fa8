// A grammar that fits on a page, with a schema and a question, as the tables that the core reads:
//
//   query   @table !from column !item items end !close
//   column  @column
//   items   @column !item items   or nothing
//   end     end
//   which   @which
//
// over the tables a(x number, y text) and b(z time). Flat ids: 0 end; 1, 2 tables; 3, 4, 5 columns; 6 to 11 steps.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "grammar/automaton.h"

namespace fastsql::test {

using Integers = std::vector<std::int32_t>;

inline grammar::Table view(const Integers& table) { return {table.data(), {table.size()}}; }

inline Integers toy_grammar() {
  return {
      2,  5, 1,    5,  8,      // version, symbols, productions, alternatives, children
      75, 8, 1000, 64, 2, 4,   // bounds
      4,  0, 0,    1,          // query
      2,  0, 0,    1,          // column
      0,  1, 1,    1,          // items
      1,  0, 0,    1,          // end
      1,  0, 64,   1,          // which
      2,  1,                   // cost of an item, and of a join on a way
      0,                       // end, the production
      -1, 0, 4,    0,  0, 6,   // @table
      -2, 0, 2,    0,  0, 0,   // @column
      -2, 0, 2,    0,  0, 2,   // @column
      0,  0, 1,    0,  0, 0,   // end
      -5, 0, 1,    0,  0, 0,   // @which
      -1, 1, -5,   2,  3, -6,  // children of @table
      -5, 2,                   // children of @column in items
  };
}
inline Integers toy_schema() { return {4, 2, 3, 0, 2, 1, 0, 1, 2, -1, -1, -1, -1, -1, -1, 0, 0, 0, 40, 5}; }
inline Integers toy_question(std::int32_t budget = 6) { return {3, 0, 0, 0, 0, 0, budget, 0, 0, 0, 0, 0}; }

// A question with two earlier turns: `SELECT a.x FROM a`, and one of two columns, grouped, from a derived table with a time.
inline Integers turn_question(std::int32_t budget = 6) {
  return {
      3,  0, 0, 0,  2, 6, budget, 0, 0, 0, 0, 0,  // sizes: no candidate or token, two turns of six entries; nothing is known
      1,  4, 3, 3,  1, 1, 0,                      // usable; nesting, actions, spelled out; items, sources, keys
      0,  0,                                      // its item: number, x
      0,  0,                                      // its source: a
      13, 4, 6, 6,  2, 1, 1,                      // usable, grouped, aggregated
      1,  1, 0, -1,                               // text, y; a number
      -1, 1, 2, 2,                                // a derived table: time, z
      -1, 3,                                      // the key, its fourth entry
  };
}

inline std::shared_ptr<const grammar::ActionSpace> assemble(const Integers& grammar, const Integers& schema,
                                                            const Integers& question) {
  auto compiled = std::make_shared<grammar::Grammar>(view(grammar));
  auto items = std::make_shared<grammar::SchemaItems>(std::move(compiled), view(schema));
  return std::make_shared<grammar::ActionSpace>(std::move(items), view(question));
}

// A question of some tokens and candidates, of kinds that take turns.
inline Integers plain_question(std::int32_t tokens, std::int32_t candidates, std::int32_t budget) {
  Integers question = {3, candidates, 0, tokens, 0, 0, budget, 0};
  for (std::int32_t candidate = 0; candidate < candidates; ++candidate) {
    question.insert(question.end(), {candidate % 3, 1 << (candidate + 1) % 3, -1, 0});
  }
  for (std::int32_t token = 0; token < tokens; ++token) question.insert(question.end(), {3 * token, 3});
  question.insert(question.end(), {0, 0, 0, 0});  // nothing is known of values
  return question;
}

inline std::shared_ptr<const grammar::ActionSpace> toy_space(std::int32_t budget = 6) {
  return assemble(toy_grammar(), toy_schema(), toy_question(budget));
}

// The same with most of what a query can have, for walks that lead everywhere:
//
//   query   @table !from column !item items tail !close
//           derived !scope query !derived column !item items tail !close
//           union !first query !second query
//   tail    end   or   where column !left value tail   or   group key !grouped tail   or   all !columns
//   value   @value   or   @start span   or   inner !one query
//   span    @end
//   key     @column
//
// with values of x and y and a constant, three candidates, four tokens.
inline Integers rich_grammar() {
  return {
      2,   8,   7,    15, 31,             // version, symbols, productions, alternatives, children
      75,  8,   1000, 2,  2,  4,          // bounds
      4,   0,   0,    3,                  // query
      2,   0,   256,  1,                  // column
      0,   1,   1,    1,                  // items
      1,   0,   0,    4,                  // tail
      1,   0,   0,    3,                  // value
      1,   0,   0,    1,                  // span
      2,   0,   1024, 1,                  // key
      1,   0,   64,   1,                  // which
      2,   1,                             // cost of an item, and of a join on a way
      0,   0,   2,    0,  0,  0,  0,      // end, where, group, derived, inner, union, all
      -1,  0,   4,    0,  0,  6,          // @table
      3,   0,   8,    1,  1,  8,          // derived
      5,   0,   9,    0,  0,  4,          // union
      -2,  0,   2,    0,  0,  0,          // @column
      -2,  0,   2,    0,  0,  2,          // @column
      0,   0,   1,    0,  0,  0,          // end
      1,   0,   5,    0,  0,  4,          // where
      2,   0,   4,    0,  0,  3,          // group
      6,   8,   1,    0,  0,  1,          // all
      -7,  0,   1,    0,  0,  0,          // @value
      -12, 4,   2,    0,  0,  1,          // @start
      4,   0,   5,    1,  1,  2,          // inner
      -13, 0,   1,    0,  0,  0,          // @end
      -2,  0,   2,    0,  0,  0,          // @column
      -5,  0,   1,    0,  0,  0,          // @which
      -1,  1,   -5,   2,  3,  -6,         // children of @table
      -2,  0,   -4,   1,  -5, 2,  3, -6,  // of derived
      -8,  0,   -9,   0,                  // of union
      -5,  2,                             // of @column in items
      1,   -10, 4,    3,                  // of where
      6,   -16, 3,                        // of group
      -15,                                // of all
      5,                                  // of @start
      -7,  0,                             // of inner
  };
}
// The schema of the toy grammar with three values.
inline Integers rich_schema() { return {4, 2, 3, 3, 2, 1, 0, 1, 2, -1, -1, -1, -1, -1, -1, 0, 0, 0, 40, 5, 0, -1, 1}; }
inline std::shared_ptr<const grammar::ActionSpace> rich_space(bool strict_grouping, std::int32_t budget = 60) {
  const Integers question = {3, 3, 2,  4, 0, 0, budget, strict_grouping,
                             0, 2, -1, 0, 1, 1, -1,     0,
                             2, 4, 5,  2,                   // a whole number, a date, a text
                             1, 2,                          // whose columns are y and z
                             0, 1, 3,  3, 5, 1, 9,      2,  // tokens
                             0, 0, 0,  0};                  // nothing is known of values
  return assemble(rich_grammar(), rich_schema(), question);
}

// What may come next, ascending.
inline Integers legal(const grammar::Automaton& automaton, const grammar::State& state) {
  std::vector<grammar::Word> set(automaton.space().words());
  automaton.mask(state, set.data());
  Integers ids;
  for (std::int32_t id = 0; id < automaton.space().size(); ++id) {
    if (grammar::has_bit(set.data(), static_cast<std::size_t>(id))) ids.push_back(id);
  }
  return ids;
}

}  // namespace fastsql::test
