// The graph's first rows of a batch of questions, and the mean of the last ones. Mirror Engine::candidate_states and Engine::Reading of
// engine/encode_question.cc and engine/engine.cc, addition for addition.
#pragma once

#include <cstddef>
#include <cstdint>

#include "core/device.h"
#include "engine/inputs.h"

namespace fastsql::cuda {

// What one row of a question begins as: a token's state; for a candidate the mean of its span's and what the candidate is; for an
// earlier turn what its pooled question becomes, how long ago it was and whether it may be pointed at.
struct FirstRow {
  std::int32_t state;        // row of `tokens` of the token or turn, or of the question's first token
  std::int32_t inside;       // of a candidate: where the weights of the question's tokens begin; others: -1
  std::int32_t token_count;  // of a candidate: weights
  std::int32_t features[kCandidateFeatures];
  bool is_turn;
  std::int32_t turn[kTurnFeatures];
};

struct FirstRows {
  const FirstRow* rows;  // [count]
  std::size_t count;
  const float* tokens;  // [encoder's tokens, then turns, d], token_in of their states, Turns::question() of pooled questions
  const float* inside;
  const float* features[kCandidateFeatures];  // embeddings, [.., d] each
  const float* turn_features[kTurnFeatures];  // likewise, where there are turns
  std::size_t d;
};

// Queues rows [count, d]. Every pointer is to device memory.
void first_rows(const FirstRows& given, float* rows, cudaStream_t stream);

// Rows `first` to, not including, `first` + `count`.
struct Run {
  std::int32_t first, count;
};

// Queues means [runs, d] of runs of rows [.., d]; zeros for an empty one.
void mean_rows(const Run* runs, std::size_t count, const float* rows, std::size_t d, float* means, cudaStream_t stream);

}  // namespace fastsql::cuda
