#include "grammar/grammar.h"

#include <initializer_list>
#include <string>

namespace fastsql::grammar {
namespace {

// Bounds that no real grammar reaches keep every sum of them far from overflow.
constexpr std::int32_t kMostSymbols = 512, kMostAlternatives = 1 << 14, kMostChildren = 1 << 16, kMostNumber = 255;

// The pointers that an action of a kind may stand for. A symbol that knows several takes the first.
std::initializer_list<Pointer> pointers_of(Kind kind) {
  static constexpr std::initializer_list<Pointer> kNoPointers = {}, kTables = {Pointer::kTable},
      kColumns = {Pointer::kColumn, Pointer::kTime, Pointer::kEarlier, Pointer::kNewest},
      kSteps = {Pointer::kColumn, Pointer::kTime, Pointer::kEarlier, Pointer::kNewest, Pointer::kWhich},
      kCandidates = {Pointer::kValue, Pointer::kNumber, Pointer::kDate, Pointer::kText, Pointer::kPattern},
      kSchemaValues = {Pointer::kValue, Pointer::kPattern}, kStarts = {Pointer::kStart}, kEnds = {Pointer::kEnd};
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
    case Kind::kProduction:
      break;
  }
  return kNoPointers;
}

std::size_t head_of(const Alternative& alternative) {
  return alternative.production >= 0 ? static_cast<std::size_t>(alternative.production)
                                     : grammar::head_of(alternative.pointer);
}

void add_up_to(std::vector<HeadSet>& sets, std::int32_t from, std::size_t head) {
  const auto first = static_cast<std::size_t>(from);
  while (sets.size() <= first) sets.push_back(sets.empty() ? HeadSet{} : sets.back());
  for (std::size_t most = first; most < sets.size(); ++most) sets[most].add(head);
}

}  // namespace

Grammar::Grammar(const Table& table) {
  TableReader reader("grammar table", table, kVersion);
  const std::size_t symbols = reader.count("symbols", kMostSymbols, 4);
  const std::size_t productions = reader.count("productions", kMostProductions, 1);
  const std::size_t alternatives = reader.count("alternatives", kMostAlternatives, 6);
  const std::size_t children = reader.count("children", kMostChildren, 1);
  bounds_.nesting = reader.next("the bound of nesting", 0, 1 << 16);
  bounds_.sources = reader.next("the bound of sources", 0, 1 << 16);
  bounds_.columns = reader.next("the bound of columns", 0, 1 << 16);
  bounds_.span = reader.next("the bound of spans", 1, 1 << 16);
  bounds_.least_join = reader.next("the least cost of a join", 0, kMostNumber);
  if (symbols == 0) reader.fail("has no symbol");
  symbols_.resize(symbols);
  production_roles_.resize(productions);
  alternatives_.resize(alternatives);
  children_.reserve(children);
  by_production_.assign(symbols * productions, -1);
  by_kind_.assign(symbols * kKinds, -1);

  std::vector<std::size_t> alternatives_of(symbols);
  read_symbols(reader, alternatives_of);
  for (std::size_t number = 0; number < productions; ++number) {
    using namespace production_role;
    const auto roles = static_cast<std::uint32_t>(reader.next("roles of a production", 0, kAll));
    production_roles_[number] = roles;
    if (roles & kJoin) joins_.add(number);
    if (roles & kPartition) partitions_.add(number);
    if (roles & kOrder) orders_.add(number);
    if (roles & kAggregate) aggregates_.add(number);
    if (roles & kOfRows) of_rows_.add(number);
  }
  read_alternatives(reader, alternatives_of, children);
  read_children(reader);
  reader.end();
}

void Grammar::read_symbols(TableReader& reader, std::vector<std::size_t>& alternatives_of) {
  std::size_t total = 0;
  for (std::size_t number = 0; number < symbols_.size(); ++number) {
    Symbol& symbol = symbols_[number];
    symbol.cost = reader.next("cost of a symbol", 0, kMostNumber);
    symbol.nullable = reader.next("whether a symbol may be left out", 0, 1) != 0;
    symbol.roles = static_cast<std::uint32_t>(reader.next("roles of a symbol", 0, symbol_role::kAll));
    alternatives_of[number] = static_cast<std::size_t>(reader.next("alternatives of a symbol", 0, kMostAlternatives));
    total += alternatives_of[number];
    if (symbol.roles & symbol_role::kWhich) which_ = static_cast<std::int32_t>(number);
  }
  if (total != alternatives_.size()) {
    reader.fail("has " + std::to_string(alternatives_.size()) + " alternatives; its symbols have " +
                std::to_string(total));
  }
  item_cost_ = reader.next("cost of a select item", 0, kMostNumber);
}

