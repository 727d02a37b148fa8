// The GPUs of this machine.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace fastsql::cuda {

struct Gpu {
  std::string name;
  int major = 0, minor = 0;  // compute capability
  int multiprocessors = 0;
  std::size_t memory = 0;  // bytes
};

// Those that CUDA sees, in its order. `problem` then says why kernels cannot run on the first one, and is empty where they can.
std::vector<Gpu> gpus(std::string& problem);

// Throws ModelError, saying why, unless kernels can run on the first one.
void expect_gpu();

}  // namespace fastsql::cuda
