#include "check.h"
#include "core/instruction_set.h"

using namespace fastsql;

TEST_CASE("instruction_set", "the portable kernel is always there and the best one is the last") {
  CHECK(available_instruction_sets().front() == InstructionSet::kBaseline);
  CHECK(available_instruction_sets().back() == best_instruction_set());
}

TEST_CASE("instruction_set", "names are those shown to users") {
  CHECK(std::string(name(InstructionSet::kBaseline)) == "baseline");
  CHECK(std::string(name(InstructionSet::kAvx2)) == "avx2");
  CHECK(std::string(name(InstructionSet::kAvx512)) == "avx512");
}
