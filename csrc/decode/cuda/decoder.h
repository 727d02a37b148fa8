// The decoder and its beam search on the GPU: every step of every question's search in one launch, without the host. A team of blocks
// takes one question from its first step to its last. Semantics are those of decode/beam_search.h, search for search; scores differ by
// rounding alone, and do not depend on the other questions or on the size of the team.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/layer_norm_cuda.h"
#include "decode/beam_search.h"
#include "decode/cuda/batch.h"
#include "decode/cuda/decoder_view.h"
#include "decode/cuda/search_layout.h"
#include "linear/linear_cuda.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql::cuda {

// Bytes for what the states of a search share: enough for as many actions as its hypotheses can have at once. Dropped hypotheses leave
// theirs behind, and what an action takes is counted at its most.
std::size_t automaton_bytes(const grammar::SpaceView& space, int beam);

// Immutable; each of its functions but the first queues work on a stream and returns.
class Decoder {
 public:
  // Copies the weights whose names begin with "decoder." to the current device. Throws ModelError where one is missing or of another
  // shape, or where the heads have another size than 32 or 64.
  Decoder(const model::Config& config, const model::Weights& weights);

  std::size_t layers() const { return layers_.size(); }

  // Of final graph rows [n, d]: keys and values for every layer, [layers, n, 2 d], and what pointers to them add to the input, [n, d].
  void read_rows(const float* rows, std::size_t n, float* keys_values, float* pointed, cudaStream_t stream) const;
  // The latter alone, for schema values.
  void read_pointed(const float* rows, std::size_t n, float* pointed, cudaStream_t stream) const;
  // Keys [n, d] that pointers of a kind are compared with, of rows [n, d]. Throws ModelError for productions and steps.
  void pointer_keys(grammar::Kind kind, const float* rows, std::size_t n, float* keys, cudaStream_t stream) const;

  // Sizes of an item's search; they do not depend on its pointers. Throws ModelError where model and space do not belong together, or
  // where the beam is not from 1 to kWidestBeam.
  SearchSizes sizes(const DecodeItem& item, int beam) const;
  static std::size_t workspace_bytes(const SearchSizes& sizes);
  static std::size_t result_bytes(const SearchSizes& sizes);

  // Blocks a question that suit so many questions on the current device.
  int team_of(int questions) const;

  // Queues the searches of a batch whose items passed `sizes`.
  void search(const DecodeBatch& batch, cudaStream_t stream) const;

 private:
  struct Layer {
    LayerNorm self_norm;
    Linear self_qkv, self_out;
    LayerNorm cross_norm;
    Linear cross_query, cross_kv, cross_out;
    LayerNorm ffn_norm;
    Linear ffn_in, ffn_out;

    Layer(const model::Config& config, const model::Weights& weights, const std::string& prefix);
    DecoderLayerView view() const;
  };
  DecoderView view() const;

  model::Config config_;
  int processors_ = 0, largest_team_ = 1;
  DeviceArray<float> production_, kind_, symbol_, parent_, position_, row_bias_;
  Linear row_;
  std::vector<Layer> layers_;
  LayerNorm norm_;
  Linear production_scores_;
  std::vector<Linear> pointer_queries_;           // by pointer_number
  std::map<grammar::Kind, Linear> pointer_keys_;  // those of steps are part of their query
  DeviceArray<DecoderLayerView> layer_views_;
  DeviceArray<DecoderView> view_;
};

// The result of a search from a copy of its result_bytes. Throws what decode::beam_search throws where it failed, and LimitError
// where the automaton's memory was too small.
decode::Search read_search(const std::byte* result, const SearchSizes& sizes);

}  // namespace fastsql::cuda
