// Scores of the legal actions alone, and what a beam makes of them. Mirrors decode/action_scores.cc and `choose` of
// decode/beam_search.cc.
#pragma once

#include "decode/cuda/linear.h"
#include "grammar/takable.h"

namespace fastsql::cuda {

__device__ __forceinline__ bool has_kind(std::uint32_t kinds, grammar::Kind kind) {
  return (kinds >> static_cast<int>(kind) & 1u) != 0;
}

// ---------------------------------------------------------------- queries

// The n-th kind of pointer of a set, as a number of pointer_queries.
__device__ inline int nth_pointer(std::uint32_t kinds, int n) {
  int pointer = 0;
  while (!has_kind(kinds, grammar::pointer_kind(static_cast<std::size_t>(pointer))) || n-- > 0) ++pointer;
  return pointer;
}

// Scores of productions, and queries of the kinds of pointer that some hypothesis may take, from the states in question.rows().
__device__ inline void project(const Question& question, const Group& group) {
  const DecoderView& model = question.model;
  std::uint32_t kinds = 0;
  for (int i = 0; i < group.count; ++i) kinds |= question.memory.slots[group.slot(question, i)].kinds;
  const int d = model.d, pointer_tiles = d / kTileOutputs,
            pointers = __popc(kinds & ~(1u << static_cast<int>(grammar::Kind::kProduction)));
  const int production_tiles = has_kind(kinds, grammar::Kind::kProduction) ? tiles_of_outputs(model.productions) : 0;
  const auto tile_of = [&](int i) {
    const int number = question.team.rank + i * question.team.size - production_tiles;
    if (number < 0) return Tile{&model.production_scores, number + production_tiles};
    return Tile{&model.pointer_queries[nth_pointer(kinds, number / pointer_tiles)], number % pointer_tiles};
  };
  float* productions = question.memory.productions;
  float* queries = question.memory.queries;
  const int tiles = question.team.share(production_tiles + pointers * pointer_tiles);
  multiply(d, tiles, group.count, tile_of, [&](const Tile& tile, int output, int row, float value) {
    if (tile.map == &model.production_scores) {
      productions[row * model.productions + output] = value;
    } else {
      const int pointer = static_cast<int>(tile.map - model.pointer_queries);
      queries[(row * static_cast<int>(kQueryKinds) + pointer) * d + output] = value;
    }
  });
  question.team.barrier();
}

// ---------------------------------------------------------------- scores

// The key [d] of a pointer, or null for a decision that has not been taken.
__device__ inline const float* key_of(const Question& question, const Group& group, int slot, grammar::Action action) {
  const int d = question.model.d;
  if (action.kind != grammar::Kind::kStep) {
    return question.item.pointer_keys[static_cast<int>(action.kind)] + static_cast<std::size_t>(action.index) * d;
  }
  const int budget = question.item.space.budget;
  if (action.index >= budget) return question.item.entry_states + static_cast<std::size_t>(action.index - budget) * d;
  if (action.index >= group.step) return nullptr;
  const std::int32_t* path = question.memory.nodes + static_cast<std::size_t>(slot) * question.sizes.steps;
  return question.memory.states + static_cast<std::size_t>(path[action.index]) * d;
}

// Scores of pointers: kLanesOfKey lanes compare one query with one key. All lanes of the warp call it; `query` or `key` may be null.
constexpr int kLanesOfKey = 8;
__device__ __forceinline__ float compare(const float* query, const float* key, int d) {
  float sum = 0.0f;
  if (query != nullptr && key != nullptr) {
    for (int i = lane_index() % kLanesOfKey * 4; i < d; i += kLanesOfKey * 4) {
      const float4 one = *reinterpret_cast<const float4*>(query + i), other = *reinterpret_cast<const float4*>(key + i);
      sum += one.x * other.x + one.y * other.y + one.z * other.z + one.w * other.w;
    }
  }
  FASTSQL_UNROLL
  for (int bits = kLanesOfKey / 2; bits > 0; bits /= 2) sum += __shfl_xor_sync(kAllLanes, sum, bits);
  return sum;
}

// The scores of all legal actions of a group, which are dealt out over the team.
__device__ inline void score(const Question& question, const Group& group) {
  const DecoderView& model = question.model;
  const SearchMemory& memory = question.memory;
  const int thread = question.team.rank * kSearchThreads + static_cast<int>(threadIdx.x);
  const int threads = question.team.size * kSearchThreads;
  int pointers = 0;  // of all hypotheses
  for (int row = 0; row < group.count; ++row) {
    const int slot = group.slot(question, row);
    const std::size_t first = static_cast<std::size_t>(slot) * question.sizes.actions;
    const int productions = memory.slots[slot].legal_productions;
    for (int i = thread; i < productions; i += threads) {
      memory.scores[first + i] = memory.productions[row * model.productions + memory.legal[first + i]];
    }
    pointers += memory.slots[slot].legal - productions;
  }
  const float scale = 1.0f / sqrtf(static_cast<float>(model.d));
  const int at_once = threads / kLanesOfKey;
  for (int number = thread / kLanesOfKey; number - thread % kLanes / kLanesOfKey < pointers; number += at_once) {
    // Which hypothesis' which legal action this is.
    int row = 0, slot = group.slot(question, 0), i = number;
    while (number < pointers && i >= memory.slots[slot].legal - memory.slots[slot].legal_productions) {
      i -= memory.slots[slot].legal - memory.slots[slot].legal_productions;
      slot = group.slot(question, ++row);
    }
    const float* query = nullptr;
    const float* key = nullptr;
    std::size_t place = 0;
    if (number < pointers) {
      place = static_cast<std::size_t>(slot) * question.sizes.actions + memory.slots[slot].legal_productions + i;
      const grammar::Action action = question.item.space.locate(memory.legal[place]);
      query = memory.queries +
              (row * static_cast<int>(kQueryKinds) + static_cast<int>(grammar::pointer_number(action.kind))) * model.d;
      key = key_of(question, group, slot, action);
    }
    const float product = compare(query, key, model.d);
    if (number < pointers && lane_index() % kLanesOfKey == 0) memory.scores[place] = key == nullptr ? -INFINITY : scale * product;
  }
  question.team.barrier();
}

// ---------------------------------------------------------------- choice

// Notes the log-probability of all that a hypothesis may take, `best` being the largest of theirs and `norm` what is taken off scores.
// One warp.
__device__ inline void keep(const Question& question, int slot, float norm, float best) {
  Slot& own = question.memory.slots[slot];
  float kept = 0.0f;
  if (own.takable < own.legal) {
    const float* scores = question.memory.scores + static_cast<std::size_t>(slot) * question.sizes.actions;
    const std::int32_t* actions = question.memory.legal + static_cast<std::size_t>(slot) * question.sizes.actions;
    float sum = 0.0f;
    for (int i = lane_index(); i < own.legal; i += kLanes) {
      if (grammar::is_takable(question.item.space, own.state, actions[i])) sum += expf(scores[i] - norm - best);
    }
    kept = best + logf(warp_sum(sum));
  }
  if (lane_index() == 0) own.kept = kept;
}

// The best actions of one hypothesis, best first, to memory.own. One warp; log-probabilities are float32, as scores are.
__device__ inline void choose_own(const Question& question, int hypothesis, int slot) {
  const SearchMemory& memory = question.memory;
  const int legal = memory.slots[slot].legal, takable = memory.slots[slot].takable;
  const int lane = lane_index(), beam = question.sizes.beam;
  const grammar::SpaceView& space = question.item.space;
  const float* scores = memory.scores + static_cast<std::size_t>(slot) * question.sizes.actions;
  const std::int32_t* actions = memory.legal + static_cast<std::size_t>(slot) * question.sizes.actions;
  float largest = -INFINITY, sum = 0.0f;
  for (int i = lane; i < legal; i += kLanes) largest = fmaxf(largest, scores[i]);
  largest = warp_largest(largest);
  for (int i = lane; i < legal; i += kLanes) sum += expf(scores[i] - largest);
  const float logarithm = logf(warp_sum(sum));

  float last = 0.0f;
  int last_place = -1;
  for (int count = 0; count < min(beam, takable); ++count) {
    // The best of those that come after the last.
    float best = 0.0f;
    int place = -1;
    for (int i = lane; i < legal; i += kLanes) {
      const float gain = scores[i] - largest - logarithm;
      if (count > 0 && !decode::is_preferred(last, last_place, gain, i)) continue;
      if (takable < legal && !grammar::is_takable(space, memory.slots[slot].state, actions[i])) continue;
      if (place < 0 || decode::is_preferred(gain, i, best, place)) best = gain, place = i;
    }
    for (int bits = kLanes / 2; bits > 0; bits /= 2) {
      const float other = __shfl_xor_sync(kAllLanes, best, bits);
      const int other_place = __shfl_xor_sync(kAllLanes, place, bits);
      if (other_place >= 0 && (place < 0 || decode::is_preferred(other, other_place, best, place)))
        best = other, place = other_place;
    }
    if (lane == 0) {
      const double score = memory.slots[slot].score + static_cast<double>(best);
      memory.own[hypothesis * beam + count] = {score, hypothesis, actions[place], best};
    }
    if (count == 0) keep(question, slot, largest + logarithm, best);
    last = best;
    last_place = place;
  }
}

// The best continuations of `live` hypotheses, best first, to memory.chosen; returns how many. One warp.
__device__ inline int choose_of_beam(const Question& question, int live, int set) {
  const SearchMemory& memory = question.memory;
  const int beam = question.sizes.beam, lane = lane_index();
  const auto exists = [&](int i) {
    const Slot& slot = memory.slots[set * beam + question.slots[i / beam]];
    return i % beam < slot.takable;
  };
  int last = -1;
  for (int count = 0; count < beam; ++count) {
    int best = -1;
    const auto consider = [&](int i) {
      if (best < 0 || decode::is_preferred(memory.own[i], memory.own[best])) best = i;
    };
    for (int i = lane; i < live * beam; i += kLanes) {
      if (exists(i) && (last < 0 || decode::is_preferred(memory.own[last], memory.own[i]))) consider(i);
    }
    for (int bits = kLanes / 2; bits > 0; bits /= 2) {
      const int other = __shfl_xor_sync(kAllLanes, best, bits);
      if (other >= 0) consider(other);
    }
    if (best < 0) return count;
    if (lane == 0) memory.chosen[count] = memory.own[best];
    last = best;
  }
  return beam;
}

}  // namespace fastsql::cuda
