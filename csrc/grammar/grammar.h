// The compiled action grammar: which alternatives each symbol has, what they need and what they expand to.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "grammar/head_set.h"
#include "grammar/table_reader.h"

namespace fastsql::grammar {

// Kinds of action, in the order of KINDS in python/fastsql/grammar/space.py: that in which they are laid out.
enum class Kind : std::uint8_t { kProduction, kTable, kColumn, kCandidate, kSchemaValue, kStart, kEnd, kStep };
constexpr std::size_t kKinds = 8;

// Semantic actions, in the order of EFFECTS in python/fastsql/grammar/reading.py. A child c < 0 is effect -1 - c.
enum class Effect : std::uint8_t {
  kFrom,
  kScope,
  kSource,
  kDerived,
  kItem,
  kClose,
  kOne,
  kFirst,
  kSecond,
  kLeft,
  kNumber,
  kText,
  kTime,
  kNumbers,
  kColumns,
  kGrouped
};
constexpr std::int32_t kEffects = 16;

// What the rules must know of a symbol or a production, as bits; python/fastsql/grammar/tables.py assigns them by name.
namespace symbol_role {
constexpr std::uint32_t kItems = 1, kBareItems = 2, kJoins = 4, kOperand = 8, kNewSource = 16, kOperandBody = 32,
                        kWhich = 64, kPartial = 128, kBeside = 256, kTailRow = 512, kPlain = 1024, kAnyCond = 2048;
constexpr std::int32_t kAll = 4095;
}  // namespace symbol_role
namespace production_role {
constexpr std::uint32_t kJoin = 1, kGroup = 2, kPartition = 4, kOrder = 8, kAggregate = 16, kOfRows = 32;
constexpr std::int32_t kAll = 63;
}  // namespace production_role

// What an alternative requires beside the step budget, as bits, in the order of REQUIREMENTS in reading.py.
namespace requirement {
constexpr std::uint32_t kTime = 1, kDate = 2, kText = 4, kColumns = 8, kGrouped = 16;
constexpr std::int32_t kAll = 31;
}  // namespace requirement

struct Alternative {
  std::int32_t production;  // or -1
  Pointer pointer;          // where production is -1
  std::uint32_t requirements;
  std::int32_t cost;        // fewest actions that complete it
  std::int32_t weight;      // entries that it leaves on SQLite's parser stack while its children are read
  std::int32_t nesting;     // the least that it and its children put on that stack
  std::int32_t children_cost;
  const std::int32_t* children;
  std::size_t child_count;
};

struct Symbol {
  std::int32_t cost = 0;
  bool nullable = false;
  std::uint32_t roles = 0;
  HeadSet heads;                                                             // of all alternatives
  HeadSet needs_time, needs_date, needs_text, needs_columns, needs_grouped;  // of those with the requirement
  HeadSet reads_rows;                                                        // of those that read columns of single rows
  // up_to[most]: heads of the alternatives with at most that cost, or nesting; index 0 is for 0.
  std::vector<HeadSet> up_to_cost, up_to_nesting;

  const HeadSet& affordable(std::int32_t room) const { return up_to(up_to_cost, room); }
  const HeadSet& shallow_enough(std::int32_t room) const { return up_to(up_to_nesting, room); }

 private:
  const HeadSet& up_to(const std::vector<HeadSet>& sets, std::int32_t most) const {
    static constexpr HeadSet kNothing{};
    if (most < 0) return kNothing;
    return static_cast<std::size_t>(most) < sets.size() ? sets[static_cast<std::size_t>(most)] : heads;
  }
};

// The bounds of python/fastsql/grammar/rules.py.
struct Bounds {
  std::int32_t nesting;     // on SQLite's parser stack
  std::int32_t sources;     // in one FROM
  std::int32_t columns;     // that `*` may select
  std::int32_t span;        // tokens of a free span
  std::int32_t least_join;  // actions that one more source costs at least
};

class Grammar {
 public:
  static constexpr std::int32_t kVersion = 1;

  // Reads what `grammar_table` of python/fastsql/grammar/tables.py writes; the layout is described there.
  // Throws ModelError where a size or a number is out of range, or where an effect stands where it can never be
  // carried out.
  explicit Grammar(const Table& table);
  Grammar(const Grammar&) = delete;
  Grammar& operator=(const Grammar&) = delete;

  std::size_t productions() const { return production_roles_.size(); }
  const Bounds& bounds() const { return bounds_; }
  const Symbol& symbol(std::int32_t number) const { return symbols_[static_cast<std::size_t>(number)]; }
  std::int32_t item_cost() const { return item_cost_; }
  std::int32_t which() const { return which_; }  // the symbol that asks for a column's source

  // Roles of a production; 0 for the number of productions, which stands for no production.
  std::uint32_t production_roles(std::int32_t production) const {
    const auto number = static_cast<std::size_t>(production);
    return number < production_roles_.size() ? production_roles_[number] : 0;
  }
  // Heads of the productions with a role.
  const HeadSet& joins() const { return joins_; }
  const HeadSet& partitions() const { return partitions_; }
  const HeadSet& orders() const { return orders_; }
  const HeadSet& aggregates() const { return aggregates_; }

  // The alternative of a symbol that an action begins, or null.
  const Alternative* find(std::int32_t symbol, Kind kind, std::int32_t index) const {
    const auto row = static_cast<std::size_t>(symbol);
    const std::int32_t number = kind == Kind::kProduction
                                    ? by_production_[row * productions() + static_cast<std::size_t>(index)]
                                    : by_kind_[row * kKinds + static_cast<std::size_t>(kind)];
    return number < 0 ? nullptr : &alternatives_[static_cast<std::size_t>(number)];
  }

 private:
  void read_symbols(TableReader& reader, std::vector<std::size_t>& alternatives_of);
  void read_alternatives(TableReader& reader, const std::vector<std::size_t>& alternatives_of, std::size_t children);
  void read_children(TableReader& reader);
  void index(std::size_t symbol, std::size_t first, std::size_t last);

  Bounds bounds_{};
  std::int32_t item_cost_ = 0;
  std::int32_t which_ = -1;
  std::vector<Symbol> symbols_;
  std::vector<std::uint32_t> production_roles_;
  HeadSet joins_, partitions_, orders_, aggregates_, of_rows_;
  std::vector<Alternative> alternatives_;
  std::vector<std::int32_t> children_;
  std::vector<std::int32_t> by_production_;  // [symbols, productions]: alternative, or -1
  std::vector<std::int32_t> by_kind_;        // [symbols, kinds]: alternative that an action of the kind begins, or -1
};

}  // namespace fastsql::grammar
