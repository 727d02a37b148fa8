// The decoder at work on one question: a beam of hypotheses, all after the same number of decisions.
//
// What a decision leaves behind (keys and values of every layer, the final state that later pointers to it are compared with)
// is a node of a tree: hypotheses with a common beginning share it, and going on from another hypothesis copies the numbers of
// its nodes alone.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/workers.h"
#include "decode/decoder_weights.h"
#include "decode/memory.h"
#include "decode/pointer_keys.h"
#include "grammar/action_space.h"

namespace fastsql::decode {

// What the decoder is told of a hypothesis before a step.
struct Frontier {
  std::int32_t previous;  // the action decided last, or kNoAction
  std::int32_t symbol, parent;
};

// Actions of a hypothesis that may come next, ascending, and what becomes of them.
struct LegalActions {
  std::vector<std::int32_t> actions;
  std::vector<float> scores;
};

class DecoderState {
 public:
  // Begins with one hypothesis. The arguments must outlive the last step; `space` numbers the actions. Memory of earlier
  // questions is used again.
  void start(const DecoderWeights& weights, const Memory& memory, const grammar::ActionSpace& space);

  // Takes a step for every hypothesis: `frontiers` [hypotheses]. Throws LimitError after max_steps decisions.
  void step(const Frontier* frontiers, const Workers& workers);

  // The scores of what the hypotheses may do now, after `step`: legal[i]->scores for legal[i]->actions, [hypotheses].
  void score(LegalActions* const* legal, const Workers& workers);

  // Goes on from the hypotheses `kept` [count], in that order and possibly more than once.
  void reorder(const std::size_t* kept, std::size_t count);

  // Bytes held.
  std::size_t capacity() const;

 private:
  void make_room();
  void embed(const Frontier* frontiers, const Workers& workers);
  std::int32_t resolved(std::size_t hypothesis, std::int32_t action) const;
  const float* pointed_row(grammar::Action action) const;
  void attend_to_decisions(std::size_t layer, const Workers& workers);
  void attend_to_graph(std::size_t layer, const Workers& workers);
  void feed_forward(std::size_t layer, const Workers& workers);
  void score_kind(grammar::Kind kind, LegalActions* const* legal, const Workers& workers);
  void score_productions(LegalActions* const* legal, const Workers& workers);
  void score_steps(std::size_t hypothesis, const float* query, const std::int32_t* places, std::size_t count, float* scores,
                   const Workers& workers);

  const DecoderWeights* weights_ = nullptr;
  const Memory* memory_ = nullptr;
  const grammar::ActionSpace* space_ = nullptr;
  std::size_t hypotheses_ = 0, steps_ = 0, nodes_ = 0;

  PointerKeys keys_;

  // By node: [nodes, 3 * width] of queries, keys and values of each layer; [nodes, d] final states; actions that led there,
  // none of them a pointer to a step.
  std::vector<std::vector<float>> attended_;
  std::vector<float> states_;
  std::vector<std::int32_t> arrived_;
  // By hypothesis and decision, [hypotheses, max_steps]: nodes; and those that `reorder` writes.
  std::vector<std::int32_t> paths_, kept_paths_;

  // Of one step, [hypotheses, ...].
  std::vector<float> x_, normed_, query_, mixed_, hidden_, gathered_, projected_, step_keys_, head_scores_;
  std::vector<std::int32_t> places_;
  // Of the hypotheses that may take an action of a kind: which they are, and where those actions begin and end among the legal.
  struct Member {
    std::size_t hypothesis, begin, end;
  };
  std::vector<Member> members_;
};

}  // namespace fastsql::decode
