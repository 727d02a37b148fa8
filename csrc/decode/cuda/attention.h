// Attention of the decoder: to earlier decisions, of which each hypothesis has its own, and to the graph's rows, which all share. All in
// float32. kHead / 4 neighbouring lanes read a row of a head together, four elements each, so a warp sees kRowsAtOnce rows at a time;
// softmax is online (Milakov and Gimelshein, 2018), with a reference that follows the largest score only where that has grown by much.
#pragma once

#include "decode/cuda/question.h"

namespace fastsql::cuda {

// The sum of weights and weighted values so far of the rows that a lane has seen, its four elements; weights are powers of 2 relative
// to `reference`.
struct Attended {
  float reference, sum;
  float values[4];
};

__device__ __forceinline__ Attended nothing_attended() { return {-INFINITY, 0.0f, {}}; }

// Takes a row in: its score, in units of ln 2, and its values.
__device__ __forceinline__ void attend_to(Attended& seen, float score, const float4& value) {
  constexpr float kSlack = 8.0f;
  if (score > seen.reference + kSlack) {
    const float factor = exp2f(seen.reference - score);
    seen.reference = score;
    seen.sum *= factor;
    FASTSQL_UNROLL
    for (int i = 0; i < 4; ++i) seen.values[i] *= factor;
  }
  const float weight = exp2f(score - seen.reference);
  seen.sum += weight;
  seen.values[0] += weight * value.x;
  seen.values[1] += weight * value.y;
  seen.values[2] += weight * value.z;
  seen.values[3] += weight * value.w;
}

// What a part that has seen nothing, or weights relative to another reference, must be multiplied with.
__device__ __forceinline__ float change_of_reference(float from, float to) { return from == -INFINITY ? 0.0f : exp2f(from - to); }

// Adds what the lanes `distance` apart have seen.
__device__ __forceinline__ void join(Attended& seen, int distance) {
  const float other_reference = __shfl_xor_sync(kAllLanes, seen.reference, distance);
  const float reference = fmaxf(seen.reference, other_reference);
  const float factor = change_of_reference(seen.reference, reference);
  seen.reference = reference;
  seen.sum *= factor;
  seen.sum += __shfl_xor_sync(kAllLanes, seen.sum, distance);
  FASTSQL_UNROLL
  for (int i = 0; i < 4; ++i) {
    seen.values[i] *= factor;
    seen.values[i] += __shfl_xor_sync(kAllLanes, seen.values[i], distance);
  }
}

template <int kHead>
struct HeadLanes {
  static constexpr int kOfRow = kHead / 4;  // lanes that read a row together
  static constexpr int kRowsAtOnce = kLanes / kOfRow;
  static_assert(kHead == 32 || kHead == 64);

  // Which of the rows, and the first of the four elements.
  __device__ static int row() { return lane_index() / kOfRow; }
  __device__ static int element() { return lane_index() % kOfRow * 4; }

  // The product of a query and a row's key, in all lanes of the row.
  __device__ static float product(const float4& query, const float4& key) {
    float sum = query.x * key.x + query.y * key.y + query.z * key.z + query.w * key.w;
    FASTSQL_UNROLL
    for (int bits = kOfRow / 2; bits > 0; bits /= 2) sum += __shfl_xor_sync(kAllLanes, sum, bits);
    return sum;
  }
  // Scores in units of ln 2.
  __device__ static float scale() { return 1.44269504f / sqrtf(static_cast<float>(kHead)); }

  // What all rows of the warp have seen together.
  __device__ static void join_rows(Attended& seen) {
    FASTSQL_UNROLL
    for (int distance = kOfRow; distance < kLanes; distance *= 2) join(seen, distance);
  }
};

__device__ __forceinline__ float4 four_at(const float* from) { return *reinterpret_cast<const float4*>(from); }

// Attention of one hypothesis' head to its decisions, the present one included: node path[i] for i < steps, then `own`. One warp.
// keys_values [nodes, 2 d]; query and mixed [kHead].
template <int kHead>
__device__ __forceinline__ void attend_to_decisions(const float* query, const float* keys_values, const std::int32_t* path,
                                                    int steps, int own, int d, int head, float* mixed) {
  using Lanes = HeadLanes<kHead>;
  const int element = head * kHead + Lanes::element();
  const float4 asked = four_at(query + Lanes::element());
  Attended seen = nothing_attended();
  constexpr int kAhead = 4;  // rows that are fetched at once
  for (int first = 0; first <= steps; first += kAhead * Lanes::kRowsAtOnce) {
    const float* row[kAhead];
    float4 key[kAhead], value[kAhead];
    FASTSQL_UNROLL
    for (int k = 0; k < kAhead; ++k) {
      const int i = first + k * Lanes::kRowsAtOnce + Lanes::row();
      const int node = i < steps ? path[i] : own;  // beyond the last: read and not used
      row[k] = keys_values + static_cast<std::size_t>(node) * 2 * d + element;
    }
    FASTSQL_UNROLL
    for (int k = 0; k < kAhead; ++k) key[k] = four_at(row[k]), value[k] = four_at(row[k] + d);
    FASTSQL_UNROLL
    for (int k = 0; k < kAhead; ++k) {
      const float score = Lanes::product(asked, key[k]) * Lanes::scale();
      if (first + k * Lanes::kRowsAtOnce + Lanes::row() <= steps) attend_to(seen, score, value[k]);
    }
  }
  Lanes::join_rows(seen);
  if (Lanes::row() == 0) {
    FASTSQL_UNROLL
    for (int i = 0; i < 4; ++i) mixed[Lanes::element() + i] = seen.values[i] / seen.sum;
  }
}

// Two blocks of graph rows' keys and values, [n, 2 d] each, as one.
struct GraphRows {
  const float* first;
  const float* second;
  int n_first, n;

