// What a search on the GPU is given.
#pragma once

#include <cstddef>

#include "grammar/views.h"
#include "linking/nodes.h"

namespace fastsql::cuda {

// One question: pointers into device memory, and sizes. d is the model's width.
struct DecodeItem {
  NodeLayout nodes{};
  int schema_values = 0;
  int entries = 0;  // what earlier turns offer: pointers to steps behind those of a query
  // Keys and values of every decoder layer, [layers][n, 2 d] with `..._stride` floats from layer to layer, as Decoder::read_rows
  // writes them: of nodes of the question; of nodes of the schema.
  const float* question_keys_values = nullptr;
  const float* item_keys_values = nullptr;
  std::size_t question_stride = 0, item_stride = 0;
  // What a pointer to a row adds to the decoder's input, [n, d] (Decoder::read_rows, Decoder::read_pointed).
  const float* question_pointed = nullptr;
  const float* item_pointed = nullptr;
  const float* value_pointed = nullptr;
  const float* entry_pointed = nullptr;
  const float* entry_states = nullptr;  // [entries, d], what pointers to them are compared with, as with states of decisions
  // Pointer keys [n, d] by kind, as Decoder::pointer_keys writes them; productions and steps have none.
  const float* pointer_keys[grammar::kKinds] = {};
  grammar::SpaceView space{};      // its arrays in device memory
  std::size_t automaton = 0;       // bytes for what states of the automaton share: automaton_bytes()
  std::byte* workspace = nullptr;  // Decoder::workspace_bytes
  std::byte* result = nullptr;     // Decoder::result_bytes
};

struct DecodeBatch {
  const DecodeItem* items = nullptr;  // [count], in device memory
  int count = 0;
  int beam = 0;
  int team = 0;  // blocks that share a question: a power of 2 up to 8; more than 1 needs sm_90
  // Bytes of the image of the grammar that all items have, or 0. A team of several blocks then keeps a copy of it in shared memory, as
  // the barriers between its blocks empty the cache in which it would lie otherwise.
  std::size_t grammar_bytes = 0;
  double patience = 0;  // see decode::Breadth
};

}  // namespace fastsql::cuda
