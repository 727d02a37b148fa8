#include "reverse/reverse_cpu.h"

#include "core/vectors.h"

namespace fastsql::cpu::FASTSQL_SET {

Exponentials sum_exponentials(const float* scores, std::size_t n) {
  const std::size_t whole = n / kLanes * kLanes;
  float lanes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = scores[0];
  Vector most = load(lanes);
  for (std::size_t i = 0; i < whole; i += kLanes) most = load(scores + i) > most ? load(scores + i) : most;
  store(lanes, most);
  float largest = lanes[0];
  for (std::size_t lane = 1; lane < kLanes; ++lane) largest = lanes[lane] > largest ? lanes[lane] : largest;
  for (std::size_t i = whole; i < n; ++i) largest = scores[i] > largest ? scores[i] : largest;

  Vector sums = {};
  for (std::size_t i = 0; i < whole; i += kLanes) sums += exp_nonpositive(load(scores + i) - largest);
  store(lanes, sums);
  float sum = 0.0f;
  for (std::size_t lane = 0; lane < kLanes; ++lane) sum += lanes[lane];
  for (std::size_t i = whole; i < n; ++i) sum += exp_nonpositive(scores[i] - largest);
  return {largest, sum};
}

}  // namespace fastsql::cpu::FASTSQL_SET
