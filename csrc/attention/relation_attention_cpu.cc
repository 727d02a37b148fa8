// The build compiles this file once per instruction set, with FASTSQL_KERNEL naming the function and
// FASTSQL_PANEL the panel width in floats (two vector registers). Only plain loops over local arrays: the
// compiler turns them into vector code. Nothing here may come from the standard library's templates: an inline
// function compiled for AVX-512 could be the copy the linker keeps for everybody.

#include "attention/relation_attention_cpu.h"

namespace fastsql::cpu {
namespace {

constexpr std::size_t kPanel = FASTSQL_PANEL;
// Each loop nest is a function of its own: inlined into one body they run out of registers.
#define FASTSQL_LOOPS __attribute__((noinline))

static_assert(kWidestPanel % kPanel == 0, "the workspace is padded for the widest panel");

// matrix[rows, columns] -> panels[columns / kPanel][rows][kPanel], zero where columns run out.
FASTSQL_LOOPS void pack_panels(const float* matrix, std::size_t rows, std::size_t columns, float* panels) {
  for (std::size_t first = 0; first < columns; first += kPanel) {
    const std::size_t width = columns - first < kPanel ? columns - first : kPanel;
    for (std::size_t row = 0; row < rows; ++row, panels += kPanel) {
      for (std::size_t lane = 0; lane < kPanel; ++lane) {
        panels[lane] = lane < width ? matrix[row * columns + first + lane] : 0.0f;
      }
    }
  }
}

// The same for the transpose of matrix[columns, rows].
FASTSQL_LOOPS void pack_transposed(const float* matrix, std::size_t rows, std::size_t columns, float* panels) {
  for (std::size_t first = 0; first < columns; first += kPanel) {
    for (std::size_t row = 0; row < rows; ++row, panels += kPanel) {
      for (std::size_t lane = 0; lane < kPanel; ++lane) {
        panels[lane] = first + lane < columns ? matrix[(first + lane) * rows + row] : 0.0f;
      }
    }
  }
}

// result[kRowBlock, columns] (+)= left[kRowBlock, depth] . panels, a tile of kRowBlock x kPanel in registers.
template <bool accumulate>
FASTSQL_LOOPS void multiply(const float* left, std::size_t left_stride, std::size_t depth, const float* panels,
                            std::size_t columns, float* result, std::size_t result_stride) {
  for (std::size_t first = 0; first < columns; first += kPanel) {
    float tile[kRowBlock][kPanel];
    for (std::size_t row = 0; row < kRowBlock; ++row) {
      for (std::size_t lane = 0; lane < kPanel; ++lane) tile[row][lane] = 0.0f;
    }
    for (std::size_t k = 0; k < depth; ++k, panels += kPanel) {
      for (std::size_t row = 0; row < kRowBlock; ++row) {
        const float factor = left[row * left_stride + k];
        for (std::size_t lane = 0; lane < kPanel; ++lane) tile[row][lane] += factor * panels[lane];
      }
    }
    for (std::size_t row = 0; row < kRowBlock; ++row) {
      float* target = result + row * result_stride + first;
      for (std::size_t lane = 0; lane < kPanel; ++lane) {
        target[lane] = accumulate ? target[lane] + tile[row][lane] : tile[row][lane];
      }
    }
  }
}

// e^x for x <= 0, to about 2e-7 relative; below -87 it stays at e^-87. Cephes' expf polynomial: x is split into
// n ln 2 + r with |r| <= ln 2 / 2, and 2^n is put together from its exponent bits.
inline float exp_nonpositive(float x) {
  x = x < -87.0f ? -87.0f : x;
  const float shifted = x * 1.44269504f + 12582912.0f;  // 1.5 * 2^23: the sum's low bits are round(x / ln 2)
  const float n = shifted - 12582912.0f;
  const float r = (x - n * 0.693359375f) + n * 2.12194440e-4f;
  float p = 1.9875691500e-4f;
  p = p * r + 1.3981999507e-3f;
  p = p * r + 8.3334519073e-3f;
  p = p * r + 4.1665795894e-2f;
  p = p * r + 1.6666665459e-1f;
  p = p * r + 5.0000001201e-1f;
  p = p * r * r + r + 1.0f;
  std::uint32_t bits;
  __builtin_memcpy(&bits, &shifted, sizeof bits);
  bits = (bits << 23) + 0x3F800000u;
  float power;
  __builtin_memcpy(&power, &bits, sizeof power);
  return p * power;
}

// Adds bias[relation[j]] to scores[j], turns scores[columns] into e^(score - largest) in place, and returns
// their sum. scores has room up to the next multiple of kPanel; that tail is left at zero.
FASTSQL_LOOPS float softmax_numerators(float* scores, const std::uint8_t* relation, const float* bias,
                                       std::size_t columns) {
  const std::size_t end = (columns + kPanel - 1) / kPanel * kPanel;
  for (std::size_t j = 0; j < columns; ++j) scores[j] += bias[relation[j]];
  for (std::size_t j = columns; j < end; ++j) scores[j] = -__builtin_huge_valf();

  float lanes[kPanel];
  for (std::size_t lane = 0; lane < kPanel; ++lane) lanes[lane] = scores[lane];
  for (std::size_t j = kPanel; j < end; j += kPanel) {
    for (std::size_t lane = 0; lane < kPanel; ++lane) {
      lanes[lane] = scores[j + lane] > lanes[lane] ? scores[j + lane] : lanes[lane];
    }
  }
  for (std::size_t half = kPanel / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) {
      lanes[lane] = lanes[lane + half] > lanes[lane] ? lanes[lane + half] : lanes[lane];
    }
  }
  const float largest = lanes[0];

