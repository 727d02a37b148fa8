// The CPU kernels behind relation_attention: one source, compiled once per instruction set.
// Sizes and pointers are trusted here; relation_attention.cc has checked them.
#pragma once

#include <cstddef>
#include <cstdint>

namespace fastsql::cpu {

struct AttentionSizes {
  std::size_t heads, rows, columns, head_size, relations;
};

struct AttentionPointers {
  const float* query;
  const float* key;
  const float* value;
  const float* relation_key;
  const float* relation_value;
  const std::uint8_t* relations;
  float* output;
  float* workspace;  // workspace_size(sizes) floats
};

// Rows computed together, and the widest panel of any kernel: what the workspace is laid out for.
constexpr std::size_t kRowBlock = 8;
constexpr std::size_t kWidestPanel = 32;

constexpr std::size_t kMaxRelations = 256;  // ids are bytes

constexpr std::size_t padded(std::size_t size) { return (size + kWidestPanel - 1) / kWidestPanel * kWidestPanel; }

// In floats; linear in columns, relations and head_size.
constexpr std::size_t workspace_size(const AttentionSizes& sizes) {
  const std::size_t columns = padded(sizes.columns), relations = padded(sizes.relations);
  const std::size_t head = padded(sizes.head_size);
  const std::size_t packed = (columns + relations) * sizes.head_size + (sizes.columns + sizes.relations) * head;
  const std::size_t block = kRowBlock * (sizes.head_size + columns + 2 * relations + head) + 4 * kMaxRelations;
  return packed + block;
}

void relation_attention_baseline(const AttentionSizes& sizes, const AttentionPointers& pointers);
void relation_attention_avx2(const AttentionSizes& sizes, const AttentionPointers& pointers);    // x86-64 builds only
void relation_attention_avx512(const AttentionSizes& sizes, const AttentionPointers& pointers);  // x86-64 builds only

}  // namespace fastsql::cpu
