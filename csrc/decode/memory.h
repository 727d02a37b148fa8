// What the decoder reads of one question: the graph's final rows, their keys and values in every decoder layer, and the keys
// that pointers are compared with. The schema's part is made once where no graph layer is joint, and once a question where one
// is; the values' part once a schema. All arrays are row-major float32 and belong to a workspace or to the schema's state.
#pragma once

#include <cstddef>

#include "decode/pointing.h"

namespace fastsql::decode {

// Graph rows that lie together: `rows` [n, d], and what Decoder::read_rows has made of them for every decoder layer. Keys and
// values have the layout of HeadLayout (decode/head_layout.h).
struct Keyed {
  std::size_t n = 0;
  const float* rows = nullptr;
  const float* keys = nullptr;    // [layers, n, width]
  const float* values = nullptr;  // [layers, n, width]
};

struct Memory {
  NodeLayout nodes;
  std::size_t schema_values = 0;
  Keyed question;                     // nodes of the question
  Keyed items;                        // nodes of the schema
  const float* value_rows = nullptr;  // [schema_values, d], that a previous action can have pointed at
  std::size_t entries = 0;            // what earlier turns offer: pointers to steps behind those of a query
  const float* entry_rows = nullptr;  // [entries, d]
  // Pointer keys [n, d] by kind, as Decoder::pointer_keys makes them. Where it is null, a search makes those that it needs.
  const float* pointer_keys[grammar::kKinds] = {};

  // The rows that actions of a kind point at, and one of them [d].
  RowRange pointed(grammar::Kind kind) const { return pointed_rows(kind, nodes, schema_values); }
  const float* row(std::size_t number, std::size_t d) const {
    if (number < nodes.question()) return question.rows + number * d;
    if (number < nodes.size()) return items.rows + (number - nodes.question()) * d;
    return value_rows + (number - nodes.size()) * d;
  }
  const float* entry(std::size_t number, std::size_t d) const { return entry_rows + number * d; }
};

}  // namespace fastsql::decode
