// Queries at random: what the automaton promises must hold whatever the scores are, and a million samples show it.
#pragma once

#include <cstdint>
#include <vector>

#include "grammar/automaton.h"

namespace fastsql::grammar {

// The actions of one query, forced ones as their complement ~a: each decision is the legal action whose preference [actions]
// plus standard Gumbel noise is largest. The same seed gives the same query. The last element is kDeadEnd where no action
// was legal or none fitted the budget, which the automaton promises never to happen.
constexpr std::int32_t kDeadEnd = INT32_MIN;
std::vector<std::int32_t> sample(Automaton& automaton, const float* preference, std::uint64_t seed);

}  // namespace fastsql::grammar
