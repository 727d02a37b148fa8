// What a block of the search kernel knows of its question, in shared memory: whatever another block has written since must be fetched
// from far away after each barrier, so that what stays the same is kept near.
#pragma once

#include "decode/cuda/batch.h"
#include "decode/cuda/decoder_view.h"
#include "decode/cuda/search_layout.h"
#include "decode/cuda/team.h"
#include "grammar/state.h"

namespace fastsql::cuda {

// Room for partial sums in a block's shared memory: of linear maps [kPartialTiles, 16, kGroupRows], or of attention
// [warps, kGroupRows, kMostHead + 2].
constexpr int kPartialTiles = 32, kMostHead = 64;
constexpr int kPartials = kSearchWarps * kGroupRows * (kMostHead + 2);
static_assert(kPartialTiles * kTileOutputs * kGroupRows <= kPartials);

struct Question {
  DecoderView model;  // its layers in shared memory, too
  DecodeItem item;
  SearchSizes sizes;
  double patience;
  SearchMemory memory;
  SearchResult result;
  Team team;
  std::int32_t slots[kWidestBeam];  // of the hypotheses in the present step
  // Of the first block of a team, which runs the automaton: the states that its warps work on, bytes taken of the automaton's memory,
  // how the search stands, and how many continuations have been chosen.
  grammar::State states[kSearchWarps];
  std::uint32_t automaton_used;
  std::int32_t status;  // a SearchStatus
  std::int32_t chosen;

  // The block's own.
  __device__ __forceinline__ static Question& own() { return *reinterpret_cast<Question*>(shared_memory()); }

  // Behind it in shared memory: partial sums [kPartials]; x [kGroupRows, d] of the group that is being decoded; queries of attention
  // [kGroupRows, d], those of the block's own heads; and rows that are to be multiplied.
  __device__ __forceinline__ static float* partial() { return reinterpret_cast<float*>(shared_memory() + own_bytes()); }
  __device__ __forceinline__ static float* x() { return partial() + kPartials; }
  __device__ __forceinline__ float* query() const { return x() + kGroupRows * model.d; }
  __device__ __forceinline__ SplitRows rows() const { return {reinterpret_cast<Bfloat16*>(query() + kGroupRows * model.d)}; }
  // The model's layers.
  __device__ __forceinline__ DecoderLayerView* layers() const {
    return reinterpret_cast<DecoderLayerView*>(rows().numbers + split_size(model.d > model.ffn ? model.d : model.ffn));
  }

  // Room for the grammar of a team of several blocks.
  __device__ __forceinline__ std::byte* grammar() const {
    return reinterpret_cast<std::byte*>(layers()) + layer_bytes(model.layers);
  }

  // Of a block's shared memory, for a model of these sizes and a grammar of so many bytes.
  static std::size_t shared_bytes(int d, int ffn, int layers, std::size_t grammar) {
    const auto floats = static_cast<std::size_t>(kPartials + 2 * kGroupRows * d);
    const auto numbers = static_cast<std::size_t>(split_size(d > ffn ? d : ffn));
    return own_bytes() + floats * sizeof(float) + numbers * sizeof(Bfloat16) + layer_bytes(layers) + grammar;
  }

 private:
  FASTSQL_HOST_DEVICE static std::size_t rounded(std::size_t bytes) { return (bytes + 15) / 16 * 16; }
  FASTSQL_HOST_DEVICE static std::size_t own_bytes() { return rounded(sizeof(Question)); }
  FASTSQL_HOST_DEVICE static std::size_t layer_bytes(int layers) {
    return rounded(static_cast<std::size_t>(layers) * sizeof(DecoderLayerView));
  }
};

// Hypotheses `first` to first + count of a step, count <= kGroupRows.
struct Group {
  int step, first, count;
  int nodes;  // the number of the first one's node
  int set;    // of slots, in which they are

  __device__ __forceinline__ int slot(const Question& question, int hypothesis) const {
    return set * question.sizes.beam + question.slots[first + hypothesis];
  }
};

}  // namespace fastsql::cuda
