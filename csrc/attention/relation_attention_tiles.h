// For the kernel files of relation_attention only: what packing and multiplying agree on.
#pragma once

#include "attention/head_lanes.h"
#include "attention/relation_attention_cpu.h"

namespace fastsql::cpu::FASTSQL_SET {
namespace {

// A tile of products stays in registers: rows x vectors of slots or of entries of the head.
constexpr std::size_t kTileRows = 4;
constexpr std::size_t kTileVectors = kLanes >= 16 ? 4 : 2;
constexpr std::size_t kTile = kTileVectors * kLanes;
// Vectors of slots that pass through all entries of values before the next ones do: a tile of them stays in the first-level cache
// from one tile of rows to the next.
constexpr std::size_t kDepth = 64;
static_assert(kRowBlock % kTileRows == 0 && 64 % kTile == 0 && 4 % kTileVectors == 0, "layouts are padded to whole tiles");

// A group of heads of the task: where it begins, and how many of them there are.
struct Group {
  std::size_t first_head, heads;
};

// The groups of `group` heads of a task one after the other: each(group, number).
template <std::size_t group, typename Each>
inline void for_each_group(const AttentionTask& task, Each each) {
  for (std::size_t head = 0; head < task.heads; head += group) {
    each(Group{head, task.heads - head < group ? task.heads - head : group}, head / group);
  }
}

}  // namespace
}  // namespace fastsql::cpu::FASTSQL_SET
