#include "core/gpus_cuda.h"

#include <cuda_runtime.h>

#include "core/error.h"

namespace fastsql::cuda {
namespace {

constexpr int kOldest = 8;  // of compute capabilities that kernels are compiled for

std::string reason_for(cudaError_t status) {
  if (status == cudaSuccess) return "there is none";
  // What CUDA says where there is no driver at all, too.
  if (status == cudaErrorInsufficientDriver) return "the NVIDIA driver is missing, or older than this build's CUDA";
  return cudaGetErrorString(status);
}

}  // namespace

std::vector<Gpu> gpus(std::string& problem) {
  problem.clear();
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  std::vector<Gpu> found;
  for (int number = 0; status == cudaSuccess && number < count; ++number) {
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, number) != cudaSuccess) continue;
    found.push_back(
        {properties.name, properties.major, properties.minor, properties.multiProcessorCount, properties.totalGlobalMem});
  }
  if (found.empty()) {
    problem = "no GPU can be used (" + reason_for(status) + ")";
  } else if (const Gpu& first = found.front(); first.major < kOldest) {
    problem = first.name + " has compute capability " + std::to_string(first.major) + "." + std::to_string(first.minor) +
              "; the kernels need " + std::to_string(kOldest) + ".0";
  }
  cudaGetLastError();  // a machine without a driver is no error of whoever asks next
  return found;
}

void expect_gpu() {
  std::string problem;
  gpus(problem);
  if (!problem.empty()) throw ModelError("device 'cuda': " + problem + ". Until then, use 'auto' or 'cpu'.");
}

}  // namespace fastsql::cuda
