// The automaton at work: a warp for each hypothesis, in the first block of a team. One lane takes actions; all lanes write and read sets
// of actions.
#pragma once

#include <cstring>

#include "decode/cuda/question.h"
#include "grammar/bounded_arena.h"
#include "grammar/step.h"
#include "grammar/takable.h"

namespace fastsql::cuda {

// Copies `count` numbers; one warp.
template <typename T>
__device__ __forceinline__ void copy_by_warp(T* to, const T* from, int count) {
  for (int i = lane_index(); i < count; i += kLanes) to[i] = from[i];
}

__device__ __forceinline__ void copy_by_warp(grammar::State& to, const grammar::State& from) {
  static_assert(sizeof(grammar::State) % sizeof(std::uint64_t) == 0 && alignof(grammar::State) == sizeof(std::uint64_t));
  for (std::size_t i = static_cast<std::size_t>(lane_index()) * sizeof(std::uint64_t); i < sizeof to;
       i += kLanes * sizeof(std::uint64_t)) {
    memcpy(reinterpret_cast<unsigned char*>(&to) + i, reinterpret_cast<const unsigned char*>(&from) + i, sizeof(std::uint64_t));
  }
}

// The elements of word `word` that lie in [begin, end).
__device__ __forceinline__ grammar::Word part_of_word(int word, int begin, int end) {
  const int bits = static_cast<int>(grammar::kWordBits), first = max(begin - word * bits, 0), last = min(end - word * bits, bits);
  if (first >= last) return 0;
  return ~grammar::Word{0} >> (bits - (last - first)) << first;
}

// A hypothesis that a warp takes further: its slot, its state in shared memory, its sets and sequences.
class Runner {
 public:
  __device__ Runner(Question& question, int slot)
      : question_(question),
        space_(question.item.space),
        slot_(question.memory.slots[slot]),
        state_(question.states[warp_index()]),
        arena_(question.memory.automaton, static_cast<std::uint32_t>(question.sizes.automaton), &question.automaton_used),
        path_(question.memory.paths + static_cast<std::size_t>(slot) * question.sizes.budget),
        legal_(question.memory.legal + static_cast<std::size_t>(slot) * question.sizes.actions),
        mask_(question.memory.masks + warp_index() * space_.words()) {}

  // The state before the first action.
  __device__ void begin() {
    if (lane_index() == 0) state_ = grammar::start(space_, arena_);
    __syncwarp();
    length_ = 0;
    if (arena_.full()) fail(SearchStatus::kMemoryFull);
  }

  // Copies what came before from another slot, with its first `decisions` decisions.
  __device__ void follow(int from, int to, int decisions) {
    const SearchMemory& memory = question_.memory;
    const SearchSizes& sizes = question_.sizes;
    const auto nodes = [&](int slot) { return memory.nodes + static_cast<std::size_t>(slot) * sizes.steps; };
    const auto gains = [&](int slot) { return memory.gains + static_cast<std::size_t>(slot) * sizes.steps; };
    const auto kept = [&](int slot) { return memory.kept + static_cast<std::size_t>(slot) * sizes.steps; };
    length_ = memory.slots[from].length;
    copy_by_warp(state_, memory.slots[from].state);
    copy_by_warp(path_, memory.paths + static_cast<std::size_t>(from) * sizes.budget, length_);
    copy_by_warp(nodes(to), nodes(from), decisions);
    copy_by_warp(gains(to), gains(from), decisions);
    copy_by_warp(kept(to), kept(from), decisions);
    __syncwarp();
  }

  // Takes an action; whether that was possible.
  __device__ __noinline__ bool take(std::int32_t action, bool decision) {
    SearchStatus status = SearchStatus::kDone;
    if (lane_index() == 0) {
      if (action < 0 || !grammar::advance(space_, arena_, state_, action, decision)) {
        status = arena_.full() ? SearchStatus::kMemoryFull : SearchStatus::kDeadEnd;
      } else {
        path_[length_] = decision ? action : ~action;
      }
    }
    status = static_cast<SearchStatus>(__shfl_sync(kAllLanes, static_cast<int>(status), 0));
    __syncwarp();
    if (status != SearchStatus::kDone) return fail(status);
    ++length_;
    return true;
  }

  // Takes all actions that are forced, and lists what is legal behind them; nothing is where that ends the query.
  __device__ __noinline__ void settle() {
    while (!state_.finished()) {
      grammar::mask(space_, state_, mask_, grammar::OneOfWarp{static_cast<std::size_t>(lane_index())});
      const std::int32_t forced = only_element_of_warp();
      if (forced == grammar::kSeveral) {
        list_legal();
        count_takable();
        return;
      }
      if (!take(forced, false)) return;
    }
    if (lane_index() == 0) slot_.legal = slot_.takable = 0;
  }

