// Attention of the decoder: a few queries to many rows, in the layout of decode/head_layout.h.
#pragma once

#include "core/instruction_set.h"
#include "core/workers.h"
#include "decode/decode_cpu.h"

namespace fastsql::decode {

// Writes attention.output [count, width]; `count` may be any number here. The result does not depend on the number of workers.
void head_attention(cpu::HeadAttention attention, const Workers& workers, InstructionSet set);

}  // namespace fastsql::decode
