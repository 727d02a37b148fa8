// Everything about a schema that does not depend on a question, made once and shared by all questions.
#pragma once

#include <cstddef>
#include <vector>

#include "decode/memory.h"
#include "graph/graph_layer.h"

namespace fastsql {

// One layer's reading of the schema. A cached layer leaves its keys and values only; the first joint one all of it.
struct SchemaLayer {
  std::vector<float> keys_values;            // [S, 2 d]
  std::vector<float> query, mixed, log_sum;  // [S, d], [S, d], [heads, S]
};

// The decoder's reading of schema items.
struct SchemaMemory {
  std::vector<float> rows;                     // [S, d], after the last norm
  std::vector<float> keyed;                    // what Decoder::read_rows writes
  std::vector<float> table_keys, column_keys;  // [T, d], [C, d]
  decode::Keyed items;                         // views of the above
};

// Immutable once made; lives where it was made, since it holds pointers into itself.
struct SchemaState {
  SchemaState() = default;
  SchemaState(const SchemaState&) = delete;
  SchemaState& operator=(const SchemaState&) = delete;

  NodeLayout nodes;  // the schema's alone
  std::size_t values = 0;
  std::vector<float> items;         // [S, d], after the cached layers
  std::vector<SchemaLayer> layers;  // the cached ones, and the first joint one
  SchemaMemory memory;              // empty where a layer is joint
  std::vector<float> value_states;  // [W, d]
  std::vector<float> value_keys;    // [W, d]

  std::size_t n_items() const { return nodes.size(); }
  // Of all arrays.
  std::size_t bytes() const;
};

}  // namespace fastsql
