#include "decode/beam_search.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/kernels.h"
#include "decode/decode_cpu.h"
#include "decode/workspace.h"
#include "grammar/automaton.h"
#include "grammar/takable.h"

namespace fastsql::decode {
namespace {

using grammar::Automaton;
using grammar::Kind;
using grammar::kNone;

// Bytes that a search leaves to the next one at most: one with a very wide beam takes many times what others do.
constexpr std::size_t kMostKept = std::size_t{16} << 20;

class BeamSearch {
 public:
  BeamSearch(const Decoder& decoder, std::shared_ptr<const grammar::ActionSpace> space, Breadth breadth, const Workers& workers,
             Workspace& workspace)
      : decoder_(decoder),
        automaton_(std::move(space)),
        beam_(breadth.beam),
        patience_(breadth.patience),
        workers_(workers),
        work_(workspace) {}

  Search run(const Memory& memory) {
    Search search;
    search.unfinished = kImpossible;
    begin();
    if (hypotheses_ == 1) work_.decoder.start(decoder_.weights(), memory, automaton_.space());
    while (hypotheses_ > 0) {
      ++search.steps;
      score();
      choose();
      advance();
      search.unfinished = hypotheses_ > 0 ? work_.live[0].score : kImpossible;
      if (!work_.finished.empty() && search.unfinished <= work_.finished[0].score - patience_) break;
      work_.decoder.reorder(work_.kept.data(), hypotheses_);
    }
    for (const Finished& finished : work_.finished) search.finished.push_back(hypothesis(finished));
    return search;
  }

 private:
  void begin() {
    work_.taken.clear();
    work_.finished.clear();
    work_.mask.resize(automaton_.space().words());
    hypotheses_ = 0;
    if (work_.live.empty()) work_.live.resize(1);
    Live& first = work_.live[0];
    first.state = automaton_.start();
    first.last = kNone;
    first.previous = grammar::kNoAction;
    first.score = 0;
    if (settle(first)) {
      hypotheses_ = 1;
    } else {
      work_.finished.push_back({first.last, 0});
    }
  }

  // Takes all actions that are forced, and lists what is legal behind them; false if that ends the query.
  bool settle(Live& live) {
    while (!live.state.finished()) {
      automaton_.mask(live.state, work_.mask.data());
      const std::int32_t forced = grammar::only_element(work_.mask.data(), work_.mask.size());
      if (forced == grammar::kSeveral) {
        list_legal(live.legal.actions);
        live.bound = is_bound(live);
        return true;
      }
      take(live, forced, 0.0f, 0.0f, false);
    }
    return false;
  }

  void list_legal(std::vector<std::int32_t>& actions) const {
    actions.clear();
    for (std::size_t word = 0; word < work_.mask.size(); ++word) {
      for (grammar::Word rest = work_.mask[word]; rest != 0; rest &= rest - 1) {
        actions.push_back(static_cast<std::int32_t>(word * grammar::kWordBits + grammar::lowest_bit(rest)));
      }
    }
  }

  // Whether some legal actions are grounded and others are not. Where none is, all may be taken.
  bool is_bound(const Live& live) const {
    const grammar::SpaceView& space = automaton_.space().view();
    if (!grammar::chooses(space, live.state)) return false;
    const auto grounded = [&](std::int32_t action) { return grammar::is_takable(space, live.state, action); };
    const std::vector<std::int32_t>& legal = live.legal.actions;
    const auto count = std::count_if(legal.begin(), legal.end(), grounded);
    return count > 0 && static_cast<std::size_t>(count) < legal.size();
  }

  void take(Live& live, std::int32_t action, float log_probability, float kept, bool decision) {
    if (action < 0 || !automaton_.advance(live.state, action, decision)) {
      throw ModelError("the grammar comes to a dead end after " + std::to_string(live.state.used) + " actions");
    }
    work_.taken.push_back({live.last, action, log_probability, kept, decision});
    live.last = static_cast<std::int32_t>(work_.taken.size()) - 1;
  }

  // Log-probabilities of all legal actions, in float32 as the decoder's scores are.
  void score() {
    work_.frontiers.clear();
    work_.legal.clear();
    for (std::size_t i = 0; i < hypotheses_; ++i) {
      Live& live = work_.live[i];
      work_.frontiers.push_back({live.previous, live.state.symbol(), live.state.parent()});
      work_.legal.push_back(&live.legal);
    }
    work_.decoder.step(work_.frontiers.data(), workers_);
    work_.decoder.score(work_.legal.data(), workers_);
    const auto shift_and_sum = FASTSQL_KERNEL(shift_and_sum, decoder_.weights().set);
    for (LegalActions* legal : work_.legal) {
      const float logarithm = std::log(shift_and_sum(legal->scores.data(), legal->scores.size()));
      for (float& score : legal->scores) score -= logarithm;
    }
  }

  // The best continuations of all hypotheses, best first, in the order of decode/ranking.h.
  void choose() {
    work_.continuations.clear();
    for (std::size_t origin = 0; origin < hypotheses_; ++origin) {
      Live& live = work_.live[origin];
      work_.own.clear();
      for (std::size_t i = 0; i < live.legal.actions.size(); ++i) {
        const std::int32_t action = live.legal.actions[i];
        if (live.bound && !grammar::is_takable(automaton_.space().view(), live.state, action)) continue;
        const float gain = live.legal.scores[i];
        work_.own.push_back({live.score + static_cast<double>(gain), static_cast<std::int32_t>(origin), action, gain});
      }
      live.kept = live.bound ? log_of_own() : 0.0f;
      const std::size_t count = std::min(beam_, work_.own.size());
      std::partial_sort(work_.own.begin(), work_.own.begin() + static_cast<std::ptrdiff_t>(count), work_.own.end(),
                        [](const Continuation& one, const Continuation& other) {
                          return is_preferred(one.log_probability, one.action, other.log_probability, other.action);
                        });
      work_.continuations.insert(work_.continuations.end(), work_.own.begin(),
                                 work_.own.begin() + static_cast<std::ptrdiff_t>(count));
    }
    std::sort(work_.continuations.begin(), work_.continuations.end(),
              [](const Continuation& one, const Continuation& other) { return is_preferred(one, other); });
    if (work_.continuations.size() > beam_) work_.continuations.resize(beam_);
  }

