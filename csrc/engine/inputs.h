// What the engine is given of a schema and of a question: views of arrays that the caller keeps.
#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <vector>

#include "attention/head_rows.h"
#include "linking/nodes.h"

namespace fastsql {

// Texts of equal length, ids [texts, tokens] with [CLS] and [SEP].
struct TextGroup {
  const std::int32_t* ids = nullptr;
  std::size_t texts = 0, tokens = 0;
};

// Mirrors SchemaInputs of python/fastsql/model/schema_inputs.py. S = tables + columns items, W values.
struct SchemaInputs {
  NodeLayout nodes;  // the schema's alone
  std::size_t values = 0;
  std::vector<TextGroup> texts, value_texts;
  const float* text_means = nullptr;           // [texts, hidden] from another encoder, or null: the native one is asked
  const float* value_means = nullptr;          // [value texts, hidden], likewise
  const std::int64_t* item_text = nullptr;     // [S], a text's place through all groups
  const std::int64_t* item_type = nullptr;     // [S]
  const std::int64_t* column_table = nullptr;  // [columns]
  RelationRows relations;                      // [S, S]
  const std::int64_t* value_text = nullptr;    // [W]
  const std::int64_t* value_column = nullptr;  // [W], -1 for a constant of no column

  std::size_t items() const { return nodes.size(); }
};

constexpr std::size_t kCandidateFeatures = 4;  // kind, source, date format, rank

// What a turn's numbers, and those of an entry between its turn and its table or column (-1: none), are indices of: TURN_FEATURES and
// ENTRY_FEATURES in python/fastsql/model/turns.py.
inline constexpr const char* kTurnEmbeddings[] = {"turn.age.weight", "turn.usable.weight"};
inline constexpr const char* kEntryEmbeddings[] = {"turn.entry_kind.weight", "turn.entry_type.weight", "turn.entry_place.weight"};
constexpr std::size_t kTurnFeatures = std::size(kTurnEmbeddings);
constexpr std::size_t kEntryNumbers = 2 + std::size(kEntryEmbeddings);

// Mirrors TurnInputs of python/fastsql/model/turns.py: K earlier turns, which offer E entries.
struct TurnInputs {
  std::size_t turns = 0, entries = 0;
  const float* pooled = nullptr;           // [K, d]
  const std::int64_t* features = nullptr;  // [K, kTurnFeatures]
  const std::int64_t* entry = nullptr;     // [E, kEntryNumbers]
};

// A linked question: Q tokens, V candidates, K earlier turns, and N = Q + V + K + S rows of the graph.
struct QuestionInputs {
  std::size_t tokens = 0, candidates = 0;
  const std::int32_t* token_ids = nullptr;  // [Q], without [CLS] and [SEP]
  const float* token_states = nullptr;      // [Q, hidden] from another encoder, or null: the native one is asked
  const float* inside = nullptr;            // [V, Q], each row the weights of the tokens of the candidate's span
  const std::int64_t* features = nullptr;   // [V, kCandidateFeatures]
  RelationRows relations;                   // [N, N]
  TurnInputs turns;

  NodeLayout nodes() const { return NodeLayout().with_question(tokens, candidates, turns.turns); }  // the question's alone
  std::size_t rows() const { return nodes().question(); }
};

}  // namespace fastsql
