#include "attention/relation_attention_tiles.h"

namespace fastsql::cpu::FASTSQL_SET {
namespace {

typedef std::uint32_t Bits __attribute__((vector_size(kLanes * sizeof(std::uint32_t))));

constexpr float kLog2E = 1.44269504f, kLn2 = 0.693147181f;

// result[kTileRows][kTile] (+)= sum over k of left[row][k] * right[k], vectors of lanes multiplied lane by lane.
template <bool accumulate>
__attribute__((noinline)) void multiply_tile(const float* left, std::size_t left_stride, const float* right, std::size_t depth,
                                             float* result, std::size_t result_stride) {
  Vector sums[kTileRows][kTileVectors];
#pragma GCC unroll 4
  for (std::size_t row = 0; row < kTileRows; ++row) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kTileVectors; ++v) {
      sums[row][v] = accumulate ? load(result + row * result_stride + v * kLanes) : Vector{};
    }
  }
  for (std::size_t k = 0; k < depth; ++k, left += kLanes, right += kTile) {
    Vector columns[kTileVectors];
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kTileVectors; ++v) columns[v] = load(right + v * kLanes);
#pragma GCC unroll 4
    for (std::size_t row = 0; row < kTileRows; ++row) {
      const Vector factor = load(left + row * left_stride);
#pragma GCC unroll 4
      for (std::size_t v = 0; v < kTileVectors; ++v) sums[row][v] += factor * columns[v];
    }
  }
#pragma GCC unroll 4
  for (std::size_t row = 0; row < kTileRows; ++row) {
#pragma GCC unroll 4
    for (std::size_t v = 0; v < kTileVectors; ++v) store(result + row * result_stride + v * kLanes, sums[row][v]);
  }
}

// 2^x for x <= 0, to about 1e-7 relative; below -125 it stays at 2^-125. With n the nearest integer, 2^(x - n) is a polynomial
// (minimax on [-1/2, 1/2]) and n is added to its exponent bits.
inline Vector exp2_nonpositive(Vector x) {
  const Vector lowest = Vector{} - 125.0f;
  x = x > lowest ? x : lowest;
  const Vector shifted = x + 12582912.0f;  // 1.5 * 2^23: the low bits of the sum are n
  const Vector r = x - (shifted - 12582912.0f);
  Vector p = Vector{} + 1.5345812e-4f;
  p = p * r + 1.3399931e-3f;
  p = p * r + 9.6184891e-3f;
  p = p * r + 5.5503286e-2f;
  p = p * r + 2.4022646e-1f;
  p = p * r + 6.9314718e-1f;
  p = p * r + 1.0f;
  return (Vector)((Bits)p + ((Bits)shifted << 23));
}

template <std::size_t group>
struct Softmax {
  typename Heads<group>::Vector sum, largest;
};

// `scores` [slots][group] holds products of the query in units of ln 2, those with relations before those with columns. Adds a
// column's relation to it and turns the columns into e^(score - largest); returns their sum and the largest score.
template <std::size_t group>
__attribute__((noinline)) Softmax<group> softmax_numerators(const AttentionLayout& layout, std::size_t columns,
                                                            const std::uint8_t* slot, float* scores) {
  typedef typename Heads<group>::Vector Lanes;
  float* column = scores + layout.relation_slots * group;
  const std::size_t padded = (layout.slots - layout.relation_slots) * group;
  Lanes largest = Lanes{} - __builtin_huge_valf(), largest_odd = largest;
  const auto add_bias = [=](std::size_t j, Lanes& top) {
    const Lanes score = load_heads<group>(column + j * group) + load_heads<group>(scores + slot[j] * group);
    store_heads<group>(column + j * group, score);
    top = score > top ? score : top;
  };
  std::size_t j = 0;
  for (; j + 2 <= columns; j += 2) {
    add_bias(j, largest);
    add_bias(j + 1, largest_odd);
  }
  if (j < columns) add_bias(j, largest);
  largest = largest_odd > largest ? largest_odd : largest;

  float repeated[kLanes], lanes[kLanes];
  for (std::size_t lane = 0; lane < kLanes; lane += group) store_heads<group>(repeated + lane, largest);
  const Vector top = load(repeated);
  for (std::size_t i = columns * group; i < padded; ++i) column[i] = -__builtin_huge_valf();
  Vector sums{};
  for (std::size_t i = 0; i < padded; i += kLanes) {
    const Vector power = exp2_nonpositive(load(column + i) - top);
    store(column + i, power);
    sums += power;
  }
  for (std::size_t i = columns * group; i < padded; ++i) column[i] = 0.0f;
  store(lanes, sums);
  Lanes sum = load_heads<group>(lanes);
  for (std::size_t lane = group; lane < kLanes; lane += group) sum += load_heads<group>(lanes + lane);
  return {sum, largest};
}

// Puts the sum of a relation's columns into its slot, for kTileRows rows. Rows are taken together since additions to one mass wait for each other, and neighbouring columns share relations.
template <std::size_t group>
__attribute__((noinline)) void sum_by_relation(const AttentionLayout& layout, std::size_t columns,
                                               const std::uint8_t* const* slot, float* scores) {
  const std::size_t stride = layout.slots * group, masses = layout.relation_slots * group;
  for (std::size_t row = 0; row < kTileRows; ++row) {
    for (std::size_t i = 0; i < masses; ++i) scores[row * stride + i] = 0.0f;
  }
  for (std::size_t j = 0; j < columns; ++j) {
#pragma GCC unroll 4
    for (std::size_t row = 0; row < kTileRows; ++row) {
      float* mass = scores + row * stride + slot[row][j] * group;
      store_heads<group>(mass, load_heads<group>(mass) + load_heads<group>(scores + row * stride + masses + j * group));
    }
  }
}

