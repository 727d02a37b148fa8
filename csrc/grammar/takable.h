// Which of the legal actions a search may take: those that say what exists, compare what can be compared, follow keys.
#pragma once

#include "grammar/comparing.h"
#include "grammar/grounding.h"
#include "grammar/joining.h"
#include "grammar/matching.h"
#include "grammar/subqueries.h"

namespace fastsql::grammar {

// Whether some legal action may be one to pass over.
FASTSQL_HOST_DEVICE bool chooses(const SpaceView& space, const State& state) {
  return binds(space, state) || binds_pattern(space, state) || weighs(space, state) || joins(space, state) || seeks(space, state);
}

// Whether a search may take a legal action. Where it may take none, it takes any.
FASTSQL_HOST_DEVICE bool is_takable(const SpaceView& space, const State& state, std::int32_t flat_id) {
  return is_grounded(space, state, flat_id) && matches(space, state, flat_id) && is_sensible(space, state, flat_id) &&
         is_keyed(space, state, flat_id) && follows(space, state, flat_id);
}

}  // namespace fastsql::grammar
