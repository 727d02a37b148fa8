// The order in which a search prefers what it has: the rules of python/fastsql/decode/beam.py, written once for the processor and the
// GPU.
#pragma once

#include <cstdint>
#include <limits>

#include "core/host_device.h"

namespace fastsql::decode {

constexpr double kImpossible = -std::numeric_limits<double>::infinity();

// A score to sort by: one that is no number comes last.
FASTSQL_HOST_DEVICE double rank(double score) { return score == score ? score : kImpossible; }

// Whether a hypothesis prefers one of its actions to another: the likelier, and of equals the lower. No two are the same action.
FASTSQL_HOST_DEVICE bool is_preferred(float log_probability, std::int32_t action, float other, std::int32_t other_action) {
  const double mine = rank(log_probability), theirs = rank(other);
  return mine != theirs ? mine > theirs : action < other_action;
}

// What a hypothesis may become.
struct Continuation {
  double score;  // log-probability of the whole sequence
  std::int32_t origin, action;
  float log_probability;  // of the action
};

// Whether the beam prefers one continuation to another: of equals, the hypothesis that stands first, then the lower action.
FASTSQL_HOST_DEVICE bool is_preferred(const Continuation& one, const Continuation& other) {
  const double mine = rank(one.score), theirs = rank(other.score);
  if (mine != theirs) return mine > theirs;
  return one.origin != other.origin ? one.origin < other.origin : one.action < other.action;
}

// Where a query that has just been finished belongs among `count` others, best first: of equals, what came first stands first.
// score_of(i) is that of the i-th.
template <typename ScoreOf>
FASTSQL_HOST_DEVICE std::int32_t place_among(std::int32_t count, double score, ScoreOf score_of) {
  std::int32_t place = 0;
  while (place < count && !(rank(score_of(place)) < rank(score))) ++place;
  return place;
}

}  // namespace fastsql::decode
