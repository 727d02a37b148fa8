// The reverse network's last part: from the decoder's states to the probability of each piece of a question.

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/kernels.h"
#include "decode/decode_cpu.h"
#include "reverse/reverse_cpu.h"
#include "reverse/reverse_network.h"

namespace fastsql {
namespace {

// Rows whose scores are kept at once: they stay in the second-level cache.
constexpr std::size_t kScoredAtOnce = 64;

// log(e^one + e^other).
float log_add(float one, float other) {
  const float largest = std::max(one, other);
  return largest + std::log1p(std::exp(std::min(one, other) - largest));
}

}  // namespace

void ReverseNetwork::score(const Question& question, const Encoded& encoded, const ReverseSources& sources, const float* states,
                           Workspace& workspace, double* result) const {
  const std::size_t d = config_.d, rows = sources.count * question.count, outputs = config_.outputs.size() + 1;
  list_places(sources, encoded.first, workspace);
  Scratch& scratch = workspace.scratch;
  float* query = scratch.take(rows * d);
  float* written = scratch.take(kScoredAtOnce * outputs);
  float* logarithms = scratch.take(rows);
  const std::size_t most_parts = workers_.threads() == 1 ? 1 : 4 * workers_.threads();
  float* copied = scratch.take(most_parts * config_.max_tokens);
  copy_query_.apply(states, rows, query, Then::kStore, workers_);
  for (std::size_t first = 0; first < rows; first += kScoredAtOnce) {
    const std::size_t count = std::min(rows - first, kScoredAtOnce), parts = std::min(count, most_parts);
    output_.apply(states + first * d, count, written, Then::kStore, workers_);
    const auto part = [&](std::size_t index) {
      for (std::size_t i = count * index / parts; i < count * (index + 1) / parts; ++i) {
        const std::size_t row = first + i, source = row / question.count, piece = row % question.count;
        const std::size_t token = encoded.first[source], place = workspace.first_place[source];
        const Copyable copyable{sources.ids + token, sources.kinds + token, workspace.places.data() + place,
                                workspace.first_place[source + 1] - place, encoded.keys + token * d};
        logarithms[row] = score_piece(piece == 0 ? config_.start : question.pieces[piece - 1], question.pieces[piece],
                                      written + i * outputs, query + row * d, copyable, copied + index * config_.max_tokens);
      }
    };
    workers_.run(parts, std::cref(part));
  }
  for (std::size_t source = 0; source < sources.count; ++source) {
    result[source] = 0;
    for (std::size_t piece = 0; piece < question.count; ++piece) result[source] += logarithms[source * question.count + piece];
  }
}

// What can be copied: the places within its source of every token that is no symbol.
void ReverseNetwork::list_places(const ReverseSources& sources, const std::size_t* first, Workspace& workspace) const {
  workspace.places.clear();
  workspace.first_place.assign(1, 0);
  for (std::size_t source = 0; source < sources.count; ++source) {
    for (std::size_t token = first[source]; token < first[source + 1]; ++token) {
      if (sources.kinds[token] != kSymbol) workspace.places.push_back(static_cast<std::int32_t>(token - first[source]));
    }
    workspace.first_place.push_back(workspace.places.size());
  }
}

// Log probability of a piece behind `before`. `scores` has room for one of each place.
float ReverseNetwork::score_piece(std::int32_t before, std::int32_t piece, const float* written, const float* query,
                                  const Copyable& copyable, float* scores) const {
  const auto sum_exponentials = FASTSQL_KERNEL(sum_exponentials, set_);
  const auto pointer_scores = FASTSQL_KERNEL(pointer_scores, set_);
  const auto log_sum = [&](const float* of, std::size_t n) {
    const cpu::Exponentials found = sum_exponentials(of, n);
    return found.largest + std::log(found.sum);
  };
  const auto number = static_cast<std::size_t>(output_of_[static_cast<std::size_t>(piece)]), outputs = config_.outputs.size();
  float chosen = number == outputs ? written[number] - share_ : written[number];
  float total = log_sum(written, outputs + 1);
  if (copyable.n == 0) return chosen - total;

  pointer_scores(query, copyable.keys, copyable.places, copyable.n, config_.d, 1.0f / std::sqrt(static_cast<float>(config_.d)),
                 scores);
  for (std::size_t i = 0; i < copyable.n; ++i) {
    const std::int32_t place = copyable.places[i];
    const auto kind = static_cast<std::size_t>(copyable.kinds[place]);
    if (place > 0 && copyable.ids[place - 1] == before) scores[i] += copy_follows_[kind];
    scores[i] += copy_kinds_[kind];
  }
  total = log_add(total, log_sum(scores, copyable.n));
  for (std::size_t i = 0; i < copyable.n; ++i) {
    if (copyable.ids[copyable.places[i]] == piece) chosen = log_add(chosen, scores[i]);
  }
  return chosen - total;
}

}  // namespace fastsql
