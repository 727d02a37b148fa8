// One batch of questions on its way through the GPU: what is uploaded and where everything lies, then the launches.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/device.h"
#include "core/staging_cuda.h"
#include "engine/engine_cuda.h"
#include "engine/first_rows_cuda.h"

namespace fastsql::cuda {

// What a batch leaves to the one after it.
struct BatchMemory {
  BatchMemory();
  ~BatchMemory();
  BatchMemory(const BatchMemory&) = delete;
  BatchMemory& operator=(const BatchMemory&) = delete;

  cudaStream_t stream = nullptr;
  cudaEvent_t events[4] = {};  // before the encoder, the graph and the search, and behind the latter
  Staging staging;
  DeviceScratch scratch;
  PinnedMemory results;
};

class Batch {
 public:
  // Keeps references. The questions have been checked. `states` are another encoder's, or null.
  Batch(const Engine& engine, const SchemaState& schema, const std::vector<Question>& questions, decode::Breadth breadth,
        const float* states, BatchMemory& memory);

  ~Batch();
  Batch(const Batch&) = delete;
  Batch& operator=(const Batch&) = delete;

  // Each is called once, in this order.
  void plan();   // where everything will lie; all memory is there afterwards
  void stage();  // the questions, into page-locked memory
  void queue();  // everything the GPU has to do, results copied back included
  std::vector<Outcome> wait();

 private:
  // Where a question's own things lie.
  struct Place {
    std::size_t text = 0;                        // its first token among those of all texts, [CLS]
    std::size_t row = 0;                         // its first question row
    std::size_t inside = 0;                      // the first weight of its candidates
    std::size_t turn = 0, entry = 0;             // the first of its earlier turns, and of what these offer
    Staging::Slot<std::uint8_t> relations;       // [q, q + S]
    Staging::Slot<std::uint8_t> item_relations;  // [S, item_columns], where a layer is joint
    std::size_t item_columns = 0;                // q, with further joint layers q + S
    Staging::Slot<std::byte> space;
    SearchSizes sizes{};
    std::size_t result = 0;  // bytes before its result
  };

  void plan_staging();
  void plan_scratch();
  void stage_question(std::size_t number);
  void stage_turns(std::size_t number, FirstRow* rows);
  void stage_items();
  LayerKind kind_of(std::size_t layer) const;
  void stage_search(std::size_t number);

  const Engine& engine_;
  const SchemaState& schema_;
  const std::vector<Question>& questions_;
  decode::Breadth breadth_;
  const float* states_;  // [tokens, hidden] of the encoder: given, or in scratch memory
  BatchMemory& memory_;

  std::size_t d_, hidden_;
  bool joint_;
  std::size_t tokens_ = 0, longest_ = 0, question_rows_ = 0, schema_rows_ = 0, largest_ = 0, inside_ = 0, result_bytes_ = 0;
  std::size_t turns_ = 0, entries_ = 0;
  std::vector<Place> places_;
  std::vector<DecodeItem> searches_;

  Staging::Slot<std::int32_t> ids_, first_;
  Staging::Slot<FirstRow> first_rows_;
  Staging::Slot<float> inside_slot_;
  Staging::Slot<float> pooled_slot_;  // [turns, d]
  Staging::Slot<EntryRow> entry_slot_;
  Staging::Slot<Run> runs_;                              // of tokens among the question rows, then among those of all texts
  std::vector<Staging::Slot<AttentionItem>> attention_;  // of each layer
  Staging::Slot<MergeItem> merge_;
  Staging::Slot<DecodeItem> search_slot_;

  // In scratch memory.
  float* own_states_ = nullptr;  // where the CUDA core encodes
  float* tokens_in_ = nullptr;   // [tokens, then turns, d]
  GraphMemory graph_{};
  float* normed_ = nullptr;              // [R + Z, d], final rows
  float* keys_values_ = nullptr;         // [decoder layers, R + Z, 2 d]
  float* pointed_ = nullptr;             // [R + Z, d]
  float* keys_[grammar::kKinds] = {};    // of pointers, by kind: [R, d] or [Z, d]
  float* entry_states_ = nullptr;        // [entries, d]
  float* entry_pointed_ = nullptr;       // [entries, d]
  float* means_ = nullptr;               // [2, questions, d], of final and of first rows: the beginning of what is copied back
  std::byte* search_results_ = nullptr;  // behind them
};

}  // namespace fastsql::cuda
