// What the decoder reads of one question: the graph's final rows, their keys and values in every decoder layer, and the keys
// that pointers are compared with. The schema's part is made once where no graph layer is joint, and once a question where one
// is; the values' part once a schema. All arrays are row-major float32 and belong to a workspace or to the schema's state.
#pragma once

#include <cstddef>

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
  // Pointer keys [n, d] of each kind, made by Decoder::pointer_keys.
  const float* table_keys = nullptr;
  const float* column_keys = nullptr;
  const float* candidate_keys = nullptr;
  const float* value_keys = nullptr;
  const float* start_keys = nullptr;  // of tokens
  const float* end_keys = nullptr;    // of tokens
};

}  // namespace fastsql::decode
