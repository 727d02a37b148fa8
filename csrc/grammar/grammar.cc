#include "grammar/grammar.h"

#include <algorithm>
#include <string>
#include <vector>

#include "grammar/bounded_arena.h"
#include "grammar/state.h"

namespace fastsql::grammar {
namespace {

// Bounds that no real grammar reaches keep every sum of them far from overflow, and every number in the type that holds it.
constexpr std::int32_t kMostSymbols = 512, kMostAlternatives = 1 << 14, kMostChildren = 1 << 16, kMostNumber = 255;

std::size_t head_of(const Alternative& alternative) {
  return alternative.production >= 0 ? static_cast<std::size_t>(alternative.production) : grammar::head_of(alternative.pointer);
}

// Bytes that an array takes of the memory of states.
template <typename T>
constexpr std::size_t taken(std::size_t count = 1) {
  return (count * sizeof(T) + BoundedArena::kAlignment - 1) / BoundedArena::kAlignment * BoundedArena::kAlignment;
}

std::size_t taken_by(Effect effect) {
  switch (effect) {
    case Effect::kFrom:
      return taken<Scope>() + taken<Source>();
    case Effect::kScope:
    case Effect::kReopen:
      return taken<Scope>();
    case Effect::kSource:
    case Effect::kDerived:
    case Effect::kPrevious:
      return taken<Source>();
    case Effect::kItem:
    case Effect::kColumns:
      return taken<Item>();
    default:
      return 0;
  }
}

// What stands in the table and matters only for what is made of it.
struct Needs {
  std::int32_t cost;     // fewest actions that complete an alternative
  std::int32_t nesting;  // the least that it and its children put on SQLite's parser stack
};

// The arrays of a GrammarView while they grow.
class Reading {
 public:
  Reading(const Table& table, GrammarView& view) : reader_("grammar table", table, Grammar::kVersion), view_(view) {
    const std::size_t symbols = reader_.count("symbols", kMostSymbols, 4);
    const std::size_t productions = reader_.count("productions", kMostProductions, 1);
    const std::size_t alternatives = reader_.count("alternatives", kMostAlternatives, 6);
    const std::size_t children = reader_.count("children", kMostChildren, 1);
    view_.bounds.nesting = reader_.next("the bound of nesting", 0, 1 << 16);
    view_.bounds.sources = reader_.next("the bound of sources", 0, 1 << 16);
    view_.bounds.columns = reader_.next("the bound of columns", 0, 1 << 16);
    view_.bounds.span = reader_.next("the bound of spans", 1, 1 << 16);
    view_.bounds.least_join = reader_.next("the least cost of a join", 0, kMostNumber);
    view_.bounds.hops = reader_.next("the bound of joins on a way", 0, kMostNumber);
    if (symbols == 0) reader_.fail("has no symbol");
    view_.productions = static_cast<std::int32_t>(productions);
    view_.which = -1;
    symbols_.resize(symbols);
    production_roles_.resize(productions);
    alternatives_.resize(alternatives);
    needs_.resize(alternatives);
    children_.resize(children);
    by_production_.assign(symbols * productions, -1);
    by_kind_.assign(symbols * kKinds, -1);

    const std::vector<std::size_t> alternatives_of = read_symbols();
    read_productions();
    read_alternatives(alternatives_of);
    read_children();
    reader_.end();
  }

  Image image() const {
    return Image(Image::Array{symbols_, view_.symbols}, Image::Array{up_to_, view_.up_to},
                 Image::Array{alternatives_, view_.alternatives}, Image::Array{children_, view_.children},
                 Image::Array{by_production_, view_.by_production}, Image::Array{by_kind_, view_.by_kind},
                 Image::Array{production_roles_, view_.production_roles}, Image::Array{heads_, view_.heads});
  }

 private:
  // Returns the number of alternatives of each.
  std::vector<std::size_t> read_symbols() {
    std::vector<std::size_t> alternatives_of;
    std::size_t total = 0;
    for (Symbol& symbol : symbols_) {
      symbol.cost = reader_.next("cost of a symbol", 0, kMostNumber);
      symbol.nullable = reader_.next("whether a symbol may be left out", 0, 1) != 0;
      symbol.roles = static_cast<std::uint32_t>(reader_.next("roles of a symbol", 0, symbol_role::kAll));
      total += alternatives_of.emplace_back(reader_.next("alternatives of a symbol", 0, kMostAlternatives));
      if (has_role(symbol, symbol_role::kWhich)) view_.which = static_cast<std::int32_t>(&symbol - symbols_.data());
    }
    if (total != alternatives_.size()) {
      reader_.fail("has " + std::to_string(alternatives_.size()) + " alternatives; its symbols have " + std::to_string(total));
    }
    view_.item_cost = reader_.next("cost of a select item", 0, kMostNumber);
    view_.hop_cost = reader_.next("cost of a join on a way", 1, kMostNumber);
    return alternatives_of;
  }