template <std::size_t group>
void attend_group(const AttentionTask& task, const AttentionLayout& layout, const float* packed, Group heads, std::size_t first,
                  const std::uint8_t* const* slot, float* scratch) {
  typedef typename Heads<group>::Vector Lanes;
  const std::size_t count = task.rows - first < kRowBlock ? task.rows - first : kRowBlock;
  const std::size_t rows = (count + kTileRows - 1) / kTileRows * kTileRows;
  const std::size_t stride = layout.slots * group, query_stride = layout.key_size * kLanes,
                    result_stride = layout.value_size * kLanes;
  const float* values = packed + layout.packed_keys();
  float* queries = scratch;                            // [rows][key_size][kLanes], the heads repeated to fill the lanes
  float* scores = queries + kRowBlock * query_stride;  // [rows][slots][group], then weights
  float* results = scores + kRowBlock * stride;        // [rows][value_size][kLanes]

  // The last row stands in for those that are missing in the last tile.
  const float scale = task.scale * kLog2E;
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t source = first + (row < count ? row : count - 1);
    const float* query = task.query.data + heads.first_head * task.query.head_stride + source * task.query.row_stride;
    transpose_heads<group>(query, task.query.head_stride, heads.heads, task.head_size,
                           [&](std::size_t i, std::size_t k, auto lanes) {
                             float* to = queries + row * query_stride + (i + k) * kLanes;
                             for (std::size_t lane = 0; lane < kLanes; lane += group)
                               store_heads<group>(to + lane, lanes * scale);
                           });
  }

  for (std::size_t slot = 0; slot < stride; slot += kTile) {
    for (std::size_t row = 0; row < rows; row += kTileRows) {
      multiply_tile<false>(queries + row * query_stride, query_stride, packed + slot * layout.key_size, layout.key_size,
                           scores + row * stride + slot, stride);
    }
  }

  Softmax<group> softmax[kRowBlock];
  for (std::size_t row = 0; row < rows; ++row) {
    softmax[row] = softmax_numerators<group>(layout, task.columns(), slot[row], scores + row * stride);
    if (row % kTileRows == kTileRows - 1) {
      const std::size_t tile = row + 1 - kTileRows;
      sum_by_relation<group>(layout, task.columns(), slot + tile, scores + tile * stride);
    }
  }

  const std::size_t depth = stride / kLanes;
  for (std::size_t k = 0; k < depth; k += kDepth) {
    const std::size_t some = depth - k < kDepth ? depth - k : kDepth;
    const auto multiply = k == 0 ? multiply_tile<false> : multiply_tile<true>;
    for (std::size_t entry = 0; entry < layout.value_size; entry += kTileVectors) {
      for (std::size_t row = 0; row < rows; row += kTileRows) {
        multiply(scores + row * stride + k * kLanes, stride, values + entry * stride + k * kTile, some,
                 results + row * result_stride + entry * kLanes, result_stride);
      }
    }
  }

  for (std::size_t row = 0; row < count; ++row) {
    const Lanes norm = 1.0f / softmax[row].sum;
    const float* result = results + row * result_stride;
    float* mixed = task.mixed.data + heads.first_head * task.mixed.head_stride + (first + row) * task.mixed.row_stride;
    untranspose_heads<group>(mixed, task.mixed.head_stride, heads.heads, task.head_size, [&](std::size_t i) {
      Lanes sum = load_heads<group>(result + i * kLanes);
      for (std::size_t lane = group; lane < kLanes; lane += group) sum += load_heads<group>(result + i * kLanes + lane);
      return sum * norm;
    });
    for (std::size_t head = 0; task.log_sum && head < heads.heads; ++head) {
      task.log_sum[(heads.first_head + head) * task.rows + first + row] =
          softmax[row].largest[head] * kLn2 + __builtin_logf(softmax[row].sum[head]);
    }
  }
}

template <std::size_t group>
void attend_all(const AttentionTask& task, const AttentionLayout& layout, const float* packed, std::size_t first,
                float* scratch) {
  const std::uint8_t* slot[kRowBlock] = {};  // the slots of a row's relations, [columns]
  std::uint8_t* renumbered = reinterpret_cast<std::uint8_t*>(scratch + layout.block_size());
  for (std::size_t row = 0; row < kRowBlock; ++row, renumbered += task.columns()) {
    if (first + row >= task.rows) {
      slot[row] = slot[row - 1];
      continue;
    }
    slot[row] = task.edges.data + (first + row) * task.edges.row_stride;
    if (task.slot_of == nullptr) continue;
    for (std::size_t j = 0; j < task.columns(); ++j) renumbered[j] = task.slot_of[slot[row][j]];
    slot[row] = renumbered;
  }
  for_each_group<group>(task, [&](Group heads, std::size_t number) {
    attend_group<group>(task, layout, packed + number * layout.packed(), heads, first, slot, scratch);
  });
}

}  // namespace

void attend(const AttentionTask& task, const AttentionLayout& layout, const float* packed, std::size_t first, float* scratch) {
  if constexpr (kLanes >= 8) {
    if (layout.group == 8) return attend_all<8>(task, layout, packed, first, scratch);
  }
  attend_all<4>(task, layout, packed, first, scratch);
}

}  // namespace fastsql::cpu::FASTSQL_SET