  // Log-probability of all that a hypothesis may take, in float32 as those of the actions are.
  float log_of_own() const {
    float largest = work_.own.front().log_probability, sum = 0;
    for (const Continuation& one : work_.own) largest = std::max(largest, one.log_probability);
    for (const Continuation& one : work_.own) sum += std::exp(one.log_probability - largest);
    return largest + std::log(sum);
  }

  // Takes the chosen continuations; what they become is live or finished then.
  void advance() {
    work_.kept.clear();
    for (const Continuation& next : work_.continuations) {
      const auto origin = static_cast<std::size_t>(next.origin);
      const Live& before = work_.live[origin];
      if (work_.grown.size() == work_.kept.size()) work_.grown.emplace_back();
      Live& after = work_.grown[work_.kept.size()];
      after.state = before.state;
      after.last = before.last;
      after.previous = next.action;
      after.score = next.score;
      take(after, next.action, next.log_probability, before.kept, true);
      if (settle(after)) {
        work_.kept.push_back(origin);
      } else {
        finish({after.last, after.score});
      }
    }
    std::swap(work_.live, work_.grown);
    hypotheses_ = work_.kept.size();
  }

  // Keeps as many finished queries as the beam is wide, best first.
  void finish(const Finished& query) {
    const auto score_of = [&](std::int32_t i) { return work_.finished[static_cast<std::size_t>(i)].score; };
    const std::int32_t place = place_among(static_cast<std::int32_t>(work_.finished.size()), query.score, score_of);
    work_.finished.insert(work_.finished.begin() + place, query);
    if (work_.finished.size() > beam_) work_.finished.pop_back();
  }

  Hypothesis hypothesis(const Finished& finished) const {
    Hypothesis result;
    std::size_t length = 0;
    for (std::int32_t at = finished.last; at != kNone; at = work_.taken[static_cast<std::size_t>(at)].before) ++length;
    result.path.reserve(length);
    result.actions.reserve(length);
    result.log_probabilities.reserve(length);
    result.kept.reserve(length);
    for (std::int32_t at = finished.last; at != kNone; at = work_.taken[static_cast<std::size_t>(at)].before) {
      const Taken& taken = work_.taken[static_cast<std::size_t>(at)];
      result.path.push_back(taken.decision ? taken.action : ~taken.action);
      if (!taken.decision) continue;
      result.actions.push_back(taken.action);
      result.log_probabilities.push_back(taken.log_probability);
      result.kept.push_back(taken.kept);
    }
    std::reverse(result.path.begin(), result.path.end());
    std::reverse(result.actions.begin(), result.actions.end());
    std::reverse(result.log_probabilities.begin(), result.log_probabilities.end());
    std::reverse(result.kept.begin(), result.kept.end());
    return result;
  }

  const Decoder& decoder_;
  Automaton automaton_;
  const std::size_t beam_;
  const double patience_;
  const Workers& workers_;
  Workspace& work_;
  std::size_t hypotheses_ = 0;
};

void expect_size(const char* what, std::size_t of_memory, std::int32_t of_space) {
  if (of_memory == static_cast<std::size_t>(of_space)) return;
  throw ModelError("the model has " + std::to_string(of_memory) + " " + what + ", the action space " + std::to_string(of_space));
}

void validate(const Decoder& decoder, const Memory& memory, const grammar::ActionSpace& space, std::size_t beam) {
  const auto size = [&](Kind kind) { return space.end(kind) - space.offset(kind); };
  expect_size("productions", decoder.config().productions, size(Kind::kProduction));
  expect_size("tables", memory.nodes.tables, size(Kind::kTable));
  expect_size("columns", memory.nodes.columns, size(Kind::kColumn));
  expect_size("candidates", memory.nodes.candidates, size(Kind::kCandidate));
  expect_size("schema values", memory.schema_values, size(Kind::kSchemaValue));
  expect_size("tokens", memory.nodes.tokens, size(Kind::kStart));
  expect_size("earlier turns", memory.nodes.turns, size(Kind::kTurn));
  expect_size("things that earlier turns offer", memory.entries, size(Kind::kStep) - space.view().budget);
  if (memory.nodes.turns > 0 && !decoder.config().turns) throw ModelError("the model has no weights for earlier turns");
  if (memory.question.n != memory.nodes.question() || memory.items.n != memory.nodes.schema()) {
    throw ModelError("the decoder's memory has " + std::to_string(memory.question.n) + " rows of the question and " +
                     std::to_string(memory.items.n) + " of the schema, which its counts do not add up to");
  }
  if (beam == 0) throw ModelError("a beam of 0 hypotheses finds nothing");
}

}  // namespace

Search beam_search(const Decoder& decoder, const Memory& memory, std::shared_ptr<const grammar::ActionSpace> space,
                   Breadth breadth, const Workers& workers) {
  validate(decoder, memory, *space, breadth.beam);
  const auto workspace = decoder.workspaces().take();
  Search search = BeamSearch(decoder, std::move(space), breadth, workers, *workspace).run(memory);
  if (workspace->decoder.capacity() > kMostKept) workspace->decoder = DecoderState();
  return search;
}

}  // namespace fastsql::decode