  // Writes what the next step must know. `kind` and `previous` are those of the action decided last.
  __device__ void leave(double score, std::int32_t kind, std::int32_t previous) {
    if (lane_index() == 0) {
      slot_.score = score;
      slot_.length = length_;
      slot_.kind = kind;
      slot_.previous = previous;
      if (!state_.finished()) {
        slot_.symbol = state_.symbol();
        slot_.parent = state_.parent();
        const DecoderView& model = question_.model;
        if (slot_.symbol < 0 || slot_.symbol >= model.symbols || slot_.parent < 0 || slot_.parent > model.productions) {
          fail(SearchStatus::kUnknownSymbol);
        }
      }
    }
    copy_by_warp(slot_.state, state_);
    __syncwarp();
  }

  // Notes the first failure of the search; returns false.
  __device__ bool fail(SearchStatus status) {
    atomicCAS(&question_.status, static_cast<std::int32_t>(SearchStatus::kDone), static_cast<std::int32_t>(status));
    return false;
  }

 private:
  // grammar::only_element of the mask, of which each lane has written its own words.
  __device__ std::int32_t only_element_of_warp() const {
    const int lane = lane_index(), words = static_cast<int>(space_.words());
    std::int32_t mine = grammar::kNone;
    for (int word = lane; word < words && mine != grammar::kSeveral; word += kLanes) {
      const grammar::Word elements = mask_[word];
      if (elements == 0) continue;
      const bool several = mine != grammar::kNone || (elements & (elements - 1)) != 0;
      mine = several
                 ? grammar::kSeveral
                 : static_cast<std::int32_t>(static_cast<std::size_t>(word) * grammar::kWordBits + grammar::lowest_bit(elements));
    }
    const unsigned any = __ballot_sync(kAllLanes, mine != grammar::kNone);
    const std::int32_t first = __shfl_sync(kAllLanes, mine, any == 0 ? 0 : __ffs(static_cast<int>(any)) - 1);
    return (any & (any - 1)) != 0 ? grammar::kSeveral : first;
  }

  // The mask as a list, and what it is made of.
  __device__ void list_legal() {
    const int lane = lane_index(), words = static_cast<int>(space_.words());
    int listed = 0, productions = 0;
    std::uint32_t kinds = 0;
    for (int base = 0; base < words; base += kLanes) {
      const int word = base + lane;
      const grammar::Word elements = word < words ? mask_[word] : 0;
      const int mine = __popcll(elements);
      int before = mine;  // then those of lower lanes, too
      for (int distance = 1; distance < kLanes; distance *= 2) {
        const int other = __shfl_up_sync(kAllLanes, before, static_cast<unsigned>(distance));
        if (lane >= distance) before += other;
      }
      int place = listed + before - mine;
      for (grammar::Word rest = elements; rest != 0; rest &= rest - 1) {
        legal_[place++] =
            static_cast<std::int32_t>(static_cast<std::size_t>(word) * grammar::kWordBits + grammar::lowest_bit(rest));
      }
      listed += __shfl_sync(kAllLanes, before, kLanes - 1);
      for (int kind = 0; kind < static_cast<int>(grammar::kKinds); ++kind) {
        const grammar::Word of_kind = elements & part_of_word(word, space_.offsets[kind], space_.offsets[kind + 1]);
        if (__any_sync(kAllLanes, of_kind != 0)) kinds |= 1u << kind;
        if (kind == static_cast<int>(grammar::Kind::kProduction)) productions += __popcll(of_kind);
      }
    }
    for (int bits = kLanes / 2; bits > 0; bits /= 2) productions += __shfl_xor_sync(kAllLanes, productions, bits);
    if (lane == 0) {
      slot_.legal = listed;
      slot_.legal_productions = productions;
      slot_.kinds = kinds;
    }
  }

  // How many of the legal actions say what exists.
  __device__ void count_takable() {
    __syncwarp();
    const int legal = slot_.legal;
    int mine = 0;
    if (grammar::chooses(space_, state_)) {
      for (int i = lane_index(); i < legal; i += kLanes) mine += grammar::is_takable(space_, state_, legal_[i]);
    }
    for (int bits = kLanes / 2; bits > 0; bits /= 2) mine += __shfl_xor_sync(kAllLanes, mine, bits);
    if (lane_index() == 0) slot_.takable = mine == 0 ? legal : mine;
  }

  Question& question_;
  const grammar::SpaceView& space_;
  Slot& slot_;
  grammar::State& state_;
  grammar::BoundedArena arena_;
  std::int32_t* path_;
  std::int32_t* legal_;
  grammar::Word* mask_;
  int length_ = 0;  // of the path
};

}  // namespace fastsql::cuda
