// What the decoder reads of one question: the graph's final rows, their keys and values in every decoder layer, and the keys
// that pointers are compared with. The schema's part is made once where no graph layer is joint, and once a question where one
// is; the values' part once a schema. All arrays are row-major float32 and belong to a workspace or to the schema's state.
#pragma once

#include <cstddef>

#include "grammar/numbering.h"

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
  std::size_t tokens = 0, candidates = 0, tables = 0, columns = 0, schema_values = 0;
  Keyed question;  // tokens, then candidates
  Keyed items;     // tables, then columns
  const float* values = nullptr;  // [schema_values, d], rows that a previous action can have pointed at
  // Pointer keys [n, d] by kind, as Decoder::pointer_keys makes them. Where it is null, a search makes those that it needs.
  const float* keys[grammar::kKinds] = {};

  // Rows that a kind of pointer can go to, and their first one of d floats. Start and end are tokens; productions and steps are no
  // rows of the graph.
  std::size_t count_of(grammar::Kind kind) const {
    switch (kind) {
      case grammar::Kind::kTable:
        return tables;
      case grammar::Kind::kColumn:
        return columns;
      case grammar::Kind::kCandidate:
        return candidates;
      case grammar::Kind::kSchemaValue:
        return schema_values;
      default:
        return tokens;
    }
  }
  const float* rows_of(grammar::Kind kind, std::size_t d) const {
    switch (kind) {
      case grammar::Kind::kTable:
        return items.rows;
      case grammar::Kind::kColumn:
        return items.rows + tables * d;
      case grammar::Kind::kCandidate:
        return question.rows + tokens * d;
      case grammar::Kind::kSchemaValue:
        return values;
      default:
        return question.rows;
    }
  }
};

}  // namespace fastsql::decode
