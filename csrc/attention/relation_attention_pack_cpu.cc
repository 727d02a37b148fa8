#include "attention/relation_attention_tiles.h"

namespace fastsql::cpu::FASTSQL_SET {
namespace {

// Vectors of keys lie [tiles of slots][key_size][kTile], vectors of values [tiles of entries][vectors of slots][kTileVectors], so
// that both products read memory in order.
template <std::size_t group>
struct Packed {
  const AttentionLayout& layout;
  float* keys;
  float* values;

  Packed(const AttentionLayout& sizes, float* memory) : layout(sizes), keys(memory), values(memory + sizes.packed_keys()) {}

  // Entry 0 of a slot. The next ones are a tile apart among the keys.
  float* key(std::size_t slot) const { return keys + slot * group / kTile * layout.key_size * kTile + slot * group % kTile; }
  float* value(std::size_t slot) const { return values + slot * group / kLanes * kTileVectors * kLanes + slot * group % kLanes; }
  // From one tile of entries to the next among the values; within a tile, entries are a vector apart.
  std::size_t value_tile() const { return layout.slots * group * kTileVectors; }
};

template <std::size_t group>
void pack_slot(const Packed<group>& packed, std::size_t slot, Group heads, const HeadRows<const float>& keys,
               const HeadRows<const float>& values, std::size_t row) {
  const float* key = keys.data + heads.first_head * keys.head_stride + row * keys.row_stride;
  const float* value = values.data + heads.first_head * values.head_stride + row * values.row_stride;
  float* key_slot = packed.key(slot);
  float* value_slot = packed.value(slot);
  const std::size_t value_tile = packed.value_tile();
  transpose_heads<group>(key, keys.head_stride, heads.heads, keys.head_size, [=](std::size_t i, std::size_t k, auto lanes) {
    store_heads<group>(key_slot + (i + k) * kTile, lanes);
  });
  transpose_heads<group>(value, values.head_stride, heads.heads, values.head_size, [=](std::size_t i, std::size_t k, auto lanes) {
    store_heads<group>(value_slot + i / kTileVectors * value_tile + k / kTileVectors * value_tile + k % kTileVectors * kLanes,
                       lanes);
  });
}

// A slot that only fills up its tile.
template <std::size_t group>
void pack_zeros(const Packed<group>& packed, std::size_t slot) {
  const typename Heads<group>::Vector zeros{};
  for (std::size_t i = 0; i < packed.layout.key_size; ++i) store_heads<group>(packed.key(slot) + i * kTile, zeros);
  for (std::size_t i = 0; i < packed.layout.value_size; ++i) {
    store_heads<group>(packed.value(slot) + i / kTileVectors * packed.value_tile() + i % kTileVectors * kLanes, zeros);
  }
}

template <std::size_t group>
void pack(const AttentionTask& task, const AttentionLayout& layout, std::size_t first, std::size_t last, float* memory) {
  const std::size_t block = task.keys[0].rows;
  for_each_group<group>(task, [&](Group heads, std::size_t number) {
    const Packed<group> packed(layout, memory + number * layout.packed());
    for (std::size_t slot = first * layout.slots_of_tile(); slot < last * layout.slots_of_tile(); ++slot) {
      const std::size_t column = slot - layout.relation_slots;  // huge for a relation
      const bool empty = slot < layout.relation_slots ? slot >= task.relation_slots || task.relation_of_slot[slot] == kNoRelation
                                                      : column >= task.columns();
      if (empty) {
        pack_zeros<group>(packed, slot);
      } else if (slot < layout.relation_slots) {
        pack_slot<group>(packed, slot, heads, task.relation_key, task.relation_value, task.relation_of_slot[slot]);
      } else if (column < block) {
        pack_slot<group>(packed, slot, heads, task.keys[0], task.values[0], column);
      } else {
        pack_slot<group>(packed, slot, heads, task.keys[1], task.values[1], column - block);
      }
    }
  });
}

}  // namespace

AttentionLanes attention_lanes(std::size_t heads) {
  const std::size_t group = kLanes >= 8 && heads % 8 == 0 ? 8 : 4;
  return {group, kLanes / group};
}

void pack_attention(const AttentionTask& task, const AttentionLayout& layout, std::size_t first, std::size_t last,
                    float* packed) {
  if constexpr (kLanes >= 8) {
    if (layout.group == 8) return pack<8>(task, layout, first, last, packed);
  }
  pack<4>(task, layout, first, last, packed);
}

}  // namespace fastsql::cpu::FASTSQL_SET
