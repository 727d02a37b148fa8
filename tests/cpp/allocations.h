// For tests that nothing is asked of the heap in the steady state.
#pragma once

#include <cstddef>

namespace fastsql::test {

// How often this program has asked for memory, on any thread. Catch's assertions ask too: keep them outside what is counted.
std::size_t allocations();

}  // namespace fastsql::test
