// Where a search on the GPU keeps what it needs: the layout of one question's workspace and of its result, computed alike by the host,
// which sets the memory aside, and by the kernel.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/host_device.h"
#include "decode/cuda/decoder_view.h"
#include "decode/ranking.h"
#include "grammar/bits.h"
#include "grammar/numbering.h"
#include "grammar/state.h"
#include "linear/linear_fragments.h"

namespace fastsql::cuda {

constexpr std::int32_t kWidestBeam = 64;

// How a search ended. All but the first leave no result.
enum class SearchStatus : std::int32_t {
  kDone,
  kDeadEnd,           // the grammar offered nothing, or took back what it had offered
  kMemoryFull,        // what states of the automaton share outgrew its memory
  kTooManyDecisions,  // more than the model was made for
  kUnknownSymbol,     // the grammar has one that the model has not learned
  kPointsAhead        // a pointer to a decision that has not been taken
};

struct SearchSizes {
  std::int32_t beam;
  std::int32_t budget;                       // actions of one query
  std::int32_t steps;                        // decisions of one query, at most `budget`
  std::int32_t actions;                      // flat ids
  std::int32_t d, ffn, layers, productions;  // of the model
  std::size_t automaton;                     // bytes for what its states share

  FASTSQL_HOST_DEVICE std::size_t nodes() const { return static_cast<std::size_t>(steps) * static_cast<std::size_t>(beam); }
};

// A hypothesis, or what has become of one in this step. Its sequences lie in SearchMemory.
struct Slot {
  grammar::State state;
  double score;                    // log-probability of the whole sequence
  std::int32_t length;             // actions so far
  std::int32_t legal;              // how many may come next; 0: it is finished
  std::int32_t legal_productions;  // the first of them
  std::int32_t takable;            // how many of them say what exists; all where none does
  float kept;                      // log-probability of these, once they have scores
  std::uint32_t kinds;             // of the legal actions, bit k being that of kind k
  // What the decoder is told before its next step: symbol to be expanded, the production above it, the kind_row of the action decided
  // last (kWeightedKinds: none was), and what was decided there, a pointer to an earlier decision being replaced by that one's action.
  std::int32_t symbol, parent, kind, previous;
};

// What all blocks of a team must know between two steps.
struct Beam {
  std::int32_t live;                // hypotheses; 0 ends the search
  std::int32_t slots[kWidestBeam];  // of each
};

// Hands out arrays of a piece of memory one after another; from null, it measures.
class Carver {
 public:
  static constexpr std::size_t kAlignment = 16;
  FASTSQL_HOST_DEVICE explicit Carver(std::byte* memory) : memory_(memory) {}
  template <typename T>
  FASTSQL_HOST_DEVICE T* take(std::size_t count) {
    const std::size_t first = used_;
    used_ += (count * sizeof(T) + kAlignment - 1) / kAlignment * kAlignment;
    return memory_ == nullptr ? nullptr : reinterpret_cast<T*>(memory_ + first);
  }
  FASTSQL_HOST_DEVICE std::size_t used() const { return used_; }

 private:
  std::byte* memory_;
  std::size_t used_ = 0;
};

// One question's workspace. A decision of a hypothesis leaves a node, which those that continue it share; a slot's sequences are its
// own. There are two sets of slots, one that is read while the other is written: slot s of set i is number i * beam + s.
struct SearchMemory {
  float* keys_values;            // [layers, nodes, 2 d]
  float* states;                 // [nodes, d], what later pointers to a decision are compared with
  std::int32_t* arrived;         // [nodes], the action that led there, no pointer to a decision
  Slot* slots;                   // [2 * beam]
  std::int32_t* nodes;           // [2 * beam, steps]
  std::int32_t* paths;           // [2 * beam, budget], all actions, a forced action a as ~a
  float* gains;                  // [2 * beam, steps], log-probabilities of decisions
  float* kept;                   // [2 * beam, steps], of all that might be decided there
  std::int32_t* legal;           // [2 * beam, actions], ascending
  float* scores;                 // [2 * beam, actions], of those
  grammar::Word* masks;          // [kGroupRows, words], of the warps
  decode::Continuation* own;     // [beam, beam], the best of each hypothesis
  decode::Continuation* chosen;  // [beam]
  Beam* control;
  // Of a group of hypotheses, what the blocks of a team write for each other.
  float* mixed;        // [kGroupRows, d], results of attention
  float* change;       // [kGroupRows, d], what is to be added to x
  float* hidden;       // [kGroupRows, ffn]
  float* productions;  // [kGroupRows, productions], scores
  float* queries;      // [kGroupRows, pointers, d]
  std::byte* automaton;

