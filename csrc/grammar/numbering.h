// The numbers and bits by which tables, automaton and model speak of the grammar. Python assigns them; the order is part of the
// layout of the tables (python/fastsql/grammar/tables.py), and tests/native/test_numbering.py compares the names below with Python's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string_view>

#include "core/host_device.h"

namespace fastsql::grammar {

// The bit of a name: its place among the names. Only constants are initialised with it: a name that is not among them does not compile.
template <std::size_t count>
constexpr std::uint32_t bit_of(const char* const (&names)[count], std::string_view name) {
  std::size_t place = 0;
  while (names[place] != name) ++place;
  return std::uint32_t{1} << place;
}

// Kinds of action, in the order of KINDS in python/fastsql/grammar/actions.py: that in which they are laid out. What to do for another
// one stands there.
enum class Kind : std::uint8_t { kProduction, kTable, kColumn, kCandidate, kSchemaValue, kStart, kEnd, kStep, kTurn };
inline constexpr const char* kKindNames[] = {"production", "table", "column", "candidate", "schema_value",
                                             "start",      "end",   "step",   "turn"};
constexpr std::size_t kKinds = std::size(kKindNames);
// What the weights of a bundle call those that it has weights for.
inline constexpr const char* kWeightNames[] = {"production", "table", "column", "candidate", "value", "start", "end", "step"};
constexpr std::size_t kWeightedKinds = std::size(kWeightNames);

// All of these but productions point at something. The model numbers them from 0.
constexpr std::size_t kPointerKinds = kWeightedKinds - 1;
FASTSQL_HOST_DEVICE constexpr std::size_t pointer_number(Kind kind) { return static_cast<std::size_t>(kind) - 1; }
FASTSQL_HOST_DEVICE constexpr Kind pointer_kind(std::size_t number) { return static_cast<Kind>(number + 1); }

// What stands for the last action before there is one.
constexpr std::int32_t kNoAction = -1;

// Kinds of pointer, in the order of POINTERS in python/fastsql/grammar/reading.py.
enum class Pointer : std::uint8_t {
  kTable,
  kColumn,
  kEarlier,
  kNewest,
  kWhich,
  kTime,
  kValue,
  kNumber,
  kDate,
  kText,
  kPattern,
  kStart,
  kEnd,
  kTurn,
  kMember,
  kExtended
};
inline constexpr const char* kPointerNames[] = {"table", "column", "earlier", "newest", "which", "time", "value",  "number",
                                                "date",  "text",   "pattern", "start",  "end",   "turn", "member", "extended"};
constexpr std::size_t kPointers = std::size(kPointerNames);

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
  kGrouped,
  kToward,
  kPrevious,
  kReopen,
  kKeep
};
inline constexpr const char* kEffectNames[] = {"from",    "scope",   "source", "derived",  "item",   "close", "one",
                                               "first",   "second",  "left",   "number",   "text",   "time",  "numbers",
                                               "columns", "grouped", "toward", "previous", "reopen", "keep"};
constexpr std::int32_t kEffects = static_cast<std::int32_t>(std::size(kEffectNames));

