// Kernels of a decoder step; see core/kernels.h for what such a file may hold. In the layout of heads that the decoder uses, a
// register holds the same element of all heads (or of some, where there are more heads than lanes), so scores of a row are one
// register, or `groups` of them.
#include "decode/decode_cpu.h"

#include "core/vectors.h"

namespace fastsql::cpu::FASTSQL_SET {
namespace {

static_assert(kLanes <= kMostLanes, "workspaces are sized for the widest register");

// Each loop nest is a function of its own: inlined into one body they run out of registers.
#define FASTSQL_LOOPS __attribute__((noinline))

constexpr Vector kZero = {};

typedef std::int32_t LaneNumbers __attribute__((vector_size(kLanes * sizeof(std::int32_t))));

// Adds to each lane the one whose number differs by `distance`.
template <std::size_t distance>
inline Vector add_across(Vector lanes) {
#ifdef __clang__  // which has no __builtin_shuffle, and makes a shuffle of this loop
  Vector others;
  for (std::size_t lane = 0; lane < kLanes; ++lane) others[lane] = lanes[lane ^ distance];
  return lanes + others;
#else
  LaneNumbers others;
  for (std::size_t lane = 0; lane < kLanes; ++lane) others[lane] = static_cast<std::int32_t>(lane ^ distance);
  return lanes + __builtin_shuffle(lanes, others);
#endif
}

// Adds to each lane all others of the same head, which lie `heads` apart.
inline Vector sum_of_heads(Vector lanes, std::size_t heads) {
  if (kLanes > 8 && heads <= 8) lanes = add_across<8>(lanes);
  if (kLanes > 4 && heads <= 4) lanes = add_across<4>(lanes);
  if (heads <= 2) lanes = add_across<2>(lanes);
  return heads == 1 ? add_across<1>(lanes) : lanes;
}

inline const float* row_at(const float* rows, const AttendedRows& block, std::size_t row) {
  return rows + (block.places == nullptr ? row : static_cast<std::size_t>(block.places[row])) * block.stride;
}

// Floats of scores that a row has for each query.
inline std::size_t lanes_of_row(const HeadAttention& attention) {
  return attention.padded_heads > kLanes ? attention.padded_heads : kLanes;
}

// Rows that are scored at once, by the registers that there are.
constexpr std::size_t kScored = kLanes >= 16 ? 4 : 2;

// scores[query, row, lanes] of `rows` rows of a block; `score_stride` floats from query to query.
template <std::size_t count, std::size_t rows>
FASTSQL_LOOPS void score_rows(const HeadAttention& attention, const AttendedRows& block, std::size_t first, float* scores,
                              std::size_t score_stride) {
  const std::size_t step = lanes_of_row(attention);
  const float* keys[rows];
  for (std::size_t row = 0; row < rows; ++row) keys[row] = row_at(block.keys, block, first + row);
  for (std::size_t group = 0; group < step; group += kLanes) {
    Vector sums[rows][count];
#pragma GCC unroll 4
    for (std::size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (std::size_t query = 0; query < count; ++query) sums[row][query] = kZero;
    }
    for (std::size_t place = group; place < attention.width; place += step) {
      Vector factors[rows];
#pragma GCC unroll 4
      for (std::size_t row = 0; row < rows; ++row) factors[row] = load(keys[row] + place);
#pragma GCC unroll 4
      for (std::size_t query = 0; query < count; ++query) {
        const Vector part = load(attention.queries + query * attention.query_stride + place);
#pragma GCC unroll 4
        for (std::size_t row = 0; row < rows; ++row) sums[row][query] += factors[row] * part;
      }
    }
#pragma GCC unroll 4
    for (std::size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 4
      for (std::size_t query = 0; query < count; ++query) {
        store(scores + query * score_stride + row * step + group,
              sum_of_heads(sums[row][query], attention.padded_heads) * attention.scale);
      }
    }
  }
}

template <std::size_t count>
void score(const HeadAttention& attention, std::size_t first, std::size_t last) {
  const std::size_t step = lanes_of_row(attention), stride = attention.rows() * step;
  std::size_t before = 0;
  for (const AttendedRows& block : attention.blocks) {
    std::size_t row = first > before ? first - before : 0;
    const std::size_t end = last < before + block.n ? (last > before ? last - before : 0) : block.n;
    float* scores = attention.scores + before * step;
    for (; row + kScored <= end; row += kScored) score_rows<count, kScored>(attention, block, row, scores + row * step, stride);
    for (; row < end; ++row) score_rows<count, 1>(attention, block, row, scores + row * step, stride);
    before += block.n;
  }
}

// mixed[query, kVectors registers from `place` on] = weighted sum of both blocks' values.
template <std::size_t count, std::size_t kVectors>
FASTSQL_LOOPS void mix_rows(const HeadAttention& attention, std::size_t place) {
  const std::size_t step = lanes_of_row(attention), rows = attention.rows(), weight_stride = rows * step;
  const float* norms = attention.scores + kQueryBlock * weight_stride;
  Vector sums[count][kVectors];
  for (std::size_t query = 0; query < count; ++query) {
    for (std::size_t i = 0; i < kVectors; ++i) sums[query][i] = kZero;
  }
  // Registers of one call lie in one group, or this call has one register only.
  const float* weight = attention.scores + place % step;
  for (const AttendedRows& block : attention.blocks) {
    for (std::size_t row = 0; row < block.n; ++row, weight += step) {
      const float* value = row_at(block.values, block, row) + place;
      Vector factors[count];
      for (std::size_t query = 0; query < count; ++query) factors[query] = load(weight + query * weight_stride);
      for (std::size_t i = 0; i < kVectors; ++i) {
        const Vector part = load(value + i * kLanes);
        for (std::size_t query = 0; query < count; ++query) sums[query][i] += factors[query] * part;
      }
    }
  }
  for (std::size_t query = 0; query < count; ++query) {
    const Vector norm = load(norms + query * step + place % step);
    for (std::size_t i = 0; i < kVectors; ++i) {
      store(attention.output + query * attention.width + place + i * kLanes, sums[query][i] * norm);
    }
  }
}

constexpr std::size_t kMixed = 4;  // registers of a row's values that are mixed at once
static_assert(kMixed * kLanes <= kMixedTogether && kMixedTogether % (kMixed * kLanes) == 0);

template <std::size_t count>
void mix(const HeadAttention& attention, std::size_t place, std::size_t end) {
  if (lanes_of_row(attention) == kLanes) {
    for (; place + kMixed * kLanes <= end; place += kMixed * kLanes) mix_rows<count, kMixed>(attention, place);
  }
  for (; place < end; place += kLanes) mix_rows<count, 1>(attention, place);
}

}  // namespace

void score_heads(const HeadAttention& attention, std::size_t first, std::size_t last) {
  switch (attention.count) {
    case 1:
      return score<1>(attention, first, last);
    case 2:
      return score<2>(attention, first, last);
    case 3:
      return score<3>(attention, first, last);
    default:
      return score<kQueryBlock>(attention, first, last);
  }
}

void weigh_heads(const HeadAttention& attention, std::size_t query) {
  const std::size_t step = lanes_of_row(attention), rows = attention.rows();
  float* norms = attention.scores + kQueryBlock * rows * step + query * step;
  for (std::size_t group = 0; group < step; group += kLanes) {
    float* lanes = attention.scores + query * rows * step + group;
    Vector largest = load(lanes), sum = kZero;
    for (std::size_t row = 1; row < rows; ++row) {
      const Vector other = load(lanes + row * step);
      largest = other > largest ? other : largest;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      const Vector weight = exp_nonpositive(load(lanes + row * step) - largest);
      store(lanes + row * step, weight);
      sum += weight;
    }
    store(norms + group, 1.0f / sum);
  }
}

void mix_heads(const HeadAttention& attention, std::size_t first, std::size_t last) {
  switch (attention.count) {
    case 1:
      return mix<1>(attention, first, last);
    case 2:
      return mix<2>(attention, first, last);
    case 3:
      return mix<3>(attention, first, last);
    default:
      return mix<kQueryBlock>(attention, first, last);
  }
}

namespace {

inline float sum_of_lanes(Vector lanes) {
  float values[kLanes];
  store(values, lanes);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) values[lane] += values[lane + half];
  }
  return values[0];
}

inline float dot(const float* one, const float* other, std::size_t d) {
  Vector sums = kZero;
  std::size_t i = 0;
  for (; i + kLanes <= d; i += kLanes) sums += load(one + i) * load(other + i);
  float sum = sum_of_lanes(sums);
  for (; i < d; ++i) sum += one[i] * other[i];
  return sum;
}

}  // namespace

void pointer_scores(const float* query, const float* rows, const std::int32_t* places, std::size_t n, std::size_t d, float scale,
                    float* scores) {
  for (std::size_t i = 0; i < n; ++i) scores[i] = scale * dot(query, rows + static_cast<std::size_t>(places[i]) * d, d);
}

float shift_and_sum(float* scores, std::size_t n) {
  float largest = scores[0], sum = 0.0f;
  for (std::size_t i = 1; i < n; ++i) largest = scores[i] > largest ? scores[i] : largest;
  for (std::size_t i = 0; i < n; ++i) {
    scores[i] -= largest;
    sum += exp_nonpositive(scores[i]);
  }
  return sum;
}

}  // namespace fastsql::cpu::FASTSQL_SET
