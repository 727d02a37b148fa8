// What the automaton reads: the compiled grammar, a schema and the action space of a question, as plain structures of numbers
// and pointers into memory that somebody else owns: Grammar, SchemaItems and ActionSpace on the processor, a copy of theirs on
// the GPU. Nothing is checked here; whoever fills the arrays keeps every number in its range.
#pragma once

#include <cstddef>
#include <cstdint>

#include "grammar/head_set.h"

namespace fastsql::grammar {

// [begin, end)
struct Range {
  std::int32_t begin = 0, end = 0;
  FASTSQL_HOST_DEVICE std::int32_t size() const { return end - begin; }
};

// The type class of an expression, and the schema column that it passes on unchanged (-1: none).
struct Typed {
  TypeClass type = TypeClass::kOther;
  std::int32_t column = -1;
};

struct Action {
  Kind kind;
  std::int32_t index;  // within the kind
};

// ---------------------------------------------------------------- the grammar

struct alignas(16) Alternative {
  std::int16_t production;     // or -1
  Pointer pointer;             // where production is -1
  std::uint16_t requirements;  // bits
  std::uint8_t weight;         // entries that it leaves on SQLite's parser stack while its children are read
  std::uint8_t child_count;
  std::uint16_t children_cost;  // fewest actions that complete all children
  std::int32_t first_child;     // in the array of all
};

struct Symbol {
  std::int32_t cost = 0;  // fewest actions that complete it
  std::uint32_t roles = 0;
  bool nullable = false;
  std::uint16_t requirements = 0;                  // those of any of its alternatives
  std::uint16_t costs = 0, nestings = 0;           // sizes of the two tables below
  std::int32_t first_cost = 0, first_nesting = 0;  // where they begin in the array of all
  // Heads of alternatives with the requirement.
  HeadSet needs_time, needs_date, needs_text, needs_columns, needs_grouped, needs_way, needs_free;
  HeadSet needs_turns, needs_kept;  // of those with one of requirement::kTurns, kKeeps
  HeadSet reads_rows;               // of those that read columns of single rows
};

// Heads of the productions with a role, of whatever symbol.
struct RoleHeads {
  HeadSet joins, partitions, orders, aggregates;
};

// The bounds of python/fastsql/grammar/bounds.py.
struct Bounds {
  std::int32_t nesting;     // on SQLite's parser stack
  std::int32_t sources;     // in one FROM
  std::int32_t columns;     // that `*` may select
  std::int32_t span;        // tokens of a free span
  std::int32_t least_join;  // actions that one more source costs at least
  std::int32_t hops;        // joins of one way along keys
};

struct GrammarView {
  Bounds bounds;
  std::int32_t productions;
  std::int32_t item_cost;
  std::int32_t hop_cost;    // fewest actions that one more join of a way along keys takes
  std::int32_t which;       // the symbol that asks for a column's source
  std::int32_t most_bytes;  // of memory that an action takes at most, at once and later, when its effects are carried out
  const Symbol* symbols;
  const HeadSet* up_to;  // tables of symbols: entry m + 1 has the alternatives that cost (nest) at most m
  const Alternative* alternatives;
  const std::int16_t* children;
  const std::int16_t* by_production;      // [symbols, productions]: alternative, or -1
  const std::int16_t* by_kind;            // [symbols, kinds]: alternative that an action of the kind begins, or -1
  const std::uint32_t* production_roles;  // [productions]
  const RoleHeads* heads;                 // one

