#include "decode/head_attention.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "core/kernels.h"

using namespace fastsql;

namespace {

// Queries and rows in the layout of decode/head_layout.h: element e of head h is float e * heads + h. Rows of the first block are
// picked by places.
struct Problem {
  std::size_t heads, head_size, width, count, picked, rows;
  std::vector<float> queries, keys, values, scores, output;
  std::vector<std::int32_t> places;

  Problem(std::size_t n_heads, std::size_t size, std::size_t n_queries, std::size_t n_picked, std::size_t n_rows)
      : heads(n_heads), head_size(size), width(n_heads * size), count(n_queries), picked(n_picked), rows(n_rows) {
    std::mt19937 random(static_cast<unsigned>(heads * 131 + count * 17 + picked + rows));
    std::normal_distribution<float> normal;
    for (auto [vector, size_of] : {std::pair{&queries, count}, {&keys, rows}, {&values, rows}}) {
      vector->resize(size_of * width);
      for (float& entry : *vector) entry = normal(random);
    }
    for (std::size_t i = 0; i < picked; ++i) places.push_back(static_cast<std::int32_t>(random() % rows));
    scores.resize(cpu::head_scores_size(heads, picked + rows));
    output.resize(count * width);
  }

  std::vector<float> attend(InstructionSet set, const Workers& workers = {}) {
    cpu::HeadAttention attention{};
    attention.queries = queries.data();
    attention.count = count;
    attention.query_stride = width;
    attention.blocks[0] = {keys.data(), values.data(), places.data(), picked, width};
    attention.blocks[1] = {keys.data(), values.data(), nullptr, rows, width};
    attention.width = width;
    attention.padded_heads = heads;
    attention.scale = 0.3f;
    attention.scores = scores.data();
    attention.output = output.data();
    decode::head_attention(attention, workers, set);
    return output;
  }

  // The definition in double precision: entry `element` of a query's head.
  double expected(std::size_t query, std::size_t head, std::size_t element) const {
    double sum = 0, mixed = 0;
    for (std::size_t i = 0; i < picked + rows; ++i) {
      const std::size_t row = i < picked ? static_cast<std::size_t>(places[i]) : i - picked;
      double score = 0;
      for (std::size_t e = 0; e < head_size; ++e) {
        score += double{queries[query * width + e * heads + head]} * double{keys[row * width + e * heads + head]};
      }
      const double weight = std::exp(0.3 * score);
      sum += weight;
      mixed += weight * double{values[row * width + element * heads + head]};
    }
    return mixed / sum;
  }
};

}  // namespace

TEST_CASE("attention of heads computes its definition, at every instruction set and size") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const auto& [heads, head_size, count, picked, rows] : {std::tuple{1, 16, 1, 0, 1},
                                                                {8, 32, 1, 3, 5},
                                                                {8, 32, 4, 0, 21},
                                                                {4, 8, 3, 2, 7},
                                                                {2, 24, 2, 1, 4},
                                                                {16, 3, 5, 6, 9},
                                                                {32, 2, 9, 0, 13},
                                                                {8, 10, 4, 7, 2}}) {
      INFO(name(set) << " " << heads << " heads of " << head_size << ", " << count << " queries, " << picked << " + " << rows);
      Problem problem(heads, head_size, count, picked, rows);
      const std::vector<float> output = problem.attend(set);
      double worst = 0;
      for (std::size_t query = 0; query < problem.count; ++query) {
        for (std::size_t head = 0; head < problem.heads; ++head) {
          for (std::size_t e = 0; e < problem.head_size; ++e) {
            const float found = output[query * problem.width + e * problem.heads + head];
            worst = std::max(worst, std::abs(found - problem.expected(query, head, e)));
          }
        }
      }
      CHECK(worst < 2e-6);
    }
  }
}

TEST_CASE("threads that share a large attention change no bit") {
  const Workers workers(3);
  for (const InstructionSet set : available_instruction_sets()) {
    for (const std::size_t count : {1, 3, 4, 6}) {
      INFO(name(set) << " " << count << " queries");
      Problem problem(8, 32, count, 40, 1100);
      const std::vector<float> alone = problem.attend(set);
      CHECK(problem.attend(set, workers) == alone);
    }
  }
}
