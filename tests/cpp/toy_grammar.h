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
      1,  5, 1, 5, 8,                // version, symbols, productions, alternatives, children
      75, 8, 1000, 64, 2,            // bounds
      4,  0, 0, 1,                   // query
      2,  0, 0, 1,                   // column
      0,  1, 1, 1,                   // items
      1,  0, 0, 1,                   // end
      1,  0, 64, 1,                  // which
      2,                             // cost of an item
      0,                             // end, the production
      -1, 0, 4, 0, 0, 6,             // @table
      -2, 0, 2, 0, 0, 0,             // @column
      -2, 0, 2, 0, 0, 2,             // @column
      0,  0, 1, 0, 0, 0,             // end
      -5, 0, 1, 0, 0, 0,             // @which
      -1, 1, -5, 2, 3, -6,           // children of @table
      -5, 2,                         // children of @column in items
  };
}
inline Integers toy_schema() { return {1, 2, 3, 0, 2, 1, 0, 1, 2}; }
inline Integers toy_question(std::int32_t budget = 6) { return {1, 0, 0, 0, budget, 0}; }

inline std::shared_ptr<const grammar::ActionSpace> assemble(const Integers& grammar, const Integers& schema,
                                                            const Integers& question) {
  auto compiled = std::make_shared<grammar::Grammar>(view(grammar));
  auto items = std::make_shared<grammar::SchemaItems>(std::move(compiled), view(schema));
  return std::make_shared<grammar::ActionSpace>(std::move(items), view(question));
}

inline std::shared_ptr<const grammar::ActionSpace> toy_space(std::int32_t budget = 6) {
  return assemble(toy_grammar(), toy_schema(), toy_question(budget));
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