void Grammar::read_alternatives(TableReader& reader, const std::vector<std::size_t>& alternatives_of,
                                std::size_t children) {
  std::size_t first = 0, child_total = 0;
  for (std::size_t symbol = 0; symbol < symbols_.size(); ++symbol) {
    const std::size_t last = first + alternatives_of[symbol];
    for (std::size_t number = first; number < last; ++number) {
      Alternative& alternative = alternatives_[number];
      const std::int32_t head = reader.next("head of an alternative", -static_cast<std::int32_t>(kPointers),
                                            static_cast<std::int32_t>(productions()) - 1);
      alternative.production = head >= 0 ? head : -1;
      alternative.pointer = head >= 0 ? Pointer{} : static_cast<Pointer>(-1 - head);
      alternative.requirements = static_cast<std::uint32_t>(reader.next("requirements", 0, requirement::kAll));
      alternative.cost = reader.next("cost of an alternative", 0, kMostNumber);
      alternative.weight = reader.next("weight of an alternative", 0, kMostNumber);
      alternative.nesting = reader.next("nesting of an alternative", 0, kMostNumber);
      alternative.child_count = static_cast<std::size_t>(reader.next("children of an alternative", 0, kMostNumber));
      child_total += alternative.child_count;
    }
    index(symbol, first, last);
    first = last;
  }
  if (child_total != children) {
    reader.fail("has " + std::to_string(children) + " children; its alternatives have " + std::to_string(child_total));
  }
  children_.resize(children);
}

void Grammar::read_children(TableReader& reader) {
  const std::int32_t* next = children_.data();
  for (Alternative& alternative : alternatives_) {
    alternative.children = next;
    alternative.children_cost = 0;
    bool effects_only = true;
    for (std::size_t place = 0; place < alternative.child_count; ++place) {
      const std::int32_t child =
          reader.next("child of an alternative", -kEffects, static_cast<std::int32_t>(symbols_.size()) - 1);
      children_[static_cast<std::size_t>(next - children_.data())] = child;
      ++next;
      if (child >= 0) {
        alternative.children_cost += symbol(child).cost;
        effects_only = false;
        continue;
      }
      const Effect effect = static_cast<Effect>(-1 - child);
      const bool of_a_table = alternative.production < 0 && alternative.pointer == Pointer::kTable && effects_only;
      if ((effect == Effect::kFrom || effect == Effect::kSource) && !of_a_table) {
        reader.fail("adds a table to FROM where none was pointed at");
      }
    }
  }
}

void Grammar::index(std::size_t symbol_number, std::size_t first, std::size_t last) {
  Symbol& symbol = symbols_[symbol_number];
  for (std::size_t number = first; number < last; ++number) {
    const Alternative& alternative = alternatives_[number];
    const std::size_t head = head_of(alternative);
    symbol.heads.add(head);
    add_up_to(symbol.up_to_cost, alternative.cost, head);
    add_up_to(symbol.up_to_nesting, alternative.nesting, head);
    if (alternative.requirements & requirement::kTime) symbol.needs_time.add(head);
    if (alternative.requirements & requirement::kDate) symbol.needs_date.add(head);
    if (alternative.requirements & requirement::kText) symbol.needs_text.add(head);
    if (alternative.requirements & requirement::kColumns) symbol.needs_columns.add(head);
    if (alternative.requirements & requirement::kGrouped) symbol.needs_grouped.add(head);
    if (alternative.production >= 0) {
      by_production_[symbol_number * productions() + head] = static_cast<std::int32_t>(number);
    }
  }
  for (std::size_t kind = 0; kind < kKinds; ++kind) {
    const auto pointers = pointers_of(static_cast<Kind>(kind));
    for (auto pointer = pointers.end(); pointer != pointers.begin();) {
      --pointer;
      for (std::size_t number = first; number < last; ++number) {
        const Alternative& alternative = alternatives_[number];
        if (alternative.production >= 0 || alternative.pointer != *pointer) continue;
        by_kind_[symbol_number * kKinds + kind] = static_cast<std::int32_t>(number);
      }
    }
  }
  symbol.reads_rows = of_rows_;
  symbol.reads_rows &= symbol.heads;
  if (symbol.roles & symbol_role::kAnyCond) symbol.reads_rows |= symbol.needs_time;
}

}  // namespace fastsql::grammar
