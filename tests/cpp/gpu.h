// What tests of kernels need: whether there is a GPU, real or simulated, and all the orders in which a simulated one runs threads.
#pragma once

#include <cuda_runtime.h>

#include <catch2/catch.hpp>

#ifdef FASTSQL_SIMULATED
#include "simulator/simulator.h"
#endif

namespace fastsql::test {

// Says so where there is none; the test then ends.
inline bool gpu_is_missing() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status == cudaSuccess && count > 0) return false;
  WARN("no GPU: " << cudaGetErrorString(status));
  return true;
}

// Calls check() once, or for each order in which threads may run.
template <typename Check>
void in_every_order(Check check) {
#ifdef FASTSQL_SIMULATED
  using simulator::Order;
  for (const Order order : {Order::kForward, Order::kBackward, Order::kShuffled}) {
    CAPTURE(static_cast<int>(order));
    simulator::set_order(order, 5);
    check();
  }
  simulator::set_order(Order::kForward);
#else
  check();
#endif
}

}  // namespace fastsql::test
