#include "attention/relation_attention.h"

#include <algorithm>
#include <string>
#include <vector>

#include "attention/relation_attention_cpu.h"
#include "core/error.h"

namespace fastsql {
namespace {

template <typename T, std::size_t rank>
void expect_shape(const char* name, const Tensor<T, rank>& tensor, const std::array<std::size_t, rank>& expected) {
  if (tensor.shape == expected) return;
  const Tensor<T, rank> wanted{nullptr, expected};
  throw ModelError(std::string("relation_attention: ") + name + " has shape " + tensor.shape_text() +
                   "; the other arguments ask for " + wanted.shape_text());
}

void expect_in_range(const char* what, std::size_t size, std::size_t most) {
  if (size >= 1 && size <= most) return;
  throw ModelError(std::string("relation_attention: ") + what + " is " + std::to_string(size) +
                   "; it must be from 1 to " + std::to_string(most));
}

cpu::AttentionSizes validate(const RelationAttentionInput& input, const Tensor<float, 3>& output) {
  const auto [heads, rows, head_size] = input.query.shape;
  const std::size_t columns = input.key.shape[1];
  const std::size_t relations = input.relation_key.shape[0];
  // Bounds that no real model reaches keep every product of sizes far from overflow.
  expect_in_range("the number of heads", heads, 1 << 10);
  expect_in_range("the head size", head_size, 1 << 14);
  expect_in_range("the number of key rows", columns, 1 << 20);
  expect_in_range("the number of relations", relations, cpu::kMaxRelations);
  expect_shape("key", input.key, {heads, columns, head_size});
  expect_shape("value", input.value, {heads, columns, head_size});
  expect_shape("relation_key", input.relation_key, {relations, head_size});
  expect_shape("relation_value", input.relation_value, {relations, head_size});
  expect_shape("relations", input.relations, {rows, columns});
  expect_shape("output", output, {heads, rows, head_size});
  return {heads, rows, columns, head_size, relations};
}

void expect_known_relations(const Tensor<const std::uint8_t, 2>& relations, std::size_t count) {
  const std::uint8_t* end = relations.data + relations.shape[0] * relations.shape[1];
  const std::uint8_t* largest = std::max_element(relations.data, end);
  if (largest == end || *largest < count) return;
  const std::size_t position = static_cast<std::size_t>(largest - relations.data);
  throw ModelError("relation_attention: relations[" + std::to_string(position / relations.shape[1]) + ", " +
                   std::to_string(position % relations.shape[1]) + "] is " + std::to_string(*largest) +
                   "; the model has " + std::to_string(count) + " relations");
}

using Kernel = void (*)(const cpu::AttentionSizes&, const cpu::AttentionPointers&);

Kernel kernel_for(InstructionSet set) {
  const auto& available = available_instruction_sets();
  if (std::find(available.begin(), available.end(), set) == available.end()) {
    throw ModelError(std::string("relation_attention: this machine has no ") + name(set) + " instructions");
  }
#ifdef FASTSQL_X86_KERNELS
  if (set == InstructionSet::kAvx512) return cpu::relation_attention_avx512;
  if (set == InstructionSet::kAvx2) return cpu::relation_attention_avx2;
#endif
  return cpu::relation_attention_baseline;
}

}  // namespace

void relation_attention(const RelationAttentionInput& input, const Tensor<float, 3>& output, InstructionSet set) {
  const cpu::AttentionSizes sizes = validate(input, output);
  expect_known_relations(input.relations, sizes.relations);
  const Kernel kernel = kernel_for(set);
  std::vector<float> workspace(cpu::workspace_size(sizes));
  kernel(sizes, {input.query.data, input.key.data, input.value.data, input.relation_key.data,
                 input.relation_value.data, input.relations.data, output.data, workspace.data()});
}

}  // namespace fastsql
