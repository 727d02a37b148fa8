#include "attention/self_attention.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "allocations.h"

using namespace fastsql;

namespace {

struct Problem {
  std::size_t texts, tokens, heads, head_size;
  std::vector<float> qkv;

  Problem(std::size_t n, std::size_t t, std::size_t h, std::size_t e, float spread = 1.0f)
      : texts(n), tokens(t), heads(h), head_size(e), qkv(n * t * 3 * h * e) {
    std::mt19937 generator(7);
    std::normal_distribution<float> normal(0.0f, spread);
    for (float& value : qkv) value = normal(generator);
  }

  std::size_t width() const { return heads * head_size; }

  std::vector<float> solve(InstructionSet set, const Workers& workers = {}) const {
    std::vector<float> mixed(texts * tokens * width());
    Scratch scratch;
    self_attention({qkv.data(), texts, tokens, heads, head_size}, mixed.data(), scratch, workers, set);
    return mixed;
  }

  // Part 0 is queries, 1 keys, 2 values.
  double at(std::size_t part, std::size_t row, std::size_t head, std::size_t i) const {
    return qkv[(row * 3 + part) * width() + head * head_size + i];
  }

  // The definition in double precision.
  std::vector<double> expected() const {
    std::vector<double> mixed(texts * tokens * width());
    std::vector<double> weights(tokens);
    for (std::size_t row = 0; row < texts * tokens; ++row) {
      const std::size_t first = row / tokens * tokens;
      for (std::size_t head = 0; head < heads; ++head) {
        for (std::size_t j = 0; j < tokens; ++j) {
          double dot = 0;
          for (std::size_t i = 0; i < head_size; ++i) dot += at(0, row, head, i) * at(1, first + j, head, i);
          weights[j] = dot / std::sqrt(double(head_size));
        }
        const double largest = *std::max_element(weights.begin(), weights.end());
        double sum = 0;
        for (double& weight : weights) sum += weight = std::exp(weight - largest);
        for (std::size_t i = 0; i < head_size; ++i) {
          double value = 0;
          for (std::size_t j = 0; j < tokens; ++j) value += weights[j] / sum * at(2, first + j, head, i);
          mixed[row * width() + head * head_size + i] = value;
        }
      }
    }
    return mixed;
  }
};

}  // namespace

TEST_CASE("texts attend to themselves by the definition, at every instruction set and size") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const auto& [texts, tokens, heads, head_size, spread] :
         {std::tuple{1, 1, 1, 1, 1.0f}, {1, 22, 12, 32, 1.0f}, {3, 5, 2, 8, 1.0f}, {2, 33, 3, 40, 1.0f}, {1, 70, 1, 16, 9.0f}}) {
      const Problem problem(texts, tokens, heads, head_size, spread);
      const std::vector<float> mixed = problem.solve(set);
      const std::vector<double> expected = problem.expected();
      double worst = 0;
      for (std::size_t i = 0; i < mixed.size(); ++i) worst = std::max(worst, std::abs(mixed[i] - expected[i]));
      INFO(name(set) << ": " << texts << " texts of " << tokens << " tokens, " << heads << " heads of " << head_size);
      CHECK(worst < 1e-5 * spread * spread);
    }
  }
}

TEST_CASE("a text attends to itself the same alone, among others, and on any number of threads") {
  const Problem three(3, 9, 4, 16);
  Problem alone(1, 9, 4, 16);
  std::copy_n(three.qkv.begin() + static_cast<std::ptrdiff_t>(alone.qkv.size()), alone.qkv.size(), alone.qkv.begin());
  const std::vector<float> together = three.solve(best_instruction_set()), one = alone.solve(best_instruction_set());
  CHECK(std::equal(one.begin(), one.end(), together.begin() + static_cast<std::ptrdiff_t>(one.size())));
  for (const std::size_t threads : {2, 8}) CHECK(three.solve(best_instruction_set(), Workers(threads)) == together);
}

TEST_CASE("warm scratch memory is all that attention needs") {
  const Problem problem(2, 22, 12, 32);
  std::vector<float> mixed(2 * 22 * problem.width());
  Scratch scratch;
  const SelfAttention input{problem.qkv.data(), 2, 22, 12, 32};
  self_attention(input, mixed.data(), scratch);
  const std::size_t before = test::allocations();
  for (int again = 0; again < 3; ++again) {
    scratch.clear();
    self_attention(input, mixed.data(), scratch);
  }
  const std::size_t after = test::allocations();
  CHECK(after == before);
}
