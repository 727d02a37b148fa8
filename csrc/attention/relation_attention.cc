#include "attention/relation_attention.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <string>

#include "attention/relation_attention_cpu.h"
#include "core/error.h"

namespace fastsql {
namespace {

constexpr std::size_t kMaxRelations = 256;  // ids are bytes
// Fewer slots than this are no reason to renumber relations.
constexpr std::size_t kSlotsSaved = 8;
// With more columns than this, looking for those relations that occur costs more than the slots of the others.
constexpr std::size_t kFewColumns = 256;
// Tiles of slots that one worker lays out at a time.
constexpr std::size_t kPackedTogether = 4;

std::string shape_text(std::size_t heads, std::size_t rows, std::size_t head_size) {
  return Tensor<const float, 3>{nullptr, {heads, rows, head_size}}.shape_text();
}

[[noreturn]] void refuse_shape(const char* name, const std::string& found, const std::string& wanted) {
  throw ModelError(std::string("relation_attention: ") + name + " has shape " + found + "; the other arguments ask for " +
                   wanted);
}

template <typename T>
void expect_shape(const char* name, const HeadRows<T>& found, std::size_t heads, std::size_t rows, std::size_t head_size) {
  if (found.heads == heads && found.rows == rows && found.head_size == head_size) return;
  refuse_shape(name, shape_text(found.heads, found.rows, found.head_size), shape_text(heads, rows, head_size));
}

void expect_shape(const char* name, const Tensor<const float, 2>& found, std::size_t relations, std::size_t head_size) {
  const Tensor<const float, 2> wanted{nullptr, {relations, head_size}};
  if (found.shape != wanted.shape) refuse_shape(name, found.shape_text(), wanted.shape_text());
}

void expect_in_range(const char* what, std::size_t size, std::size_t most) {
  if (size >= 1 && size <= most) return;
  throw ModelError(std::string("relation_attention: ") + what + " is " + std::to_string(size) + "; it must be from 1 to " +
                   std::to_string(most));
}

// Relations that occur among the edges have a slot: few of all, where the edges are those of one kind of nodes to another. Slots
// that stand side by side in a vector belong to different partial sums: a relation stays in the one that its number puts it into,
// and in order there. So which other relations occur does not change how a row's terms are added up.
struct Slots {
  std::array<std::int16_t, kMaxRelations> relation_of_slot;
  std::array<std::uint8_t, kMaxRelations> slot_of{};
  std::size_t count = 0;
  bool renumbered = false;  // otherwise relation i has slot i

  // Throws ModelError where an id is not below `known`.
  Slots(const RelationRows& edges, std::size_t known, std::size_t beside) {
    expect_known(edges, known);
    relation_of_slot.fill(cpu::kNoRelation);
    if (edges.columns <= kFewColumns) give_to_occurring(edges, beside);
    renumbered = count > 0 && count + kSlotsSaved <= known;
    if (renumbered) return;
    count = known;
    std::iota(relation_of_slot.begin(), relation_of_slot.begin() + static_cast<std::ptrdiff_t>(known), std::int16_t{0});
  }

 private:
  void give_to_occurring(const RelationRows& edges, std::size_t beside) {
    std::array<bool, kMaxRelations> occurs{};
    for (std::size_t row = 0; row < edges.rows; ++row) {
      const std::uint8_t* ids = edges.data + row * edges.row_stride;
      for (std::size_t j = 0; j < edges.columns; ++j) occurs[ids[j]] = true;
    }
    std::array<std::size_t, kMaxRelations> next;  // free slot of each partial sum
    std::iota(next.begin(), next.end(), std::size_t{0});
    for (std::size_t relation = 0; relation < kMaxRelations; ++relation) {
      if (!occurs[relation]) continue;
      std::size_t& slot = next[relation % beside];
      slot_of[relation] = static_cast<std::uint8_t>(slot);
      relation_of_slot[slot] = static_cast<std::int16_t>(relation);
      count = std::max(count, slot + 1);
      slot += beside;
    }
  }