  __device__ __forceinline__ const float* row(int number, int d) const {
    return number < n_first ? first + static_cast<std::size_t>(number) * 2 * d
                            : second + static_cast<std::size_t>(number - n_first) * 2 * d;
  }
};

// What a warp has seen of the graph's rows for one hypothesis and head, in shared memory: reference, sum, values.
template <int kHead>
__device__ __forceinline__ float* partial_of(float* partial, int warp, int row) {
  return partial + (warp * kGroupRows + row) * (kHead + 2);
}

// The warp's part of the attention of `count` hypotheses' head: of every kSearchWarps * kRowsAtOnce rows, its kRowsAtOnce.
template <int kHead>
__device__ __forceinline__ void attend_to_part(const float* query, int count, const GraphRows& graph, int d, int head,
                                               float* partial) {
  using Lanes = HeadLanes<kHead>;
  constexpr int kTogether = 4;  // hypotheses that share what is loaded of a row
  const int element = head * kHead + Lanes::element(), warp = warp_index();
  for (int base = 0; base < count; base += kTogether) {
    float4 asked[kTogether];
    Attended seen[kTogether];
    FASTSQL_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      asked[i] = four_at(query + min(base + i, count - 1) * d + element);
      seen[i] = nothing_attended();
    }
    // The next rows are fetched while these are attended to; beyond the last, it stands in and is not used.
    const auto row_at = [&](int first) { return graph.row(min(first + Lanes::row(), graph.n - 1), d) + element; };
    const float* row = row_at(warp * Lanes::kRowsAtOnce);
    float4 next_key = four_at(row), next_value = four_at(row + d);
    for (int first = warp * Lanes::kRowsAtOnce; first < graph.n; first += kSearchWarps * Lanes::kRowsAtOnce) {
      const int number = first + Lanes::row();
      const float4 key = next_key, value = next_value;
      row = row_at(first + kSearchWarps * Lanes::kRowsAtOnce);
      next_key = four_at(row);
      next_value = four_at(row + d);
      FASTSQL_UNROLL
      for (int i = 0; i < kTogether; ++i) {
        if (base + i >= count) break;
        const float score = Lanes::product(asked[i], key) * Lanes::scale();
        if (number < graph.n) attend_to(seen[i], score, value);
      }
    }
    FASTSQL_UNROLL
    for (int i = 0; i < kTogether; ++i) {
      if (base + i >= count) break;
      Lanes::join_rows(seen[i]);
      if (Lanes::row() == 0) {
        float* to = partial_of<kHead>(partial, warp, base + i);
        to[0] = seen[i].reference;
        to[1] = seen[i].sum;
        FASTSQL_UNROLL
        for (int e = 0; e < 4; ++e) to[2 + Lanes::element() + e] = seen[i].values[e];
      }
    }
  }
}

// Attention of `count` hypotheses' head to the graph. query and mixed [count, d]. All threads of the block call it, and meet afterwards.
template <int kHead>
__device__ __forceinline__ void attend_to_graph(const float* query, int count, const GraphRows& graph, int d, int head,
                                                float* partial, float* mixed) {
  attend_to_part<kHead>(query, count, graph, d, head, partial);
  __syncthreads();
  for (int i = static_cast<int>(threadIdx.x); i < count * kHead; i += kSearchThreads) {
    const int row = i / kHead, element = i % kHead;
    float reference = -INFINITY, sum = 0.0f, value = 0.0f;
    for (int warp = 0; warp < kSearchWarps; ++warp) reference = fmaxf(reference, partial_of<kHead>(partial, warp, row)[0]);
    for (int warp = 0; warp < kSearchWarps; ++warp) {
      const float* part = partial_of<kHead>(partial, warp, row);
      const float factor = change_of_reference(part[0], reference);
      sum += part[1] * factor;
      value += part[2 + element] * factor;
    }
    mixed[row * d + head * kHead + element] = value / sum;
  }
  __syncthreads();
}

}  // namespace fastsql::cuda
