// The numbers and bits by which tables, automaton and model speak of the grammar. Python assigns them; the order is part of the
// layout of the tables (python/fastsql/grammar/tables.py).
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"

namespace fastsql::grammar {

// Kinds of action, in the order of KINDS in python/fastsql/grammar/space.py: that in which they are laid out.
enum class Kind : std::uint8_t { kProduction, kTable, kColumn, kCandidate, kSchemaValue, kStart, kEnd, kStep };
constexpr std::size_t kKinds = 8;

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
  kEnd
};
constexpr std::size_t kPointers = 13;

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

// Type classes, in the order of TYPE_CLASSES in python/fastsql/schema/sqltypes.py.
enum class TypeClass : std::uint8_t { kNumber, kText, kTime, kBoolean, kOther };
constexpr std::size_t kTypeClasses = 5;

// SQLite keeps times as text, and some schemas name no type.
FASTSQL_HOST_DEVICE constexpr bool can_hold_time(TypeClass type) {
  return type == TypeClass::kTime || type == TypeClass::kText || type == TypeClass::kOther;
}

// Whether an expression of this class may be compared with free text of the question.
FASTSQL_HOST_DEVICE constexpr bool takes_span(TypeClass type) { return type == TypeClass::kText || type == TypeClass::kOther; }

}  // namespace fastsql::grammar