  static void expect_known(const RelationRows& edges, std::size_t known) {
    for (std::size_t row = 0; row < edges.rows; ++row) {
      const std::uint8_t* ids = edges.data + row * edges.row_stride;
      std::uint8_t largest = 0;
      for (std::size_t j = 0; j < edges.columns; ++j) largest = ids[j] > largest ? ids[j] : largest;
      if (largest < known) continue;
      const auto column = std::find(ids, ids + edges.columns, largest) - ids;
      throw ModelError("relation_attention: relations[" + std::to_string(row) + ", " + std::to_string(column) + "] is " +
                       std::to_string(largest) + "; the model has " + std::to_string(known) + " relations");
    }
  }
};

// A table that all heads share.
HeadRows<const float> shared_by_heads(const Tensor<const float, 2>& table, std::size_t heads) {
  return {table.data, heads, table.shape[0], table.shape[1], 0, table.shape[1]};
}

void validate(const RelationAttentionInput& input, const RelationAttentionOutput& output) {
  const auto& query = input.query;
  const std::size_t first = input.first.key.rows, second = input.second.key.rows;
  const std::size_t relations = input.relation_key.shape[0];
  // Bounds that no real model reaches keep every product of sizes far from overflow.
  expect_in_range("the number of heads", query.heads, 1 << 10);
  expect_in_range("the head size", query.head_size, 1 << 14);
  expect_in_range("the number of key rows", first + second, 1 << 20);
  expect_in_range("the number of relations", relations, kMaxRelations);
  expect_shape("key", input.first.key, query.heads, first, query.head_size);
  expect_shape("value", input.first.value, query.heads, first, query.head_size);
  if (second > 0 || input.second.value.rows > 0) {
    expect_shape("the second key", input.second.key, query.heads, second, query.head_size);
    expect_shape("the second value", input.second.value, query.heads, second, query.head_size);
  }
  expect_shape("relation_key", input.relation_key, relations, query.head_size);
  expect_shape("relation_value", input.relation_value, relations, query.head_size);
  if (input.relations.rows != query.rows || input.relations.columns != first + second) {
    const auto text = [](std::size_t rows, std::size_t columns) {
      return Tensor<const float, 2>{nullptr, {rows, columns}}.shape_text();
    };
    refuse_shape("relations", text(input.relations.rows, input.relations.columns), text(query.rows, first + second));
  }
  expect_shape("output", output.mixed, query.heads, query.rows, query.head_size);
}

cpu::AttentionTask task_of(const RelationAttentionInput& input, const RelationAttentionOutput& output, const Slots& slots) {
  const auto& query = input.query;
  return {query.heads,
          query.rows,
          query.head_size,
          slots.count,
          slots.relation_of_slot.data(),
          slots.renumbered ? slots.slot_of.data() : nullptr,
          query,
          {input.first.key, input.second.key},
          {input.first.value, input.second.value},
          shared_by_heads(input.relation_key, query.heads),
          shared_by_heads(input.relation_value, query.heads),
          input.relations,
          input.scale,
          output.mixed,
          output.log_sum};
}

}  // namespace

void relation_attention(const RelationAttentionInput& input, const RelationAttentionOutput& output, std::vector<float>& workspace,
                        const Workers& workers, InstructionSet set) {
  const cpu::AttentionLanes lanes = FASTSQL_KERNEL(attention_lanes, set)(input.query.heads);
  const auto pack = FASTSQL_KERNEL(pack_attention, set);
  const auto attend = FASTSQL_KERNEL(attend, set);
  validate(input, output);
  const Slots slots(input.relations, input.relation_key.shape[0], lanes.slots);
  const cpu::AttentionTask task = task_of(input, output, slots);
  const cpu::AttentionLayout layout(task, lanes.group);

  const std::size_t blocks = (task.rows + cpu::kRowBlock - 1) / cpu::kRowBlock;
  const std::size_t threads = std::min(workers.threads(), blocks);
  const std::size_t packed_size = layout.groups(task.heads) * layout.packed();
  constexpr std::size_t kLine = 16;  // floats in a cache line, at whose border the workspace is used from
  workspace.resize(std::max(workspace.size(), packed_size + threads * layout.scratch() + kLine));
  float* packed = workspace.data() + (kLine - reinterpret_cast<std::uintptr_t>(workspace.data()) / sizeof(float) % kLine) % kLine;

  const auto pack_part = [&](std::size_t part) {
    const std::size_t first = part * kPackedTogether;
    pack(task, layout, first, std::min(first + kPackedTogether, layout.tiles()), packed);
  };
  workers.run((layout.tiles() + kPackedTogether - 1) / kPackedTogether, [&pack_part](std::size_t part) { pack_part(part); });

  // A part is a thread's scratch memory; it takes blocks of rows while there are any.
  std::atomic<std::size_t> next{0};
  const auto attend_part = [&](std::size_t part) {
    float* scratch = packed + packed_size + part * layout.scratch();
    for (std::size_t block = next++; block < blocks; block = next++) {
      attend(task, layout, packed, block * cpu::kRowBlock, scratch);
    }
  };
  workers.run(threads, [&attend_part](std::size_t part) { attend_part(part); });
}

}  // namespace fastsql