// What the rules must know of a symbol or a production, as bits, in the order of SYMBOL_ROLES and PRODUCTION_ROLES in
// python/fastsql/grammar/tables.py.
namespace symbol_role {
inline constexpr const char* kNames[] = {"items",  "bare_items", "joins",    "operand",   "new_source", "operand_body",
                                         "which",  "partial",    "beside",   "tail_row",  "plain",      "any_cond",
                                         "listed", "compared",   "newest",   "side",      "stored",     "target",
                                         "hop",    "hops",       "gathered", "selecting", "joining"};
constexpr std::uint32_t kItems = bit_of(kNames, "items"), kBareItems = bit_of(kNames, "bare_items"),
                        kJoins = bit_of(kNames, "joins"), kOperand = bit_of(kNames, "operand"),
                        kNewSource = bit_of(kNames, "new_source"), kOperandBody = bit_of(kNames, "operand_body"),
                        kWhich = bit_of(kNames, "which"), kPartial = bit_of(kNames, "partial"),
                        kBeside = bit_of(kNames, "beside"), kTailRow = bit_of(kNames, "tail_row"),
                        kPlain = bit_of(kNames, "plain"), kAnyCond = bit_of(kNames, "any_cond"),
                        kListed = bit_of(kNames, "listed"), kCompared = bit_of(kNames, "compared"),
                        kNewest = bit_of(kNames, "newest"), kSide = bit_of(kNames, "side"), kStored = bit_of(kNames, "stored"),
                        kTarget = bit_of(kNames, "target"), kHop = bit_of(kNames, "hop"), kHops = bit_of(kNames, "hops"),
                        kGathered = bit_of(kNames, "gathered"), kSelecting = bit_of(kNames, "selecting"),
                        kJoining = bit_of(kNames, "joining");
constexpr std::int32_t kAll = (1 << std::size(kNames)) - 1;
}  // namespace symbol_role
namespace production_role {
inline constexpr const char* kNames[] = {"join",   "group",   "partition", "order",  "aggregate", "of_rows",  "equates",
                                         "lists",  "zero",    "one",       "two",    "computed",  "compares", "keyed",
                                         "routed", "members", "contains",  "begins", "ends",      "like"};
constexpr std::uint32_t kJoin = bit_of(kNames, "join"), kGroup = bit_of(kNames, "group"),
                        kPartition = bit_of(kNames, "partition"), kOrder = bit_of(kNames, "order"),
                        kAggregate = bit_of(kNames, "aggregate"), kOfRows = bit_of(kNames, "of_rows"),
                        kEquates = bit_of(kNames, "equates"), kLists = bit_of(kNames, "lists"), kZero = bit_of(kNames, "zero"),
                        kOne = bit_of(kNames, "one"), kTwo = bit_of(kNames, "two"), kComputed = bit_of(kNames, "computed"),
                        kCompares = bit_of(kNames, "compares"), kKeyed = bit_of(kNames, "keyed"),
                        kRouted = bit_of(kNames, "routed"), kMembers = bit_of(kNames, "members"),
                        kContains = bit_of(kNames, "contains"), kBegins = bit_of(kNames, "begins"),
                        kEnds = bit_of(kNames, "ends"), kLike = bit_of(kNames, "like");
constexpr std::int32_t kAll = (1 << std::size(kNames)) - 1;
}  // namespace production_role

// What an alternative requires beside the step budget, as bits, in the order of REQUIREMENTS in reading.py.
namespace requirement {
inline constexpr const char* kNames[] = {"time", "date",   "text",     "columns", "grouped", "way",   "free",
                                         "turn", "member", "extended", "kept",    "rows",    "groups"};
constexpr std::uint32_t kTime = bit_of(kNames, "time"), kDate = bit_of(kNames, "date"), kText = bit_of(kNames, "text"),
                        kColumns = bit_of(kNames, "columns"), kGrouped = bit_of(kNames, "grouped"), kWay = bit_of(kNames, "way"),
                        kFree = bit_of(kNames, "free"), kTurn = bit_of(kNames, "turn"), kMember = bit_of(kNames, "member"),
                        kExtended = bit_of(kNames, "extended"), kKept = bit_of(kNames, "kept"), kRows = bit_of(kNames, "rows"),
                        kGroups = bit_of(kNames, "groups");
constexpr std::uint32_t kTurns = kTurn | kMember | kExtended, kKeeps = kKept | kRows | kGroups;
constexpr std::int32_t kAll = (1 << std::size(kNames)) - 1;
}  // namespace requirement

// Type classes, in the order of TYPE_CLASSES in python/fastsql/schema/sqltypes.py.
enum class TypeClass : std::uint8_t { kNumber, kText, kTime, kBoolean, kOther };
inline constexpr const char* kTypeClassNames[] = {"number", "text", "time", "boolean", "other"};
constexpr std::size_t kTypeClasses = std::size(kTypeClassNames);

// Kinds of candidate, in the order of KINDS in python/fastsql/linking/candidate.py.
enum class CandidateKind : std::uint8_t { kNumber, kDate, kText };
inline constexpr const char* kCandidateNames[] = {"number", "date", "text"};
constexpr std::size_t kCandidateKinds = std::size(kCandidateNames);

// SQLite keeps times as text, and some schemas name no type.
FASTSQL_HOST_DEVICE constexpr bool can_hold_time(TypeClass type) {
  return type == TypeClass::kTime || type == TypeClass::kText || type == TypeClass::kOther;
}

// Whether an expression of this class may be compared with free text of the question.
FASTSQL_HOST_DEVICE constexpr bool takes_span(TypeClass type) { return type == TypeClass::kText || type == TypeClass::kOther; }

}  // namespace fastsql::grammar
