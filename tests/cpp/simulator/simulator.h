// How the simulated GPU behaves.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastsql::simulator {

// The order in which threads run between two barriers, and blocks one after another. Shuffled orders differ by their seed.
enum class Order { kForward, kBackward, kShuffled };
void set_order(Order order, std::uint32_t seed = 0);

// Bytes of device memory in all, the least that cudaMalloc then refuses (initially a GB); and those in use.
void set_memory(std::size_t bytes);
std::size_t memory_in_use();

}  // namespace fastsql::simulator