  void read_productions() {
    using namespace production_role;
    RoleHeads& heads = heads_.front();
    for (std::size_t number = 0; number < production_roles_.size(); ++number) {
      const auto roles = static_cast<std::uint32_t>(reader_.next("roles of a production", 0, production_role::kAll));
      production_roles_[number] = roles;
      if (roles & kJoin) heads.joins.add(number);
      if (roles & kPartition) heads.partitions.add(number);
      if (roles & kOrder) heads.orders.add(number);
      if (roles & kAggregate) heads.aggregates.add(number);
      if (roles & kOfRows) of_rows_.add(number);
    }
  }

  void read_alternatives(const std::vector<std::size_t>& alternatives_of) {
    std::size_t first = 0, child_total = 0;
    for (std::size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
      const std::size_t last = first + alternatives_of[symbol];
      for (std::size_t number = first; number < last; ++number) child_total += read_alternative(number);
      index(symbol, first, last);
      first = last;
    }
    if (child_total != children_.size()) {
      reader_.fail("has " + std::to_string(children_.size()) + " children; its alternatives have " + std::to_string(child_total));
    }
  }

  std::size_t read_alternative(std::size_t number) {
    Alternative& alternative = alternatives_[number];
    const std::int32_t head =
        reader_.next("head of an alternative", -static_cast<std::int32_t>(kPointers), view_.productions - 1);
    alternative.production = static_cast<std::int16_t>(head >= 0 ? head : -1);
    alternative.pointer = head >= 0 ? Pointer{} : static_cast<Pointer>(-1 - head);
    alternative.requirements = static_cast<std::uint16_t>(reader_.next("requirements", 0, requirement::kAll));
    needs_[number].cost = reader_.next("cost of an alternative", 0, kMostNumber);
    alternative.weight = static_cast<std::uint8_t>(reader_.next("weight of an alternative", 0, kMostNumber));
    needs_[number].nesting = reader_.next("nesting of an alternative", 0, kMostNumber);
    alternative.child_count = static_cast<std::uint8_t>(reader_.next("children of an alternative", 0, kMostNumber));
    return alternative.child_count;
  }

  void read_children() {
    std::size_t next = 0;
    for (Alternative& alternative : alternatives_) {
      alternative.first_child = static_cast<std::int32_t>(next);
      std::int32_t cost = 0;
      // Beside its children: the cell that asks for a column's source, and a key of GROUP BY.
      std::size_t bytes = taken<Cell>(alternative.child_count) + taken<Cell>() + taken<Key>();
      bool effects_only = true;
      for (std::size_t place = 0; place < alternative.child_count; ++place) {
        const std::int32_t child =
            reader_.next("child of an alternative", -kEffects, static_cast<std::int32_t>(symbols_.size()) - 1);
        children_[next++] = static_cast<std::int16_t>(child);
        if (child >= 0) {
          cost += symbols_[static_cast<std::size_t>(child)].cost;
          effects_only = false;
          continue;
        }
        const Effect effect = static_cast<Effect>(-1 - child);
        bytes += taken_by(effect);
        const bool of_a_table = alternative.production < 0 && alternative.pointer == Pointer::kTable && effects_only;
        if ((effect == Effect::kFrom || effect == Effect::kSource) && !of_a_table) {
          reader_.fail("adds a table to FROM where none was pointed at");
        }
      }
      alternative.children_cost = static_cast<std::uint16_t>(cost);
      view_.most_bytes = std::max(view_.most_bytes, static_cast<std::int32_t>(bytes));
    }
  }

