#include "core/instruction_set.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <string>
#include <utility>

#include "core/error.h"
#include "core/kernels.h"
#include "says.h"

using namespace fastsql;
using fastsql::test::Says;

namespace {
int one() { return 1; }
int two() { return 2; }
int three() { return 3; }
}  // namespace

TEST_CASE("the portable kernel is always there and the best one is the last") {
  CHECK(available_instruction_sets().front() == InstructionSet::kBaseline);
  CHECK(available_instruction_sets().back() == best_instruction_set());
}

TEST_CASE("names are those shown to users") {
  CHECK(std::string(name(InstructionSet::kBaseline)) == "baseline");
  CHECK(std::string(name(InstructionSet::kAvx2)) == "avx2");
  CHECK(std::string(name(InstructionSet::kAvx512)) == "avx512");
}

TEST_CASE("the kernel chosen is that of the set, and a set that is not to be had is refused by name") {
  const auto& available = available_instruction_sets();
  const auto number = [](InstructionSet set) { return kernel_for(set, &one, &two, &three)(); };
  CHECK(number(InstructionSet::kBaseline) == 1);
  for (const auto& [set, expected] : {std::pair{InstructionSet::kAvx2, 2}, std::pair{InstructionSet::kAvx512, 3}}) {
    if (std::find(available.begin(), available.end(), set) != available.end()) {
      CHECK(number(set) == expected);
    } else {
      CHECK_THROWS_MATCHES(number(set), ModelError, Says(std::string("this machine has no ") + name(set)));
    }
  }
}
