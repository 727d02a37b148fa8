// The CPU kernels behind relation_attention: one source, compiled once per instruction set.
// Sizes and pointers are trusted here; relation_attention.cc has checked them.
//
// Heads lie beside each other in the lanes of a vector register. A row's relation to a column is the same for all heads, so its
// bias is one load and its attention mass one addition for `group` heads at once, and the softmax needs nothing across lanes.
// What a query is multiplied with are slots: first the relations that occur, then the columns. Relation keys are keys and relation
// values are values, the same for all heads.
#pragma once

#include <cstddef>
#include <cstdint>

#include "attention/head_rows.h"
#include "core/kernels.h"

namespace fastsql::cpu {

constexpr std::int16_t kNoRelation = -1;

// What stands side by side in a vector: `slots` slots of `group` heads each.
struct AttentionLanes {
  std::size_t group, slots;
};

struct AttentionTask {
  std::size_t heads, rows, head_size;
  std::size_t relation_slots;
  const std::int16_t* relation_of_slot;  // [relation_slots], kNoRelation where a slot stays empty
  const std::uint8_t* slot_of;           // [256], by relation; null where relation i has slot i
  HeadRows<const float> query;
  HeadRows<const float> keys[2], values[2];            // the columns, in two blocks
  HeadRows<const float> relation_key, relation_value;  // all heads read the same: a head stride of 0
  RelationRows edges;
  float scale;
  HeadRows<float> mixed;
  float* log_sum;  // [heads, rows], or null

  constexpr std::size_t columns() const { return keys[0].rows + keys[1].rows; }
};

// Rows that pass through the keys together.
constexpr std::size_t kRowBlock = 8;

// How a task is laid out in memory, in floats. Slots are padded so that every tile is full.
struct AttentionLayout {
  std::size_t group;           // heads in the lanes of a vector
  std::size_t relation_slots;  // relations, padded
  std::size_t slots;           // relations and columns, padded
  std::size_t key_size;        // head_size
  std::size_t value_size;      // head_size, padded

  static constexpr std::size_t padded(std::size_t size, std::size_t unit) { return (size + unit - 1) / unit * unit; }

  constexpr AttentionLayout(const AttentionTask& task, std::size_t heads_beside)
      : group(heads_beside),
        relation_slots(padded(task.relation_slots, slots_of_tile())),
        slots(relation_slots + padded(task.columns(), slots_of_tile())),
        key_size(task.head_size),
        value_size(padded(task.head_size, 4)) {}

  // The widest tile of any instruction set is 64 floats.
  constexpr std::size_t slots_of_tile() const { return 64 / group; }
  constexpr std::size_t tiles() const { return slots / slots_of_tile(); }
  constexpr std::size_t groups(std::size_t heads) const { return (heads + group - 1) / group; }
  // Keys and then values of one group of heads.
  constexpr std::size_t packed_keys() const { return slots * group * key_size; }
  constexpr std::size_t packed() const { return packed_keys() + slots * group * value_size; }
  // Scores, queries and results of a block of rows; of these two, a whole vector for every entry.
  constexpr std::size_t block_size() const { return kRowBlock * (slots * group + 16 * (key_size + value_size)); }
  // The same with the renumbered relations of the block, which are bytes.
  constexpr std::size_t scratch() const { return padded(block_size() + kRowBlock * slots / sizeof(float), 16); }
};

// How this instruction set lays out so many heads.
FASTSQL_DECLARE_KERNEL(AttentionLanes attention_lanes(std::size_t heads))

// Lays out tiles of slots, from `first` to, not including, `last`, for all groups of heads: packed[groups][layout.packed()].
FASTSQL_DECLARE_KERNEL(void pack_attention(const AttentionTask& task, const AttentionLayout& layout, std::size_t first,
                                           std::size_t last, float* packed))

// The block of rows that begins at `first`; scratch[layout.scratch()].
FASTSQL_DECLARE_KERNEL(void attend(const AttentionTask& task, const AttentionLayout& layout, const float* packed,
                                   std::size_t first, float* scratch))

}  // namespace fastsql::cpu