  // Makes the tables by which a symbol's alternatives [first, last) are found.
  void index(std::size_t symbol_number, std::size_t first, std::size_t last) {
    Symbol& symbol = symbols_[symbol_number];
    HeadSet heads;
    std::vector<HeadSet> up_to_cost(1), up_to_nesting(1);
    for (std::size_t number = first; number < last; ++number) {
      const Alternative& alternative = alternatives_[number];
      const std::size_t head = head_of(alternative);
      heads.add(head);
      add_up_to(up_to_cost, needs_[number].cost, head);
      add_up_to(up_to_nesting, needs_[number].nesting, head);
      symbol.requirements |= alternative.requirements;
      if (alternative.requirements & requirement::kTime) symbol.needs_time.add(head);
      if (alternative.requirements & requirement::kDate) symbol.needs_date.add(head);
      if (alternative.requirements & requirement::kText) symbol.needs_text.add(head);
      if (alternative.requirements & requirement::kColumns) symbol.needs_columns.add(head);
      if (alternative.requirements & requirement::kGrouped) symbol.needs_grouped.add(head);
      if (alternative.requirements & requirement::kWay) symbol.needs_way.add(head);
      if (alternative.requirements & requirement::kFree) symbol.needs_free.add(head);
      if (alternative.requirements & requirement::kTurns) symbol.needs_turns.add(head);
      if (alternative.requirements & requirement::kKeeps) symbol.needs_kept.add(head);
      if (alternative.production >= 0) {
        by_production_[symbol_number * production_roles_.size() + head] = static_cast<std::int16_t>(number);
      }
    }
    index_pointers(symbol_number, first, last);
    symbol.first_cost = append(up_to_cost);
    symbol.costs = static_cast<std::uint16_t>(up_to_cost.size());
    symbol.first_nesting = append(up_to_nesting);
    symbol.nestings = static_cast<std::uint16_t>(up_to_nesting.size());
    symbol.reads_rows = of_rows_;
    symbol.reads_rows &= heads;
    if (has_role(symbol, symbol_role::kAnyCond)) symbol.reads_rows |= symbol.needs_time;
  }

  void index_pointers(std::size_t symbol, std::size_t first, std::size_t last) {
    for (std::size_t kind = 0; kind < kKinds; ++kind) {
      const auto pointers = pointers_of(static_cast<Kind>(kind));
      for (auto pointer = pointers.end(); pointer != pointers.begin();) {
        --pointer;
        for (std::size_t number = first; number < last; ++number) {
          const Alternative& alternative = alternatives_[number];
          if (alternative.production >= 0 || alternative.pointer != *pointer) continue;
          by_kind_[symbol * kKinds + kind] = static_cast<std::int16_t>(number);
        }
      }
    }
  }

  static bool has_role(const Symbol& symbol, std::uint32_t role) { return (symbol.roles & role) != 0; }

  static void add_up_to(std::vector<HeadSet>& sets, std::int32_t least, std::size_t head) {
    const auto first = static_cast<std::size_t>(least) + 1;
    while (sets.size() <= first) sets.push_back(HeadSet(sets.back()));
    for (std::size_t place = first; place < sets.size(); ++place) sets[place].add(head);
  }

  std::int32_t append(const std::vector<HeadSet>& sets) {
    const auto first = static_cast<std::int32_t>(up_to_.size());
    up_to_.insert(up_to_.end(), sets.begin(), sets.end());
    return first;
  }

  TableReader reader_;
  GrammarView& view_;
  std::vector<Symbol> symbols_;
  std::vector<std::uint32_t> production_roles_;
  std::vector<RoleHeads> heads_ = std::vector<RoleHeads>(1);
  HeadSet of_rows_;
  std::vector<Alternative> alternatives_;
  std::vector<Needs> needs_;  // of the alternatives
  std::vector<HeadSet> up_to_;
  std::vector<std::int16_t> children_, by_production_, by_kind_;
};

}  // namespace

std::initializer_list<Pointer> pointers_of(Kind kind) {
  static constexpr std::initializer_list<Pointer> kNoPointers = {}, kTables = {Pointer::kTable},
                                                  kColumns = {Pointer::kColumn, Pointer::kTime, Pointer::kEarlier,
                                                              Pointer::kNewest},
                                                  kSteps = {Pointer::kColumn, Pointer::kTime, Pointer::kEarlier, Pointer::kNewest,
                                                            Pointer::kWhich},
                                                  kCandidates = {Pointer::kValue, Pointer::kNumber, Pointer::kDate,
                                                                 Pointer::kText, Pointer::kPattern},
                                                  kSchemaValues = {Pointer::kValue, Pointer::kPattern},
                                                  kStarts = {Pointer::kStart}, kEnds = {Pointer::kEnd},
                                                  kTurns = {Pointer::kTurn, Pointer::kMember, Pointer::kExtended};
  switch (kind) {
    case Kind::kTable:
      return kTables;
    case Kind::kColumn:
      return kColumns;
    case Kind::kCandidate:
      return kCandidates;
    case Kind::kSchemaValue:
      return kSchemaValues;
    case Kind::kStart:
      return kStarts;
    case Kind::kEnd:
      return kEnds;
    case Kind::kStep:
      return kSteps;
    case Kind::kTurn:
      return kTurns;
    case Kind::kProduction:
      break;
  }
  return kNoPointers;
}

Grammar::Grammar(const Table& table) : image_(Reading(table, view_).image()) {}

GrammarView Grammar::view(const std::byte* base) const { return image_.rebased(view_, base); }

}  // namespace fastsql::grammar
