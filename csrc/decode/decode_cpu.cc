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

// scores[query, row, lanes] of a block's rows; `score_stride` floats from query to query.
template <std::size_t count>
FASTSQL_LOOPS void score_rows(const HeadAttention& attention, const float* queries, const AttendedRows& block,
                              float* scores, std::size_t score_stride) {
  const std::size_t heads = attention.padded_heads, step = heads > kLanes ? heads : kLanes;
  for (std::size_t row = 0; row < block.n; ++row) {
    const float* key = row_at(block.keys, block, row);
    for (std::size_t group = 0; group < step; group += kLanes) {
      Vector sums[count];
      for (std::size_t query = 0; query < count; ++query) sums[query] = kZero;
      for (std::size_t place = group; place < attention.width; place += step) {
        const Vector factor = load(key + place);
        for (std::size_t query = 0; query < count; ++query) {
          sums[query] += factor * load(queries + query * attention.query_stride + place);
        }
      }
      for (std::size_t query = 0; query < count; ++query) {
        store(scores + query * score_stride + row * step + group, sum_of_heads(sums[query], heads) * attention.scale);
      }
    }
  }
}

// Turns scores [rows, step] into e^(score - largest of its lane), and writes one over their sums to `norms` [step].
FASTSQL_LOOPS void weigh_rows(float* scores, std::size_t rows, std::size_t step, float* norms) {
  for (std::size_t group = 0; group < step; group += kLanes) {
    float* lanes = scores + group;
    Vector largest = load(lanes);
    for (std::size_t row = 1; row < rows; ++row) {
      const Vector other = load(lanes + row * step);
      largest = other > largest ? other : largest;
    }
    float top[kLanes], sums[kLanes];
    store(top, largest);
    for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] = 0.0f;
    for (std::size_t row = 0; row < rows; ++row) {
      float* weights = lanes + row * step;
      for (std::size_t lane = 0; lane < kLanes; ++lane) {
        const float weight = exp_nonpositive(weights[lane] - top[lane]);
        weights[lane] = weight;
        sums[lane] += weight;
      }
    }
    for (std::size_t lane = 0; lane < kLanes; ++lane) norms[group + lane] = 1.0f / sums[lane];
  }
}

// mixed[query, kVectors registers from `place` on] = weighted sum of both blocks' values.
template <std::size_t count, std::size_t kVectors>
FASTSQL_LOOPS void mix_rows(const HeadAttention& attention, const float* weights, std::size_t weight_stride,
                            const float* norms, std::size_t place, float* output) {
  const std::size_t heads = attention.padded_heads, step = heads > kLanes ? heads : kLanes;
  Vector sums[count][kVectors];
  for (std::size_t query = 0; query < count; ++query) {
    for (std::size_t i = 0; i < kVectors; ++i) sums[query][i] = kZero;
  }
  // Registers of one call lie in one group, or this call has one register only.
  const float* weight = weights + place % step;
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
      store(output + query * attention.width + place + i * kLanes, sums[query][i] * norm);
    }
  }
}

constexpr std::size_t kMixed = 4;  // registers of a row's values that are mixed at once

template <std::size_t count>
void attend(const HeadAttention& attention, const float* queries, float* output, float* norms) {
  const std::size_t heads = attention.padded_heads, step = heads > kLanes ? heads : kLanes;
  const std::size_t rows = attention.blocks[0].n + attention.blocks[1].n, stride = rows * step;
  float* scores = attention.scores;
  score_rows<count>(attention, queries, attention.blocks[0], scores, stride);
  score_rows<count>(attention, queries, attention.blocks[1], scores + attention.blocks[0].n * step, stride);
  for (std::size_t query = 0; query < count; ++query) {
    weigh_rows(scores + query * stride, rows, step, norms + query * step);
  }
  std::size_t place = 0;
  if (step == kLanes) {
    for (; place + kMixed * kLanes <= attention.width; place += kMixed * kLanes) {
      mix_rows<count, kMixed>(attention, scores, stride, norms, place, output);
    }
  }
  for (; place < attention.width; place += kLanes) mix_rows<count, 1>(attention, scores, stride, norms, place, output);
}

}  // namespace

void head_attention(const HeadAttention& attention) {
  // Behind the scores lies room for the norms of a block of queries.
  const std::size_t step = attention.padded_heads > kLanes ? attention.padded_heads : kLanes;
  const std::size_t rows = attention.blocks[0].n + attention.blocks[1].n;
  float* norms = attention.scores + kQueryBlock * rows * step;
  for (std::size_t first = 0; first < attention.count; first += kQueryBlock) {
    const float* queries = attention.queries + first * attention.query_stride;
    float* output = attention.output + first * attention.width;
    switch (attention.count - first) {
      case 1:
        attend<1>(attention, queries, output, norms);
        break;
      case 2:
        attend<2>(attention, queries, output, norms);
        break;
      case 3:
        attend<3>(attention, queries, output, norms);
        break;
      default:
        attend<kQueryBlock>(attention, queries, output, norms);
    }
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

void pointer_scores(const float* query, const float* rows, const std::int32_t* places, std::size_t n, std::size_t d,
                    float scale, float* scores) {
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