  FASTSQL_HOST_DEVICE const Symbol& symbol(std::int32_t number) const { return symbols[number]; }
  // Heads of a symbol's alternatives that cost `room` actions at most, or that put at most `room` entries on SQLite's stack.
  FASTSQL_HOST_DEVICE const HeadSet& affordable(const Symbol& symbol, std::int32_t room) const {
    return up_to[symbol.first_cost + place_up_to(room, symbol.costs)];
  }
  FASTSQL_HOST_DEVICE const HeadSet& shallow_enough(const Symbol& symbol, std::int32_t room) const {
    return up_to[symbol.first_nesting + place_up_to(room, symbol.nestings)];
  }
  // Roles of a production; 0 for -1 and for the number of productions, which stand for no production.
  FASTSQL_HOST_DEVICE std::uint32_t roles_of(std::int32_t production) const {
    return static_cast<std::uint32_t>(production) < static_cast<std::uint32_t>(productions) ? production_roles[production] : 0u;
  }
  // The alternative of a symbol that an action begins, or null.
  FASTSQL_HOST_DEVICE const Alternative* find(std::int32_t symbol, Action action) const {
    const std::int32_t number =
        action.kind == Kind::kProduction
            ? by_production[symbol * productions + action.index]
            : by_kind[symbol * static_cast<std::int32_t>(kKinds) + static_cast<std::int32_t>(action.kind)];
    return number < 0 ? nullptr : &alternatives[number];
  }

  // Calls `use` on every pointer above, for copies at other addresses.
  template <typename Use>
  FASTSQL_HOST_DEVICE void each_array(Use use) {
    use(symbols), use(up_to), use(alternatives), use(children), use(by_production), use(by_kind), use(production_roles),
        use(heads);
  }

 private:
  FASTSQL_HOST_DEVICE static std::int32_t place_up_to(std::int32_t room, std::int32_t size) {
    return room < 0 ? 0 : room < size - 1 ? room + 1 : size - 1;
  }
};

// ---------------------------------------------------------------- the schema

struct SchemaView {
  std::int32_t tables, columns, values;
  std::int32_t first_table;       // flat ids of tables begin here, then those of columns and candidates
  const Range* columns_of;        // [tables]
  const TypeClass* types;         // [columns]
  const std::int32_t* table_of;   // [columns]
  const std::int32_t* key_group;  // [columns]: the least column that holds the same keys; -1: it is no key of a join
  const std::int32_t* key_name;   // [columns]: the least key of a join that is called like it; -1: none
  const std::uint8_t* is_unique;  // [columns]: whether it is a primary key by itself
  const std::uint8_t* distances;  // [tables, tables]: joins on keys that lead from one to the other; more than a way has: none
  const std::uint8_t* has_time;   // [tables]: whether a column can hold one
  const Word* times;              // flat ids of all columns that can hold a time; words up to the last column
  const Range* runs;              // of schema values that stand with a column, those of the first column first
  const std::int32_t* first_run;  // [columns + 1]

  static_assert(static_cast<int>(Kind::kColumn) == static_cast<int>(Kind::kTable) + 1 &&
                static_cast<int>(Kind::kCandidate) == static_cast<int>(Kind::kColumn) + 1);
  FASTSQL_HOST_DEVICE std::int32_t first_column() const { return first_table + tables; }
  FASTSQL_HOST_DEVICE std::int32_t first_candidate() const { return first_column() + columns; }

  // Joins on keys that lead from one table to another; more than a way has where none do.
  FASTSQL_HOST_DEVICE std::int32_t distance(std::int32_t one, std::int32_t other) const {
    return distances[static_cast<std::size_t>(one) * static_cast<std::size_t>(tables) + static_cast<std::size_t>(other)];
  }

