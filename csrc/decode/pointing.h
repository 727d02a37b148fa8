// What actions point at: rows of the graph, and behind those the schema values. Says the same as python/fastsql/model/pointing.py.
#pragma once

#include <cstddef>
#include <string>

#include "grammar/numbering.h"
#include "linking/nodes.h"

namespace fastsql::decode {

// The rows that actions of a kind point at, of [N nodes][W schema values]. Productions point at none, and steps at what was decided
// there, or at what earlier turns offer.
FASTSQL_HOST_DEVICE constexpr RowRange pointed_rows(grammar::Kind kind, const NodeLayout& nodes, std::size_t schema_values) {
  switch (kind) {
    case grammar::Kind::kTable:
      return nodes.of(NodeKind::kTable);
    case grammar::Kind::kColumn:
      return nodes.of(NodeKind::kColumn);
    case grammar::Kind::kCandidate:
      return nodes.of(NodeKind::kCandidate);
    case grammar::Kind::kSchemaValue:
      return {nodes.size(), schema_values};
    case grammar::Kind::kStart:
    case grammar::Kind::kEnd:
      return nodes.of(NodeKind::kToken);
    case grammar::Kind::kTurn:
      return nodes.of(NodeKind::kTurn);
    case grammar::Kind::kProduction:
    case grammar::Kind::kStep:
      break;
  }
  return {};
}

// The weights that make the keys of a kind of pointer.
inline std::string pointer_key_name(grammar::Kind kind) {
  if (kind == grammar::Kind::kTurn) return "decoder.turn.key";
  return std::string("decoder.pointer_key.") + grammar::kWeightNames[static_cast<std::size_t>(kind)];
}

}  // namespace fastsql::decode
