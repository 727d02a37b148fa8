#include "attention/row_attention.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <tuple>
#include <vector>

#include "allocations.h"

using namespace fastsql;

namespace {

std::vector<float> normal(std::size_t size, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> values;
  std::vector<float> result(size);
  for (float& value : result) value = values(generator);
  return result;
}

// Queries [rows, width] beside keys and values [columns, 2 width].
struct Problem {
  std::size_t rows, columns, heads, head_size;
  bool causal;
  std::vector<float> query, keyed;

  Problem(std::size_t n, std::size_t m, std::size_t h, std::size_t e, bool seen)
      : rows(n), columns(m), heads(h), head_size(e), causal(seen), query(normal(n * h * e, 7)), keyed(normal(2 * m * h * e, 8)) {}

  std::size_t width() const { return heads * head_size; }

  RowAttention input(std::vector<float>& mixed) const {
    RowAttention one;
    one.query = query.data();
    one.rows = rows;
    one.query_stride = width();
    one.key = keyed.data();
    one.value = keyed.data() + width();
    one.columns = columns;
    one.stride = 2 * width();
    one.heads = heads;
    one.head_size = head_size;
    one.causal = causal;
    one.mixed = mixed.data();
    return one;
  }

  // The definition in double precision.
  double expected(std::size_t row, std::size_t head, std::size_t i) const {
    const std::size_t seen = causal ? row + 1 : columns, offset = head * head_size;
    double sum = 0, mixed = 0;
    for (std::size_t j = 0; j < seen; ++j) {
      double dot = 0;
      for (std::size_t k = 0; k < head_size; ++k) {
        dot += double(query[row * width() + offset + k]) * keyed[j * 2 * width() + offset + k];
      }
      const double weight = std::exp(dot / std::sqrt(double(head_size)));
      sum += weight;
      mixed += weight * keyed[(j * 2 + 1) * width() + offset + i];
    }
    return mixed / sum;
  }
};

std::vector<std::vector<float>> solve(const std::vector<Problem>& problems, InstructionSet set = best_instruction_set(),
                                      const Workers& workers = {}) {
  std::vector<std::vector<float>> mixed;
  for (const Problem& problem : problems) mixed.emplace_back(problem.rows * problem.width());
  Scratch scratch;
  row_attention(problems.size(), [&](std::size_t i) { return problems[i].input(mixed[i]); }, scratch, workers, set);
  return mixed;
}

}  // namespace

TEST_CASE("rows attend to others by the definition, at every instruction set and size") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const auto& [rows, columns, heads, head_size, causal] : {std::tuple{1, 1, 1, 1, false},
                                                                  {16, 45, 4, 64, false},
                                                                  {5, 33, 2, 8, false},
                                                                  {40, 3, 3, 20, false},
                                                                  {1, 1, 2, 8, true},
                                                                  {17, 17, 4, 64, true},
                                                                  {70, 70, 1, 10, true}}) {
      const Problem problem(rows, columns, heads, head_size, causal);
      const std::vector<float> mixed = solve({problem}, set)[0];
      double worst = 0;
      for (std::size_t i = 0; i < mixed.size(); ++i) {
        const std::size_t place = i % problem.width();
        const double expected = problem.expected(i / problem.width(), place / problem.head_size, place % problem.head_size);
        worst = std::max(worst, std::abs(mixed[i] - expected));
      }
      INFO(name(set) << ": " << rows << " rows, " << columns << " columns, " << heads << " heads of " << head_size);
      CHECK(worst < 1e-5);
    }
  }
}

TEST_CASE("rows get the same alone, among others, and on any number of threads") {
  const std::vector<Problem> problems = {{9, 20, 4, 16, false}, {12, 12, 4, 16, true}, {3, 70, 4, 16, false}};
  const auto together = solve(problems);
  for (std::size_t i = 0; i < problems.size(); ++i) CHECK(solve({problems[i]})[0] == together[i]);
  for (const std::size_t threads : {2, 8}) CHECK(solve(problems, best_instruction_set(), Workers(threads)) == together);
}

TEST_CASE("a causal row does not depend on those behind it") {
  const Problem whole(20, 20, 2, 16, true);
  Problem beginning(7, 7, 2, 16, true);
  std::copy_n(whole.query.begin(), beginning.query.size(), beginning.query.begin());
  std::copy_n(whole.keyed.begin(), beginning.keyed.size(), beginning.keyed.begin());
  const std::vector<float> one = solve({beginning})[0], other = solve({whole})[0];
  CHECK(std::equal(one.begin(), one.end(), other.begin()));
}

TEST_CASE("warm scratch memory is all that rows need") {
  const Problem problem(16, 45, 4, 32, false);
  std::vector<float> mixed(16 * problem.width());
  Scratch scratch;
  const auto input_of = [&](std::size_t) { return problem.input(mixed); };
  row_attention(3, std::cref(input_of), scratch);
  const std::size_t before = test::allocations();
  for (int again = 0; again < 3; ++again) {
    scratch.clear();
    row_attention(3, std::cref(input_of), scratch);
  }
  const std::size_t after = test::allocations();
  CHECK(after == before);
}
