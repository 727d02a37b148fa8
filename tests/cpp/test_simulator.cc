// The simulated GPU itself: what it must notice, or a test on it would say nothing.
#include <catch2/catch.hpp>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "core/device.h"
#include "core/device_functions.h"
#include "says.h"
#include "simulator/simulator.h"

using namespace fastsql;
using namespace fastsql::cuda;
using fastsql::test::Says;

namespace {

// Thread i hands its number to thread i - 1 through shared memory, with or without a barrier.
void pass_on(int* result, bool barrier) {
  int* shared = reinterpret_cast<int*>(shared_memory());
  const unsigned i = threadIdx.x;
  shared[i] = static_cast<int>(i);
  if (barrier) __syncthreads();
  result[blockIdx.x * blockDim.x + i] = shared[(i + 1) % blockDim.x];
}

std::vector<int> passed_on(bool barrier) {
  const DeviceArray<int> result(128);
  launch("pass on", pass_on, {2, 64, 64 * sizeof(int)}, nullptr, result.data(), barrier);
  return result.fetch();
}

void sum_of_warp(float* result) {
  float x = static_cast<float>(threadIdx.x);
  for (int bits = 16; bits > 0; bits /= 2) x += __shfl_xor_sync(kAllLanes, x, bits);
  result[threadIdx.x] = x;
}

void half_a_barrier() {
  if (threadIdx.x % 2 == 0) __syncthreads();
  __syncwarp();
}

void different_functions() {
  threadIdx.x == 0 ? static_cast<void>(__ballot_sync(kAllLanes, 1)) : static_cast<void>(__shfl_sync(kAllLanes, 1, 0));
}

// Blocks of a cluster add to one place each and read the next block's.
void ring(int* places, int* result) {
  places[blockIdx.x] = static_cast<int>(blockIdx.x) + 10;
  cluster_barrier();
  const unsigned next = blockIdx.x - cluster_rank() + (cluster_rank() + 1) % cluster_size();
  result[blockIdx.x * blockDim.x + threadIdx.x] = places[next];
}

// The product of two matrices, 16 x 16 and 16 x 8, whose entries are small whole numbers.
void product(float* result) {
  const int lane = static_cast<int>(threadIdx.x), g = lane / 4, q = lane % 4;
  const auto left_at = [](int row, int depth) { return static_cast<float>(row - depth); };
  const auto right_at = [](int depth, int column) { return static_cast<float>(depth + 2 * column); };
  std::uint32_t left[4];
  for (int r = 0; r < 4; ++r) {
    const int row = g + r % 2 * 8, depth = 2 * q + r / 2 * 8;
    left[r] = pack_bfloat16(left_at(row, depth), left_at(row, depth + 1));
  }
  Bfloat16* rows = reinterpret_cast<Bfloat16*>(shared_memory());
  for (int i = lane; i < 128; i += kLanes) rows[i] = to_bfloat16(right_at(i / 8, i % 8));
  __syncwarp();
  std::uint32_t right[2];
  load_transposed(rows + lane % 16 * 8, right[0], right[1]);
  float sums[4] = {};
  multiply_add(sums, left, right[0], right[1]);
  for (int r = 0; r < 4; ++r) result[(g + r / 2 * 8) * 8 + 2 * q + r % 2] = sums[r];
}

}  // namespace

TEST_CASE("a missing barrier shows in one order of threads or another") {
  for (const bool barrier : {true, false}) {
    int right = 0, orders = 0;
    for (const auto order : {simulator::Order::kForward, simulator::Order::kBackward, simulator::Order::kShuffled}) {
      simulator::set_order(order, 3);
      const std::vector<int> result = passed_on(barrier);
      bool all = true;
      for (int i = 0; i < 128; ++i) all = all && result[static_cast<std::size_t>(i)] == (i + 1) % 64;
      right += all;
      ++orders;
    }
    CHECK((right == orders) == barrier);
  }
  simulator::set_order(simulator::Order::kForward);
}

TEST_CASE("lanes exchange what they hold") {
  const DeviceArray<float> result(64);
  launch("sum", sum_of_warp, {1, 64}, nullptr, result.data());
  CHECK(result.fetch()[5] == 31 * 32 / 2);
  CHECK(result.fetch()[40] == 31 * 32 / 2 + 32 * 32);
}

TEST_CASE("threads that wait for ever are reported, and so are warps that part") {
  CHECK_THROWS_MATCHES(launch("half", half_a_barrier, {1, 32}, nullptr), std::logic_error, Says("never come"));
  CHECK_THROWS_MATCHES(launch("two", different_functions, {1, 32}, nullptr), std::logic_error, Says("meets in"));
}

TEST_CASE("blocks of a cluster wait for each other") {
  const DeviceArray<int> places(8), result(8 * 32);
  Shape shape{8, 32};
  shape.cluster = 4;
  launch("ring", ring, shape, nullptr, places.data(), result.data());
  CHECK(result.fetch()[0] == 11);
  CHECK(result.fetch()[3 * 32] == 10);
  CHECK(result.fetch()[7 * 32 + 31] == 14);
}

TEST_CASE("matrix instructions multiply") {
  const DeviceArray<float> result(128);
  launch("product", product, {1, 32, 256}, nullptr, result.data());
  const std::vector<float> found = result.fetch();
  for (int row = 0; row < 16; ++row) {
    for (int column = 0; column < 8; ++column) {
      int expected = 0;
      for (int depth = 0; depth < 16; ++depth) expected += (row - depth) * (depth + 2 * column);
      CHECK(found[static_cast<std::size_t>(row * 8 + column)] == static_cast<float>(expected));
    }
  }
}

TEST_CASE("memory is full of NaN, counted, and ends") {
  const std::size_t before = simulator::memory_in_use();
  {
    const DeviceArray<float> memory(100);
    CHECK(std::isnan(memory.fetch()[99]));
    CHECK(simulator::memory_in_use() == before + 400);
    simulator::set_memory(before + 500);
    CHECK_THROWS_MATCHES(DeviceArray<float>(26), LimitError, Says("no memory left"));
    CHECK_NOTHROW(DeviceArray<float>(25));
    simulator::set_memory(std::size_t{1} << 30);
  }
  CHECK(simulator::memory_in_use() == before);
}