  template <typename Use>
  void each_array(Use use) {
    use(columns_of), use(types), use(table_of), use(key_group), use(key_name), use(is_unique), use(distances), use(has_time),
        use(times), use(runs), use(first_run);
  }
};

// ---------------------------------------------------------------- the question's action space

// A candidate that meets a column.
struct OfColumn {
  std::int32_t column, candidate;
};

// A literal that a column holds: a candidate that names no column (`last` is 0), or the words from token `first` to `last`.
struct Held {
  std::int32_t column, first, last;
};

// Of what is offered by an earlier turn of a conversation, an entry of FROM: a table, or a derived table (-1) and its items.
struct TurnSource {
  std::int32_t table;
  Range items;
};

// A column that an earlier turn groups by and its source's entry, or -1 and the entry of a derived table's item.
struct TurnKey {
  std::int32_t column, entry;
};

// An earlier turn: python/fastsql/grammar/turns.py says what is known of it. Ranges are of the arrays of all turns.
struct Turn {
  Range items, sources, keys;
  std::int32_t first_step;  // of its entries
  std::int32_t nesting, actions, spelled;
  bool usable, starred, grouped, aggregated, of_rows;
};

struct SpaceView {
  GrammarView grammar;
  SchemaView schema;
  std::int32_t offsets[kKinds + 1];  // flat ids of each kind begin here
  std::int32_t budget;               // actions of one query
  bool strict_grouping;
  bool has_dates, offers_text;  // whether a literal can be a date, or a text
  std::int32_t pairs;           // size of of_columns
  // Sets of flat ids, words() words each.
  const Word* whole_numbers;  // candidates that can stand behind LIMIT or count periods of time
  const Word* dates;
  const Word* texts;
  const Word* word_ends;
  const Word* fitting;         // [type classes, words]: literals that fit an expression of no column,
  const Word* starts;          // [type classes, words]: and where spans may begin beside them
  const OfColumn* of_columns;  // ascending by column, then by candidate
  const Range* barred;         // [candidates]: places in tokens_by_character of tokens at which no span may begin where
                               // the candidate fits
  const std::int32_t* tokens_by_character;  // [tokens]
  bool has_grounds;                         // whether all values of a column are known
  std::int32_t held_size, held_spans_size;
  const std::uint8_t* grounds;     // [columns], bits of grounding.h; empty where nothing is known
  const Held* held;                // candidates, ascending
  const Held* held_spans;          // words, ascending
  bool has_patterns;               // whether it is known what LIKE matches
  std::int32_t pattern_bounds[5];  // where the lists of matching.h begin in `patterns`, and where the last ends
  const std::uint8_t* matched;     // [columns], bits of matching.h: something can be said that a pattern matches
  const Held* patterns;            // each list ascending
  std::int32_t turns;              // earlier ones
  std::int32_t turn_bytes;         // of memory that what they offer takes in a search
  const Turn* turn;                // [turns]
  const Typed* turn_items;
  const TurnSource* turn_sources;
  const TurnKey* turn_keys;

  // Number of flat ids, and of the words of a set of them.
  FASTSQL_HOST_DEVICE std::int32_t size() const { return offsets[kKinds]; }
  FASTSQL_HOST_DEVICE std::size_t words() const { return words_for(static_cast<std::size_t>(size())); }
  FASTSQL_HOST_DEVICE std::int32_t offset(Kind kind) const { return offsets[static_cast<std::size_t>(kind)]; }
  // First flat id behind a kind.
  FASTSQL_HOST_DEVICE std::int32_t end(Kind kind) const { return offsets[static_cast<std::size_t>(kind) + 1]; }
  FASTSQL_HOST_DEVICE bool has_tokens() const { return end(Kind::kStart) > offset(Kind::kStart); }
  // Kind and index of a flat id, which must be one.
  FASTSQL_HOST_DEVICE Action locate(std::int32_t action) const {
    std::size_t kind = kKinds - 1;
    while (action < offsets[kind]) --kind;
    return {static_cast<Kind>(kind), action - offsets[kind]};
  }

  // Not those of grammar and schema, which lie in memory of their own.
  template <typename Use>
  void each_array(Use use) {
    use(whole_numbers), use(dates), use(texts), use(word_ends), use(fitting), use(starts);
    use(of_columns), use(barred), use(tokens_by_character), use(grounds), use(held), use(held_spans), use(matched), use(patterns),
        use(turn), use(turn_items);
    use(turn_sources), use(turn_keys);
  }
};

}  // namespace fastsql::grammar
