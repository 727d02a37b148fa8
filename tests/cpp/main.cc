// Runs the cases of the groups named on the command line, or all of them.
#include <algorithm>
#include <exception>

#include "check.h"

int main(int argc, char** argv) {
  const std::vector<std::string> groups(argv + 1, argv + argc);
  int run = 0;
  for (const auto& test : fastsql::test::cases()) {
    if (!groups.empty() && std::find(groups.begin(), groups.end(), test.group) == groups.end()) continue;
    const int before = fastsql::test::failures();
    try {
      test.body();
    } catch (const std::exception& error) {
      fastsql::test::report(test.name.c_str(), 0, std::string("unexpected exception: ") + error.what());
    }
    std::cout << (fastsql::test::failures() == before ? "ok    " : "FAIL  ") << test.group << ": " << test.name << "\n";
    ++run;
  }
  if (run == 0) std::cerr << "no such group\n";
  return run == 0 || fastsql::test::failures() > 0;
}
