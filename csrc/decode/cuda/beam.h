// The beam between two steps of the decoder, kept by the first block of a team. Mirrors decode/beam_search.cc.
#pragma once

#include "decode/cuda/automaton.h"
#include "decode/cuda/scores.h"

namespace fastsql::cuda {

// Keeps a finished query if it is among the best. `decisions` are the actions of its path that were decided. One warp.
__device__ inline void finish(const Question& question, int slot, int decisions) {
  const SearchMemory& memory = question.memory;
  const SearchResult& result = question.result;
  SearchHeader& header = *result.header;
  const int beam = question.sizes.beam, budget = question.sizes.budget, steps = question.sizes.steps;
  int entry = -1;  // that it becomes
  if (lane_index() == 0) {
    const double score = memory.slots[slot].score;
    const std::int32_t count = header.finished;
    const std::int32_t place = decode::place_among(count, score, [&](std::int32_t i) { return result.scores[header.places[i]]; });
    if (place < beam) {
      entry = count < beam ? count : header.places[beam - 1];
      for (std::int32_t i = min(count, beam - 1); i > place; --i) header.places[i] = header.places[i - 1];
      header.places[place] = entry;
      header.finished = min(count + 1, beam);
      result.scores[entry] = score;
      result.lengths[entry] = memory.slots[slot].length;
      result.decisions[entry] = decisions;
    }
  }
  entry = __shfl_sync(kAllLanes, entry, 0);
  if (entry < 0) return;
  const auto at = [](auto* array, int number, int stride) { return array + static_cast<std::size_t>(number) * stride; };
  copy_by_warp(at(result.paths, entry, budget), at(memory.paths, slot, budget), memory.slots[slot].length);
  copy_by_warp(at(result.gains, entry, steps), at(memory.gains, slot, steps), decisions);
  copy_by_warp(at(result.kept, entry, steps), at(memory.kept, slot, steps), decisions);
  __syncwarp();
}

// Who is live among `count` slots of a set, in their order; the others are finished. `nodes` is the number of the next step's first
// node, `decisions` what has been decided so far. One warp.
__device__ __noinline__ inline void part(const Question& question, int count, int set, int nodes, int decisions) {
  const SearchMemory& memory = question.memory;
  SearchHeader& header = *question.result.header;
  Beam& beam = *memory.control;
  const int lane = lane_index();
  int live = 0;
  for (int i = 0; i < count; ++i) {
    const int number = set * question.sizes.beam + i;
    if (memory.slots[number].legal == 0) {
      finish(question, number, decisions);
      continue;
    }
    if (lane == 0) beam.slots[live] = i;
    ++live;
  }
  if (lane != 0) return;
  header.unfinished = live > 0 ? memory.slots[set * question.sizes.beam + beam.slots[0]].score : decode::kImpossible;
  // Log-probabilities only fall: what is unfinished can no longer come near enough.
  if (header.finished > 0 && header.unfinished <= question.result.scores[header.places[0]] - question.patience) live = 0;
  beam.live = live;
  if (live > 0 && decisions >= question.sizes.steps) {
    const bool by_model = question.sizes.steps == question.model.max_steps;
    header.status = by_model ? SearchStatus::kTooManyDecisions : SearchStatus::kDeadEnd;  // the step budget is used up
    beam.live = 0;
    return;
  }
  for (int i = 0; i < live; ++i) memory.arrived[nodes + i] = memory.slots[set * question.sizes.beam + beam.slots[i]].previous;
}

// Ends the search where it has failed. One thread.
__device__ inline void note_failure(const Question& question) {
  if (question.status == static_cast<std::int32_t>(SearchStatus::kDone)) return;
  question.result.header->status = static_cast<SearchStatus>(question.status);
  question.memory.control->live = 0;
}

// Before the first step. All threads of the first block call it.
__device__ inline void begin(Question& question) {
  if (threadIdx.x == 0) {
    *question.result.header = {decode::kImpossible, SearchStatus::kDone, 0, 0, {}};
    question.memory.control->live = 0;
    question.automaton_used = 0;
    question.status = static_cast<std::int32_t>(SearchStatus::kDone);
  }
  __syncthreads();
  if (warp_index() == 0) {
    Runner runner(question, 0);
    runner.begin();
    runner.settle();
    runner.leave(0.0, static_cast<std::int32_t>(grammar::kWeightedKinds), grammar::kNoAction);
    if (question.status == static_cast<std::int32_t>(SearchStatus::kDone)) part(question, 1, 0, 0, 0);
    if (lane_index() == 0) note_failure(question);
  }
  __syncthreads();
}

// What a continuation becomes: slot `to` of the other set. One warp.
__device__ inline void grow(Question& question, const Group& beam, const decode::Continuation& next, int to) {
  const SearchMemory& memory = question.memory;
  const grammar::SpaceView& space = question.item.space;
  const int from = beam.slot(question, next.origin), node = beam.nodes + next.origin;
  std::int32_t* nodes = memory.nodes + static_cast<std::size_t>(to) * question.sizes.steps;
  Runner runner(question, to);
  runner.follow(from, to, beam.step);
  if (lane_index() == 0) {
    nodes[beam.step] = node;
    const std::size_t place = static_cast<std::size_t>(to) * question.sizes.steps + beam.step;
    memory.gains[place] = next.log_probability;
    memory.kept[place] = memory.slots[from].kept;
  }
  __syncwarp();
  if (!runner.take(next.action, true)) return;
  runner.settle();
  __syncwarp();
  // What a pointer to an earlier decision stands for is what was decided there: in step s, what led to the node of step s + 1.
  const grammar::Action action = space.locate(next.action);
  std::int32_t previous = next.action;
  if (action.kind == grammar::Kind::kStep && action.index < space.budget && memory.slots[to].legal > 0) {
    if (action.index >= beam.step) {
      runner.fail(SearchStatus::kPointsAhead);
      return;
    }
    previous = memory.arrived[nodes[action.index + 1]];
  }
  runner.leave(next.score, kind_row(action.kind), previous);
}

// From the scores of a step to the hypotheses of the next. `beam` has all those of the step. All threads of the first block call it.
__device__ inline void choose(Question& question, const Group& beam) {
  const SearchMemory& memory = question.memory;
  for (int i = warp_index(); i < beam.count; i += kSearchWarps) choose_own(question, i, beam.slot(question, i));
  __syncthreads();
  if (warp_index() == 0) {
    const int found = choose_of_beam(question, beam.count, beam.set);
    if (lane_index() == 0) question.chosen = found;
  }
  __syncthreads();
  const int chosen = question.chosen;
  const int first = (1 - beam.set) * question.sizes.beam;
  for (int i = warp_index(); i < chosen; i += kSearchWarps) grow(question, beam, memory.chosen[i], first + i);
  __syncthreads();
  if (warp_index() == 0) {
    if (lane_index() == 0) question.result.header->steps = beam.step + 1;
    __syncwarp();
    if (question.status == static_cast<std::int32_t>(SearchStatus::kDone)) {
      part(question, chosen, 1 - beam.set, beam.nodes + beam.count, beam.step + 1);
    }
    if (lane_index() == 0) note_failure(question);
  }
  __syncthreads();
}

}  // namespace fastsql::cuda
