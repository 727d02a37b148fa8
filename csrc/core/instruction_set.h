// Which vector instructions a kernel may use. Kernels are compiled once per set and chosen at run time, so
// one binary runs on every machine of its architecture.
#pragma once

#include <vector>

namespace fastsql {

enum class InstructionSet { kBaseline, kAvx2, kAvx512 };

// "baseline", "avx2" or "avx512".
const char* name(InstructionSet set);

// What both this binary and this processor have, slowest first; never empty.
const std::vector<InstructionSet>& available_instruction_sets();

// The fastest of them.
InstructionSet best_instruction_set();

// Throws ModelError where `set` is not among them.
void expect_available(InstructionSet set);

}  // namespace fastsql
