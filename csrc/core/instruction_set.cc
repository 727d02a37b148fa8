#include "core/instruction_set.h"

#include <algorithm>
#include <string>

#include "core/error.h"

namespace fastsql {
namespace {

std::vector<InstructionSet> detect() {
  std::vector<InstructionSet> sets{InstructionSet::kBaseline};
#ifdef FASTSQL_X86_KERNELS
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) {
    sets.push_back(InstructionSet::kAvx2);
    if (__builtin_cpu_supports("avx512f")) sets.push_back(InstructionSet::kAvx512);
  }
#endif
  return sets;
}

}  // namespace

const char* name(InstructionSet set) {
  switch (set) {
    case InstructionSet::kAvx512:
      return "avx512";
    case InstructionSet::kAvx2:
      return "avx2";
    case InstructionSet::kBaseline:
      break;
  }
  return "baseline";
}

const std::vector<InstructionSet>& available_instruction_sets() {
  static const std::vector<InstructionSet> sets = detect();
  return sets;
}

InstructionSet best_instruction_set() { return available_instruction_sets().back(); }

void expect_available(InstructionSet set) {
  const std::vector<InstructionSet>& available = available_instruction_sets();
  if (std::find(available.begin(), available.end(), set) != available.end()) return;
  throw ModelError(std::string("this machine has no ") + name(set) + " instructions");
}

}  // namespace fastsql
