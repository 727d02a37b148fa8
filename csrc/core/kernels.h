// Kernels: functions of `*_cpu.cc` files, which the build compiles once per instruction set. Such a file puts its functions
// into `namespace fastsql::cpu::FASTSQL_SET` and may lay data out by FASTSQL_PANEL, two vector registers of floats. It holds plain
// loops: an inline function of the standard library, compiled for AVX-512, could be the copy that the linker keeps for everybody.
#pragma once

#include "core/instruction_set.h"

// In `namespace fastsql::cpu`: declares a function in the namespace of every instruction set.
#define FASTSQL_DECLARE_KERNEL(...) \
  namespace baseline {              \
  __VA_ARGS__;                      \
  }                                 \
  namespace avx2 {                  \
  __VA_ARGS__;                      \
  }                                 \
  namespace avx512 {                \
  __VA_ARGS__;                      \
  }

// A pointer to the kernel of that name for an instruction set. Throws ModelError where this machine or this build lacks the set.
#ifdef FASTSQL_X86_KERNELS
#define FASTSQL_KERNEL(name, set) \
  ::fastsql::kernel_for(set, &::fastsql::cpu::baseline::name, &::fastsql::cpu::avx2::name, &::fastsql::cpu::avx512::name)
#else
#define FASTSQL_KERNEL(name, set) \
  ::fastsql::kernel_for(set, &::fastsql::cpu::baseline::name, &::fastsql::cpu::baseline::name, &::fastsql::cpu::baseline::name)
#endif

namespace fastsql {

template <typename Function>
Function* kernel_for(InstructionSet set, Function* baseline, Function* avx2, Function* avx512) {
  expect_available(set);
  switch (set) {
    case InstructionSet::kAvx512:
      return avx512;
    case InstructionSet::kAvx2:
      return avx2;
    case InstructionSet::kBaseline:
      break;
  }
  return baseline;
}

}  // namespace fastsql
