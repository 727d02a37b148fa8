// The numbers and bits by which tables, automaton and model speak of the grammar. Python assigns them; the order is part of the
// layout of the tables (python/fastsql/grammar/tables.py), and tests/native/test_numbering.py compares the names below with Python's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "core/host_device.h"

namespace fastsql::grammar {

// Kinds of action, in the order of KINDS in python/fastsql/grammar/actions.py: that in which they are laid out. What to do for another
// one stands there.
enum class Kind : std::uint8_t { kProduction, kTable, kColumn, kCandidate, kSchemaValue, kStart, kEnd, kStep, kTurn };
constexpr std::size_t kKinds = 9;
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

// What the rules must know of a symbol or a production, as bits; python/fastsql/grammar/tables.py assigns them by name.
namespace symbol_role {
constexpr std::uint32_t kItems = 1, kBareItems = 2, kJoins = 4, kOperand = 8, kNewSource = 16, kOperandBody = 32, kWhich = 64,
                        kPartial = 128, kBeside = 256, kTailRow = 512, kPlain = 1024, kAnyCond = 2048, kListed = 4096,
                        kCompared = 8192, kNewest = 16384, kSide = 32768, kStored = 1 << 16, kTarget = 1 << 17, kHop = 1 << 18,
                        kHops = 1 << 19, kGathered = 1 << 20, kSelecting = 1 << 21, kJoining = 1 << 22;
constexpr std::int32_t kAll = (1 << 23) - 1;
}  // namespace symbol_role
namespace production_role {
constexpr std::uint32_t kJoin = 1, kGroup = 2, kPartition = 4, kOrder = 8, kAggregate = 16, kOfRows = 32, kEquates = 64,
                        kLists = 128, kZero = 256, kOne = 512, kTwo = 1024, kComputed = 2048, kCompares = 4096, kKeyed = 8192,
                        kRouted = 1 << 14, kMembers = 1 << 15, kContains = 1 << 16, kBegins = 1 << 17, kEnds = 1 << 18,
                        kLike = 1 << 19;
constexpr std::int32_t kAll = (1 << 20) - 1;
}  // namespace production_role

// What an alternative requires beside the step budget, as bits, in the order of REQUIREMENTS in reading.py.
namespace requirement {
constexpr std::uint32_t kTime = 1, kDate = 2, kText = 4, kColumns = 8, kGrouped = 16, kWay = 32, kFree = 64, kTurn = 128,
                        kMember = 256, kExtended = 512, kKept = 1024, kRows = 2048, kGroups = 4096;
constexpr std::uint32_t kTurns = kTurn | kMember | kExtended, kKeeps = kKept | kRows | kGroups;
inline constexpr const char* kNames[] = {"time", "date",   "text",     "columns", "grouped", "way",   "free",
                                         "turn", "member", "extended", "kept",    "rows",    "groups"};
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