  for (std::size_t j = 0; j < end; ++j) scores[j] = exp_nonpositive(scores[j] - largest);
  for (std::size_t j = columns; j < end; ++j) scores[j] = 0.0f;

  for (std::size_t lane = 0; lane < kPanel; ++lane) lanes[lane] = 0.0f;
  for (std::size_t j = 0; j < end; j += kPanel) {
    for (std::size_t lane = 0; lane < kPanel; ++lane) lanes[lane] += scores[j + lane];
  }
  for (std::size_t half = kPanel / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] += lanes[lane + half];
  }
  return lanes[0];
}

// masses[relation] = sum of weights[j] over the columns j of that relation. Neighbouring columns share relations,
// and additions to one cell wait for each other: so four partial sums, in partial[4][kMaxRelations].
FASTSQL_LOOPS void sum_by_relation(const float* weights, const std::uint8_t* relation, std::size_t columns,
                                   std::size_t relations, float* partial, float* masses) {
  float* second = partial + kMaxRelations;
  float* third = partial + 2 * kMaxRelations;
  float* fourth = partial + 3 * kMaxRelations;
  for (std::size_t i = 0; i < relations; ++i) partial[i] = second[i] = third[i] = fourth[i] = 0.0f;
  std::size_t j = 0;
  for (; j + 4 <= columns; j += 4) {
    partial[relation[j]] += weights[j];
    second[relation[j + 1]] += weights[j + 1];
    third[relation[j + 2]] += weights[j + 2];
    fourth[relation[j + 3]] += weights[j + 3];
  }
  for (; j < columns; ++j) partial[relation[j]] += weights[j];
  for (std::size_t i = 0; i < relations; ++i) masses[i] = (partial[i] + second[i]) + (third[i] + fourth[i]);
}

}  // namespace

void FASTSQL_KERNEL(const AttentionSizes& sizes, const AttentionPointers& pointers) {
  const auto [heads, rows, columns, head_size, relations] = sizes;
  const std::size_t padded_columns = padded(columns), padded_relations = padded(relations);
  const std::size_t padded_head = padded(head_size);
  const float scale = 1.0f / __builtin_sqrtf(static_cast<float>(head_size));

  float* next = pointers.workspace;
  const auto take = [&next](std::size_t size) {
    float* start = next;
    next += size;
    return start;
  };
  float* keys = take(padded_columns * head_size);              // panels of key^T
  float* relation_keys = take(padded_relations * head_size);   // panels of relation_key^T
  float* values = take(columns * padded_head);                 // panels of value
  float* relation_values = take(relations * padded_head);      // panels of relation_value
  float* queries = take(kRowBlock * head_size);                // a block of query rows, scaled
  float* scores = take(kRowBlock * padded_columns);            // their scores, then weights
  float* biases = take(kRowBlock * padded_relations);          // query . relation_key
  float* masses = take(kRowBlock * padded_relations);          // weight per relation
  float* partial = take(4 * kMaxRelations);
  float* results = take(kRowBlock * padded_head);

  pack_transposed(pointers.relation_key, head_size, relations, relation_keys);
  pack_panels(pointers.relation_value, relations, head_size, relation_values);
  for (std::size_t head = 0; head < heads; ++head) {
    pack_transposed(pointers.key + head * columns * head_size, head_size, columns, keys);
    pack_panels(pointers.value + head * columns * head_size, columns, head_size, values);
    for (std::size_t first = 0; first < rows; first += kRowBlock) {
      const std::size_t count = rows - first < kRowBlock ? rows - first : kRowBlock;
      const float* query = pointers.query + (head * rows + first) * head_size;
      // The last block may be short: its missing rows are zeros that use the last row's relations.
      for (std::size_t i = 0; i < kRowBlock * head_size; ++i) {
        queries[i] = i < count * head_size ? query[i] * scale : 0.0f;
      }
      const std::uint8_t* relation[kRowBlock];
      for (std::size_t row = 0; row < kRowBlock; ++row) {
        relation[row] = pointers.relations + (first + (row < count ? row : count - 1)) * columns;
      }

      multiply<false>(queries, head_size, head_size, keys, columns, scores, padded_columns);
      multiply<false>(queries, head_size, head_size, relation_keys, relations, biases, padded_relations);
      float sums[kRowBlock];
      for (std::size_t row = 0; row < kRowBlock; ++row) {
        sums[row] = softmax_numerators(scores + row * padded_columns, relation[row],
                                       biases + row * padded_relations, columns);
        sum_by_relation(scores + row * padded_columns, relation[row], columns, relations, partial,
                        masses + row * padded_relations);
      }

      multiply<false>(scores, padded_columns, columns, values, head_size, results, padded_head);
      multiply<true>(masses, padded_relations, relations, relation_values, head_size, results, padded_head);

      float* output = pointers.output + (head * rows + first) * head_size;
      for (std::size_t row = 0; row < count; ++row) {
        const float norm = 1.0f / sums[row];
        for (std::size_t i = 0; i < head_size; ++i) output[row * head_size + i] = results[row * padded_head + i] * norm;
      }
    }
  }
}

}  // namespace fastsql::cpu
