#include "attention/self_attention.h"

#include <algorithm>
#include <functional>

#include "attention/self_attention_cpu.h"
#include "core/kernels.h"

namespace fastsql {

void self_attention(const SelfAttention& input, float* mixed, Scratch& scratch, const Workers& workers, InstructionSet set) {
  const auto kernel = FASTSQL_KERNEL(self_attention, set);
  // Texts times heads are independent; each part is a run of them with a workspace of its own.
  const std::size_t all = input.texts * input.heads;
  const std::size_t parts = std::min(all, workers.threads() == 1 ? 1 : 4 * workers.threads());
  const std::size_t room = cpu::self_attention_workspace(input.tokens, input.head_size);
  const Scratch::Scope scope(scratch);
  float* workspace = scratch.take(parts * room);
  const auto part = [&](std::size_t index) {
    kernel(input, all * index / parts, all * (index + 1) / parts, mixed, workspace + index * room);
  };
  workers.run(parts, std::cref(part));
}

}  // namespace fastsql
