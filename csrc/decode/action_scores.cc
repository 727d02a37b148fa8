// Scores of the legal actions alone: productions are scored, and a kind's pointer query made, only for hypotheses that may take
// such an action. The numbers are those of scoring everything.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/kernels.h"
#include "decode/decode_cpu.h"
#include "decode/decoder_state.h"

namespace fastsql::decode {

using grammar::Kind;

void DecoderState::score(LegalActions* const* legal, const Workers& workers) {
  for (std::size_t hypothesis = 0; hypothesis < hypotheses_; ++hypothesis) {
    legal[hypothesis]->scores.resize(legal[hypothesis]->actions.size());
  }
  for (std::size_t kind = 0; kind < grammar::kKinds; ++kind) score_kind(static_cast<Kind>(kind), legal, workers);
}

// Finds who may take an action of the kind; legal actions lie in the order of kinds.
void DecoderState::score_kind(Kind kind, LegalActions* const* legal, const Workers& workers) {
  const std::size_t d = weights_->config.d;
  const float* states = states_.data() + (nodes_ - hypotheses_) * d;
  members_.clear();
  for (std::size_t hypothesis = 0; hypothesis < hypotheses_; ++hypothesis) {
    const std::vector<std::int32_t>& actions = legal[hypothesis]->actions;
    const auto begin = std::lower_bound(actions.begin(), actions.end(), space_->offset(kind));
    const auto end = std::lower_bound(begin, actions.end(), space_->end(kind));
    if (begin == end) continue;
    std::copy_n(states + hypothesis * d, d, gathered_.data() + members_.size() * d);
    members_.push_back(
        {hypothesis, static_cast<std::size_t>(begin - actions.begin()), static_cast<std::size_t>(end - actions.begin())});
  }
  if (members_.empty()) return;
  if (kind == Kind::kProduction) {
    score_productions(legal, workers);
    return;
  }
  const auto compare = FASTSQL_KERNEL(pointer_scores, weights_->set);
  weights_->pointer_query(kind).apply(gathered_.data(), members_.size(), projected_.data(), Then::kStore, workers);
  for (std::size_t number = 0; number < members_.size(); ++number) {
    const auto [hypothesis, begin, end] = members_[number];
    const float* query = projected_.data() + number * d;
    LegalActions& own = *legal[hypothesis];
    places_.clear();
    for (std::size_t i = begin; i < end; ++i) places_.push_back(own.actions[i] - space_->offset(kind));
    if (kind == Kind::kStep) {
      score_steps(hypothesis, query, places_.data(), places_.size(), own.scores.data() + begin, workers);
      continue;
    }
    const float* keys = keys_.of(kind, places_.data(), places_.size(), workers);
    compare(query, keys, places_.data(), places_.size(), d, 1.0f / std::sqrt(static_cast<float>(d)), own.scores.data() + begin);
  }
}

void DecoderState::score_productions(LegalActions* const* legal, const Workers& workers) {
  const std::size_t productions = weights_->config.productions;
  if (hidden_.size() < members_.size() * productions) hidden_.resize(members_.size() * productions);
  weights_->production_scores.apply(gathered_.data(), members_.size(), hidden_.data(), Then::kStore, workers);
  for (std::size_t number = 0; number < members_.size(); ++number) {
    const auto [hypothesis, begin, end] = members_[number];
    LegalActions& own = *legal[hypothesis];
    for (std::size_t i = begin; i < end; ++i) {
      own.scores[i] = hidden_[number * productions + static_cast<std::size_t>(own.actions[i])];
    }
  }
}

// Earlier decisions and what earlier turns offer: their keys are made when they are pointed at, which is seldom. A decision that
// has not been taken scores -inf.
void DecoderState::score_steps(std::size_t hypothesis, const float* query, const std::int32_t* places, std::size_t count,
                               float* scores, const Workers& workers) {
  const std::size_t d = weights_->config.d;
  const std::int32_t* path = paths_.data() + hypothesis * weights_->config.max_steps;
  const auto compare = FASTSQL_KERNEL(pointer_scores, weights_->set);
  const std::int32_t first = 0;
  if (step_keys_.size() < d) step_keys_.resize(d);
  for (std::size_t i = 0; i < count; ++i) {
    const auto place = static_cast<std::size_t>(places[i]), budget = static_cast<std::size_t>(space_->view().budget);
    scores[i] = -std::numeric_limits<float>::infinity();
    if (place < budget && place + 1 >= steps_) continue;
    const float* state =
        place < budget ? states_.data() + static_cast<std::size_t>(path[place]) * d : memory_->entry(place - budget, d);
    weights_->pointer_key(Kind::kStep).apply(state, 1, step_keys_.data(), Then::kStore, workers);
    compare(query, step_keys_.data(), &first, 1, d, 1.0f / std::sqrt(static_cast<float>(d)), scores + i);
  }
}

}  // namespace fastsql::decode
