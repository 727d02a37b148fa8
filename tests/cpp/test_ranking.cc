// The order of a beam, against sorting by the definition of decode/beam.py: pairs, then triples, with the signs of scores turned.
#include "decode/ranking.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <random>
#include <tuple>
#include <vector>

using namespace fastsql::decode;

namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Python sorts what is no number last.
double key(double score) { return std::isnan(score) ? kInfinity : -score; }

// Few different scores, so that there are ties, and some that are minus infinity or no number.
std::vector<Continuation> continuations() {
  std::mt19937 generator(3);
  const float gains[] = {-0.5f, -1.0f, -1.0f - 1e-7f, -std::numeric_limits<float>::infinity(), std::nanf("")};
  std::vector<Continuation> result;
  for (std::int32_t origin = 0; origin < 6; ++origin) {
    for (std::int32_t action = 0; action < 12; ++action) {
      const float gain = gains[generator() % 5];
      result.push_back({-1.0 * (origin % 3) + static_cast<double>(gain), origin, action, gain});
    }
  }
  std::shuffle(result.begin(), result.end(), generator);
  return result;
}

}  // namespace

TEST_CASE("continuations are ranked by score, then hypothesis, then action; what is no number comes last") {
  std::vector<Continuation> found = continuations(), expected = found;
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) { return is_preferred(one, other); });
  std::sort(expected.begin(), expected.end(), [](const auto& one, const auto& other) {
    return std::make_tuple(key(one.score), one.origin, one.action) <
           std::make_tuple(key(other.score), other.origin, other.action);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].origin == expected[i].origin);
    CHECK(found[i].action == expected[i].action);
  }
}

TEST_CASE("a hypothesis ranks its actions by likelihood, then by number") {
  std::vector<Continuation> found = continuations(), expected = found;
  std::sort(found.begin(), found.end(), [](const auto& one, const auto& other) {
    return is_preferred(one.log_probability, one.action * 6 + one.origin, other.log_probability, other.action * 6 + other.origin);
  });
  std::sort(expected.begin(), expected.end(), [](const auto& one, const auto& other) {
    return std::make_tuple(key(one.log_probability), one.action, one.origin) <
           std::make_tuple(key(other.log_probability), other.action, other.origin);
  });
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(found[i].origin == expected[i].origin);
    CHECK(found[i].action == expected[i].action);
  }
}

TEST_CASE("a finished query stands behind its equals") {
  const std::vector<double> scores = {-1.0, -2.0, -2.0, -5.0, std::nan("")};
  const auto place = [&](double score) {
    return place_among(static_cast<std::int32_t>(scores.size()), score,
                       [&](std::int32_t i) { return scores[static_cast<std::size_t>(i)]; });
  };
  CHECK(place(-0.5) == 0);
  CHECK(place(-1.0) == 1);
  CHECK(place(-2.0) == 3);
  CHECK(place(-7.0) == 4);
  CHECK(place(-kInfinity) == 5);
  CHECK(place(std::nan("")) == 5);
}
