#include "attention/row_attention.h"

#include <algorithm>

#include "attention/row_attention_cpu.h"
#include "core/kernels.h"

namespace fastsql {

void row_attention(std::size_t count, const std::function<RowAttention(std::size_t)>& input_of, Scratch& scratch,
                   const Workers& workers, InstructionSet set) {
  if (count == 0) return;
  const auto kernel = FASTSQL_KERNEL(row_attention, set);
  // Inputs times heads are independent; each part is a run of them with a workspace of its own.
  const std::size_t heads = input_of(0).heads, all = count * heads;
  const std::size_t parts = std::min(all, workers.threads() == 1 ? 1 : 4 * workers.threads());
  std::size_t room = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const RowAttention input = input_of(i);
    room = std::max(room, cpu::row_attention_workspace(input.rows, input.columns, input.head_size));
  }
  const Scratch::Scope scope(scratch);
  float* workspace = scratch.take(parts * room);
  const auto part = [&](std::size_t index) {
    for (std::size_t pair = all * index / parts; pair < all * (index + 1) / parts; ++pair) {
      kernel(input_of(pair / heads), pair % heads, workspace + index * room);
    }
  };
  workers.run(parts, std::cref(part));
}

}  // namespace fastsql
