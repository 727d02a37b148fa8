// The nodes of the relation graph: their kinds, and where those of each kind lie. Says the same as python/fastsql/linking/nodes.py.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>

#include "core/host_device.h"

namespace fastsql {

// Kinds of node, in the order in which they are laid out: the question's, with the earlier turns of its conversation, then the
// schema's.
enum class NodeKind : std::uint8_t { kToken, kCandidate, kTurn, kTable, kColumn };
inline constexpr const char* kNodeNames[] = {"token", "candidate", "turn", "table", "column"};
constexpr std::size_t kNodeKinds = std::size(kNodeNames);

// Neighbouring rows.
struct RowRange {
  std::size_t first = 0, count = 0;
};

// How many nodes of each kind there are, and where they lie; those of a schema alone where the question's numbers are 0.
struct NodeLayout {
  std::size_t tokens = 0, candidates = 0, turns = 0, tables = 0, columns = 0;

  // Nodes of the question, which come first, of the schema, and of both.
  FASTSQL_HOST_DEVICE constexpr std::size_t question() const { return tokens + candidates + turns; }
  FASTSQL_HOST_DEVICE constexpr std::size_t schema() const { return tables + columns; }
  FASTSQL_HOST_DEVICE constexpr std::size_t size() const { return question() + schema(); }

  FASTSQL_HOST_DEVICE constexpr RowRange of(NodeKind kind) const {
    switch (kind) {
      case NodeKind::kToken:
        return {0, tokens};
      case NodeKind::kCandidate:
        return {tokens, candidates};
      case NodeKind::kTurn:
        return {tokens + candidates, turns};
      case NodeKind::kTable:
        return {question(), tables};
      case NodeKind::kColumn:
        return {question() + tables, columns};
    }
    return {};
  }
  // The first node of a kind.
  FASTSQL_HOST_DEVICE constexpr std::size_t first(NodeKind kind) const { return of(kind).first; }

  // These nodes of a schema behind those of a question.
  constexpr NodeLayout with_question(std::size_t n_tokens, std::size_t n_candidates, std::size_t n_turns = 0) const {
    return {n_tokens, n_candidates, n_turns, tables, columns};
  }
};

}  // namespace fastsql