  FASTSQL_HOST_DEVICE static SearchMemory at(Carver& carver, const SearchSizes& sizes) {
    const auto size = [](std::int32_t number) { return static_cast<std::size_t>(number); };
    const std::size_t d = size(sizes.d), steps = size(sizes.steps), slots = 2 * size(sizes.beam), rows = kGroupRows;
    SearchMemory memory;
    memory.keys_values = carver.take<float>(size(sizes.layers) * sizes.nodes() * 2 * d);
    memory.states = carver.take<float>(sizes.nodes() * d);
    memory.arrived = carver.take<std::int32_t>(sizes.nodes());
    memory.slots = carver.take<Slot>(slots);
    memory.nodes = carver.take<std::int32_t>(slots * steps);
    memory.paths = carver.take<std::int32_t>(slots * size(sizes.budget));
    memory.gains = carver.take<float>(slots * steps);
    memory.kept = carver.take<float>(slots * steps);
    memory.legal = carver.take<std::int32_t>(slots * size(sizes.actions));
    memory.scores = carver.take<float>(slots * size(sizes.actions));
    memory.masks = carver.take<grammar::Word>(rows * grammar::words_for(size(sizes.actions)));
    memory.own = carver.take<decode::Continuation>(size(sizes.beam) * size(sizes.beam));
    memory.chosen = carver.take<decode::Continuation>(size(sizes.beam));
    memory.control = carver.take<Beam>(1);
    memory.mixed = carver.take<float>(rows * d);
    memory.change = carver.take<float>(rows * d);
    memory.hidden = carver.take<float>(rows * size(sizes.ffn));
    memory.productions = carver.take<float>(rows * size(sizes.productions));
    memory.queries = carver.take<float>(rows * kQueryKinds * d);
    memory.automaton = carver.take<std::byte>(sizes.automaton);
    return memory;
  }
};

struct SearchHeader {
  double unfinished;  // log-probability of the best that was left unfinished; minus infinity if there is none
  SearchStatus status;
  std::int32_t finished, steps;
  std::int32_t places[kWidestBeam];  // of the finished in the arrays of SearchResult, best first
};

// One question's result, which is copied back as it is.
struct SearchResult {
  SearchHeader* header;
  double* scores;           // [beam]
  std::int32_t* lengths;    // [beam], of the paths
  std::int32_t* decisions;  // [beam], among them
  std::int32_t* paths;      // [beam, budget]
  float* gains;             // [beam, steps]
  float* kept;              // [beam, steps]

  FASTSQL_HOST_DEVICE static SearchResult at(Carver& carver, const SearchSizes& sizes) {
    const auto size = [](std::int32_t number) { return static_cast<std::size_t>(number); };
    SearchResult result;
    result.header = carver.take<SearchHeader>(1);
    result.scores = carver.take<double>(size(sizes.beam));
    result.lengths = carver.take<std::int32_t>(size(sizes.beam));
    result.decisions = carver.take<std::int32_t>(size(sizes.beam));
    result.paths = carver.take<std::int32_t>(size(sizes.beam) * size(sizes.budget));
    result.gains = carver.take<float>(size(sizes.beam) * size(sizes.steps));
    result.kept = carver.take<float>(size(sizes.beam) * size(sizes.steps));
    return result;
  }
};

}  // namespace fastsql::cuda
