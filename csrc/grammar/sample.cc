#include "grammar/sample.h"

#include <cmath>
#include <limits>

#include "grammar/bits.h"

namespace fastsql::grammar {
namespace {

// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): small, and any seed will do.
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  // -log(-log U), U uniform in (0, 1).
  float gumbel() {
    state_ += 0x9E3779B97F4A7C15u;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    z ^= z >> 31;
    const double uniform = (static_cast<double>(z >> 11) + 0.5) * 0x1.0p-53;
    return static_cast<float>(-std::log(-std::log(uniform)));
  }

 private:
  std::uint64_t state_;
};

std::int32_t likeliest(const std::vector<Word>& legal, const float* preference, Random& random) {
  std::int32_t best = kNone;
  float highest = -std::numeric_limits<float>::infinity();
  for (std::size_t word = 0; word < legal.size(); ++word) {
    for (Word rest = legal[word]; rest != 0; rest &= rest - 1) {
      const std::size_t action = word * kWordBits + lowest_bit(rest);
      const float score = preference[action] + random.gumbel();
      if (best == kNone || score > highest) {
        best = static_cast<std::int32_t>(action);
        highest = score;
      }
    }
  }
  return best;
}

}  // namespace

std::vector<std::int32_t> sample(Automaton& automaton, const float* preference, std::uint64_t seed) {
  Random random(seed);
  std::vector<Word> legal(automaton.space().words());
  std::vector<std::int32_t> path;
  State state = automaton.start();
  while (!state.finished()) {
    automaton.mask(state, legal.data());
    const std::int32_t forced = only_element(legal.data(), legal.size());
    const std::int32_t action = forced == kSeveral ? likeliest(legal, preference, random) : forced;
    if (action == kNone || !automaton.advance(state, action, forced == kSeveral)) {
      path.push_back(kDeadEnd);
      break;
    }
    path.push_back(forced == kSeveral ? action : ~action);
  }
  automaton.clear();
  return path;
}

}  // namespace fastsql::grammar
