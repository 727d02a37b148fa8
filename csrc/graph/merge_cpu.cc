#include "graph/merge_cpu.h"

#include "core/vectors.h"

namespace fastsql::cpu::FASTSQL_SET {

void merge_halves(const AttentionHalf& one, const AttentionHalf& other, std::size_t rows, std::size_t heads,
                  std::size_t head_size, float* output) {
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t head = 0; head < heads; ++head) {
      // The other half's share of the sum of exponentials, by a logistic function that never overflows.
      const float ahead = other.log_sum[head * rows + row] - one.log_sum[head * rows + row];
      const float e = exp_nonpositive(ahead < 0.0f ? ahead : -ahead);
      const float share = (ahead < 0.0f ? e : 1.0f) / (1.0f + e);
      const std::size_t at = (row * heads + head) * head_size;
      for (std::size_t i = at; i < at + head_size; ++i) output[i] = one.mixed[i] + share * (other.mixed[i] - one.mixed[i]);
    }
  }
}

}  // namespace fastsql::cpu::FASTSQL_SET
