// What a block of the search kernel knows of its question, in shared memory.
#pragma once

#include "decode/decode_batch.h"
#include "decode/decoder_view.h"
#include "decode/device_team.h"
#include "decode/search_layout.h"
#include "grammar/state.h"

namespace fastsql::cuda {

struct Question {
  DecoderView model;
  DecodeItem item;
  SearchSizes sizes;
  SearchMemory memory;
  SearchResult result;
  Team team;
  // Of the first block of a team, which runs the automaton: the states that its warps work on, bytes taken of the automaton's memory,
  // how the search stands, and how many continuations have been chosen.
  grammar::State states[kSearchWarps];
  std::uint32_t automaton_used;
  std::int32_t status;  // a SearchStatus
  std::int32_t chosen;

  // Behind it in shared memory: partial sums [kPartials]; x [kGroupRows, d] of the group that is being decoded; queries of attention
  // [kGroupRows, d], those of the block's own heads; and rows that are to be multiplied.
  __device__ __forceinline__ static float* partial() { return reinterpret_cast<float*>(shared_memory() + own_bytes()); }
  __device__ __forceinline__ static float* x() { return partial() + kPartials; }
  __device__ __forceinline__ float* query() const { return x() + kGroupRows * model.d; }
  __device__ __forceinline__ SplitRows rows() const { return {reinterpret_cast<Bfloat16*>(query() + kGroupRows * model.d)}; }

  // Of a block's shared memory, for a model of these sizes.
  static std::size_t shared_bytes(int d, int ffn) {
    const auto floats = static_cast<std::size_t>(kPartials + 2 * kGroupRows * d);
    return own_bytes() + floats * sizeof(float) + static_cast<std::size_t>(split_size(d > ffn ? d : ffn)) * sizeof(Bfloat16);
  }

 private:
  FASTSQL_HOST_DEVICE static std::size_t own_bytes() { return (sizeof(Question) + 15) / 16 * 16; }
};

// Hypotheses `first` to first + count of a step, count <= kGroupRows.
struct Group {
  int step, first, count;
  int nodes;  // the number of the first one's node
  int set;    // of slots, in which they are

  __device__ __forceinline__ int slot(const Question& question, int hypothesis) const {
    return set * question.sizes.beam + question.memory.control->slots[first + hypothesis];
  }
};

}  // namespace fastsql::cuda
