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

// What can be used here, in CUDA's order; `problem` then says why there is none, and is empty where there is one.
std::vector<Gpu> gpus(std::string& problem);

// Throws ModelError, saying why, unless kernels can run on the first one.
void expect_gpu();

}  // namespace fastsql::cuda
