#include "decode/head_attention.h"

#include <algorithm>
#include <cstddef>
#include <functional>

#include "core/kernels.h"

namespace fastsql::decode {
namespace {

// Multiplications below which handing over to another thread costs more than it brings.
constexpr std::size_t kWorthSharing = std::size_t{1} << 18;
// Rows of keys that a worker scores at a time.
constexpr std::size_t kRowsAtOnce = 128;

}  // namespace

void head_attention(cpu::HeadAttention attention, const Workers& workers, InstructionSet set) {
  const auto score = FASTSQL_KERNEL(score_heads, set);
  const auto weigh = FASTSQL_KERNEL(weigh_heads, set);
  const auto mix = FASTSQL_KERNEL(mix_heads, set);
  const std::size_t rows = attention.rows(), width = attention.width;
  for (std::size_t left = attention.count; left > 0; left -= attention.count) {
    attention.count = std::min(left, cpu::kQueryBlock);
    if (workers.threads() == 1 || attention.count * rows * width < kWorthSharing) {
      score(attention, 0, rows);
      for (std::size_t query = 0; query < attention.count; ++query) weigh(attention, query);
      mix(attention, 0, width);
    } else {
      const auto score_part = [&](std::size_t part) {
        score(attention, part * kRowsAtOnce, std::min((part + 1) * kRowsAtOnce, rows));
      };
      const auto mix_part = [&](std::size_t part) {
        mix(attention, part * cpu::kMixedTogether, std::min((part + 1) * cpu::kMixedTogether, width));
      };
      workers.run((rows + kRowsAtOnce - 1) / kRowsAtOnce, std::cref(score_part));
      // Too short to be shared: a pause of the other thread would cost more.
      for (std::size_t query = 0; query < attention.count; ++query) weigh(attention, query);
      workers.run((width + cpu::kMixedTogether - 1) / cpu::kMixedTogether, std::cref(mix_part));
    }
    attention.queries += attention.count * attention.query_stride;
    attention.output += attention.count * width;
  }
}

}  // namespace fastsql::decode
