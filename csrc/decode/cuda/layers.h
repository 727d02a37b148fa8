// A step of the decoder for a group of hypotheses: from what was decided to the state that their actions are scored from. Mirrors
// decode/decoder_state.cc. A team meets six times a layer.
#pragma once

#include "decode/cuda/attention.h"
#include "decode/cuda/linear.h"
#include "decode/pointing.h"

namespace fastsql::cuda {

// What a pointer to the graph, to a schema value or to what an earlier turn offers adds to the input, [d].
__device__ inline const float* pointed_row(const DecodeItem& item, grammar::Action action, int d) {
  const NodeLayout& nodes = item.nodes;
  if (action.kind == grammar::Kind::kStep) {
    return item.entry_pointed + static_cast<std::size_t>(action.index - item.space.budget) * static_cast<std::size_t>(d);
  }
  const RowRange pointed = decode::pointed_rows(action.kind, nodes, static_cast<std::size_t>(item.schema_values));
  const std::size_t row = pointed.first + static_cast<std::size_t>(action.index), width = static_cast<std::size_t>(d);
  if (row < nodes.question()) return item.question_pointed + row * width;
  if (row < nodes.size()) return item.item_pointed + (row - nodes.question()) * width;
  return item.value_pointed + (row - nodes.size()) * width;
}

// x = the sum of what a step starts from: the last action, the symbol to be expanded, the production above it, the step's number.
// A warp for each hypothesis.
__device__ inline void embed(const Question& question, const Group& group) {
  const int row = warp_index(), d = question.model.d;
  if (row < group.count) {
    const DecoderView& model = question.model;
    const Slot& slot = question.memory.slots[group.slot(question, row)];
    const auto at = [d](const float* rows, int number) { return rows + static_cast<std::size_t>(number) * d; };
    const float* production = at(model.production, model.productions + 1);
    const float* pointed = model.row_bias;
    if (slot.previous != grammar::kNoAction) {
      const grammar::Action action = question.item.space.locate(slot.previous);
      const bool is_production = action.kind == grammar::Kind::kProduction;
      production = at(model.production, is_production ? action.index : model.productions);
      if (!is_production) pointed = pointed_row(question.item, action, d);
    }
    const float* position = at(model.position, group.step);
    const float* symbol = at(model.symbol, slot.symbol);
    const float* parent = at(model.parent, slot.parent);
    const float* kind = at(model.kind, slot.kind);
    float* x = question.x() + row * d;
    for (int first = lane_index(); first < d; first += kElementsOfWarp) {
      float sums[kElementsAhead];
      FASTSQL_UNROLL
      for (int k = 0; k < kElementsAhead; ++k) {
        const int i = min(first + k * kLanes, d - 1);
        sums[k] = position[i] + symbol[i] + parent[i] + kind[i] + production[i] + pointed[i];
      }
      FASTSQL_UNROLL
      for (int k = 0; k < kElementsAhead; ++k) {
        if (first + k * kLanes < d) x[first + k * kLanes] = sums[k];
      }
    }
  }
  __syncwarp();
}

// Queries, keys and values of this block's heads, and their attention to earlier decisions: heads are dealt out over the team, so that
// what a head leaves behind is read by the block that wrote it.
template <int kHead>
__device__ void attend_to_decisions(const Question& question, const Group& group, const DecoderLayerView& layer, int number) {
  const int d = question.model.d, heads = question.team.share(question.model.heads);
  constexpr int kTilesOfHead = kHead / kTileOutputs;
  float* keys_values = question.memory.keys_values + number * question.sizes.nodes() * 2 * d;
  const auto tile_of = [&](int i) {
    const int head = question.team.rank + i / (3 * kTilesOfHead) * question.team.size, part = i / kTilesOfHead % 3;
    return Tile{&layer.self_qkv, (part * d + head * kHead) / kTileOutputs + i % kTilesOfHead};
  };
  multiply(d, heads * 3 * kTilesOfHead, group.count, tile_of, [&](const Tile&, int output, int row, float value) {
    if (output < d) {
      question.query()[row * d + output] = value;
    } else {
      keys_values[static_cast<std::size_t>(group.nodes + row) * 2 * d + output - d] = value;
    }
  });
  __syncthreads();
  for (int i = warp_index(); i < heads * group.count; i += kSearchWarps) {
    const int head = question.team.rank + i / group.count * question.team.size, row = i % group.count;
    const int place = row * d + head * kHead;
    const std::int32_t* path = question.memory.nodes + static_cast<std::size_t>(group.slot(question, row)) * question.sizes.steps;
    attend_to_decisions<kHead>(question.query() + place, keys_values, path, group.step, group.nodes + row, d, head,
                               question.memory.mixed + place);
  }
  question.team.barrier();
}

template <int kHead>
__device__ void attend_to_graph(const Question& question, const Group& group, const DecoderLayerView& layer, int number) {
  const DecodeItem& item = question.item;
  const int d = question.model.d, heads = question.team.share(question.model.heads);
  constexpr int kTilesOfHead = kHead / kTileOutputs;
  const auto tile_of = [&](int i) {
    const int head = question.team.rank + i / kTilesOfHead * question.team.size;
    return Tile{&layer.cross_query, head * kTilesOfHead + i % kTilesOfHead};
  };
  multiply(d, heads * kTilesOfHead, group.count, tile_of,
           [&](const Tile&, int output, int row, float value) { question.query()[row * d + output] = value; });
  __syncthreads();
  const int n_first = static_cast<int>(item.nodes.question());
  const GraphRows graph{item.question_keys_values + number * item.question_stride,
                        item.item_keys_values + number * item.item_stride, n_first, static_cast<int>(item.nodes.size())};
  for (int i = 0; i < heads; ++i) {
    const int head = question.team.rank + i * question.team.size;
    attend_to_graph<kHead>(question.query(), group.count, graph, d, head, question.partial(), question.memory.mixed);
  }
  question.team.barrier();
}

// memory.change = what a map makes of rows [count, in] that the team has written.
__device__ __noinline__ inline void map_to_change(const LinearView& map, const float* from, int count) {
  const Question& question = Question::own();
  const int d = question.model.d;
  float* change = question.memory.change;
  split_rows(from, count, map.in);
  multiply_shared(question.team, map, count, [&](int output, int row, float value) { change[row * d + output] = value; });
  question.team.barrier();
}

// A step of the group through all layers; the normalised states stay in question.rows(), and go to their nodes.
template <int kHead>
__device__ void step(const Question& question, const Group& group) {
  const SearchMemory& memory = question.memory;
  const int ffn = question.model.ffn;
  embed(question, group);
  for (int number = 0; number < question.model.layers; ++number) {
    const DecoderLayerView& layer = question.layers()[number];
    normalise(layer.self_norm, number == 0 ? nullptr : memory.change, group.count, nullptr);
    attend_to_decisions<kHead>(question, group, layer, number);
    map_to_change(layer.self_out, memory.mixed, group.count);

    normalise(layer.cross_norm, memory.change, group.count, nullptr);
    attend_to_graph<kHead>(question, group, layer, number);
    map_to_change(layer.cross_out, memory.mixed, group.count);

    normalise(layer.ffn_norm, memory.change, group.count, nullptr);
    multiply_shared(question.team, layer.ffn_in, group.count,
                    [&](int output, int row, float value) { memory.hidden[row * ffn + output] = value > 0.0f ? value : 0.0f; });
    question.team.barrier();
    map_to_change(layer.ffn_out, memory.hidden, group.count);
  }
  float* states = memory.states + static_cast<std::size_t>(group.nodes) * question.model.d;
  normalise(question.model.norm, memory.change, group.count, question.team.rank == 0 ? states : nullptr);
}

}  // namespace fastsql::cuda
