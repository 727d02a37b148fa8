#include "attention/relation_attention.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "allocations.h"
#include "core/error.h"
#include "says.h"

using namespace fastsql;
using fastsql::test::allocations;
using fastsql::test::Says;

namespace {

using Strided = HeadRows<const float>;

struct Sizes {
  std::size_t heads, rows, columns, head_size, relations;
};

struct Answer {
  std::vector<float> mixed;    // [heads, rows, head_size]
  std::vector<float> log_sum;  // [heads, rows]
};

struct Problem {
  Sizes sizes;
  std::vector<float> query, key, value, relation_key, relation_value;  // heads first
  std::vector<std::uint8_t> relations;

  explicit Problem(const Sizes& shape, float spread = 1.0f) : sizes(shape) {
    std::mt19937 generator(17);
    std::normal_distribution<float> normal(0.0f, spread);
    const auto fill = [&](std::vector<float>& values, std::size_t size) {
      values.resize(size);
      for (float& x : values) x = normal(generator);
    };
    const auto [h, n, m, d, r] = sizes;
    fill(query, h * n * d);
    fill(key, h * m * d);
    fill(value, h * m * d);
    fill(relation_key, r * d);
    fill(relation_value, r * d);
    relations.resize(n * m);
    for (auto& relation : relations) relation = static_cast<std::uint8_t>(generator() % r);
  }

  RelationAttentionInput input() const {
    const auto [h, n, m, d, r] = sizes;
    return {Strided::heads_first(query.data(), h, n, d),
            {Strided::heads_first(key.data(), h, m, d), Strided::heads_first(value.data(), h, m, d)},
            {},
            {relation_key.data(), {r, d}},
            {relation_value.data(), {r, d}},
            {relations.data(), n, m, m},
            1.0f / std::sqrt(static_cast<float>(d))};
  }

  Answer solve(const RelationAttentionInput& given, InstructionSet set = best_instruction_set(),
               const Workers& workers = {}) const {
    const auto [h, n, m, d, r] = sizes;
    Answer answer{std::vector<float>(h * n * d, 99.0f), std::vector<float>(h * n, 99.0f)};
    std::vector<float> workspace;
    relation_attention(given, {HeadRows<float>::heads_first(answer.mixed.data(), h, n, d), answer.log_sum.data()}, workspace,
                       workers, set);
    return answer;
  }

  Answer solve() const { return solve(input()); }

  // How far an answer is from the formula of the header as it stands there, in double precision; NaN where the answer holds one.
  double error_of(const Answer& answer) const {
    const auto [h, n, m, d, r] = sizes;
    double error = 0.0;
    const auto compare = [&error](double found, double expected) {
      const double difference = std::abs(found - expected);
      error = difference <= error ? error : difference;
    };
    std::vector<double> weights(m);
    for (std::size_t head = 0; head < h; ++head) {
      for (std::size_t i = 0; i < n; ++i) {
        double largest = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < m; ++j) {
          double dot = 0.0;
          for (std::size_t c = 0; c < d; ++c) {
            dot += double{query[(head * n + i) * d + c]} *
                   (double{key[(head * m + j) * d + c]} + relation_key[relations[i * m + j] * d + c]);
          }
          weights[j] = dot / std::sqrt(double(d));
          largest = std::max(largest, weights[j]);
        }
        double sum = 0.0;
        for (double& weight : weights) sum += weight = std::exp(weight - largest);
        compare(answer.log_sum[head * n + i], largest + std::log(sum));
        for (std::size_t c = 0; c < d; ++c) {
          double mixed = 0.0;
          for (std::size_t j = 0; j < m; ++j) {
            mixed += weights[j] / sum * (double{value[(head * m + j) * d + c]} + relation_value[relations[i * m + j] * d + c]);
          }
          compare(answer.mixed[(head * n + i) * d + c], mixed);
        }
      }
    }
    return error;
  }
};

// [heads, rows, size] as [rows, heads, size] with something before, between and behind.
std::vector<float> beside(const std::vector<float>& first, std::size_t heads, std::size_t rows, std::size_t size,
                          std::size_t stride) {
  std::vector<float> all(rows * stride, 1e30f);
  for (std::size_t head = 0; head < heads; ++head) {
    for (std::size_t row = 0; row < rows; ++row) {
      std::copy_n(first.begin() + static_cast<std::ptrdiff_t>((head * rows + row) * size), size,
                  all.begin() + static_cast<std::ptrdiff_t>(row * stride + head * size));
    }
  }
  return all;
}

}  // namespace

TEST_CASE("every kernel agrees with the formula, whatever the sizes leave over") {
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(name(set));
    for (const std::size_t rows : {1, 4, 5, 8, 33}) {
      for (const std::size_t columns : {1, 8, 31, 32, 65}) {
        const Problem problem({8, rows, columns, 32, 5});
        CHECK(problem.error_of(problem.solve(problem.input(), set)) < 1e-5);
      }
    }
    for (const std::size_t heads : {1, 2, 4, 5, 12, 16}) {
      for (const std::size_t head_size : {1, 3, 8, 33, 64}) {
        const Problem problem({heads, 10, 40, head_size, 256});
        CHECK(problem.error_of(problem.solve(problem.input(), set)) < 1e-5);
      }
    }
  }
}

TEST_CASE("no rows give no output") { CHECK(Problem({2, 0, 4, 8, 3}).solve().mixed.empty()); }

TEST_CASE("scores far apart neither overflow nor lose the winner") {
  for (const InstructionSet set : available_instruction_sets()) {
    const Problem problem({8, 9, 40, 32, 7}, 30.0f);  // values of about 100, scores of about 10,000
    CHECK(problem.error_of(problem.solve(problem.input(), set)) < 1e-2);
  }
}

TEST_CASE("columns may come in two blocks, and everything from the middle of wider rows") {
  for (const InstructionSet set : available_instruction_sets()) {
    CAPTURE(name(set));
    for (const std::size_t split : {0, 1, 17, 29}) {
      const Problem problem({8, 11, 30, 16, 9});
      const auto [h, n, m, d, r] = problem.sizes;
      const std::size_t stride = 3 * h * d + 5;
      const std::vector<float> query = beside(problem.query, h, n, d, stride);
      const std::vector<float> key = beside(problem.key, h, m, d, stride), value = beside(problem.value, h, m, d, stride);
      const auto rows_of = [&, h = h, d = d](const std::vector<float>& all, std::size_t first, std::size_t count) {
        return Strided::heads_beside(all.data() + first * stride, h, count, d, stride);
      };
      std::vector<std::uint8_t> edges(n * (m + 7), 255);
      for (std::size_t i = 0; i < n; ++i) {
        std::copy_n(problem.relations.begin() + static_cast<std::ptrdiff_t>(i * m), m,
                    edges.begin() + static_cast<std::ptrdiff_t>(i * (m + 7)));
      }
      RelationAttentionInput input = problem.input();
      input.query = rows_of(query, 0, n);
      input.first = {rows_of(key, 0, split), rows_of(value, 0, split)};
      input.second = {rows_of(key, split, m - split), rows_of(value, split, m - split)};
      input.relations = {edges.data(), n, m, m + 7};

      std::vector<float> mixed(n * stride, 7.0f), workspace;
      relation_attention(input, {HeadRows<float>::heads_beside(mixed.data(), h, n, d, stride)}, workspace, {}, set);
      const Answer whole = problem.solve(problem.input(), set);
      CHECK(mixed == [&, h = h, n = n, d = d] {
        std::vector<float> expected = beside(whole.mixed, h, n, d, stride);
        std::replace(expected.begin(), expected.end(), 1e30f, 7.0f);
        return expected;
      }());
    }
  }
}

TEST_CASE("two halves are put together by their logarithmic sums") {
  const Problem whole({8, 12, 30, 32, 6});
  const auto [h, n, m, d, r] = whole.sizes;
  const Answer expected = whole.solve();
  const auto half = [&, n = n, m = m, d = d](std::size_t first, std::size_t count) {
    RelationAttentionInput input = whole.input();
    input.first.key.data += first * d;
    input.first.value.data += first * d;
    input.first.key.rows = input.first.value.rows = count;
    input.relations = {whole.relations.data() + first, n, count, m};
    return whole.solve(input);
  };
  const Answer left = half(0, 13), right = half(13, 17);
  for (std::size_t row = 0; row < h * n; ++row) {
    const double share = 1.0 / (1.0 + std::exp(double{left.log_sum[row]} - right.log_sum[row]));
    for (std::size_t c = row * d; c < (row + 1) * d; ++c) {
      CHECK(left.mixed[c] + share * (right.mixed[c] - left.mixed[c]) == Approx(expected.mixed[c]).margin(1e-5));
    }
  }
}

TEST_CASE("a row's result depends neither on other rows nor on the number of workers") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const std::size_t heads : {4, 8}) {
      CAPTURE(name(set), heads);
      // Alone, a row meets far fewer relations than all rows together.
      const Problem problem({heads, 45, 70, 32, 200});
      const auto [h, n, m, d, r] = problem.sizes;
      const Answer expected = problem.solve(problem.input(), set);
      for (const std::size_t threads : {2, 3, 8}) {
        const Workers workers(threads);
        for (int again = 0; again < 5; ++again) {
          const Answer answer = problem.solve(problem.input(), set, workers);
          CHECK(answer.mixed == expected.mixed);
          CHECK(answer.log_sum == expected.log_sum);
        }
      }
      for (std::size_t row = 0; row < n; row += 3) {
        RelationAttentionInput input = problem.input();
        input.query.data += row * d;
        input.query.rows = 1;
        input.relations = {problem.relations.data() + row * m, 1, m, m};
        std::vector<float> mixed(h * d), of_all, workspace;
        relation_attention(input, {HeadRows<float>::heads_first(mixed.data(), h, 1, d)}, workspace, {}, set);
        for (std::size_t head = 0; head < h; ++head) {
          const auto begin = expected.mixed.begin() + static_cast<std::ptrdiff_t>((head * n + row) * d);
          of_all.insert(of_all.end(), begin, begin + static_cast<std::ptrdiff_t>(d));
        }
        CHECK(mixed == of_all);
      }
    }
  }
}

TEST_CASE("a warm workspace asks for no memory") {
  const Problem large({8, 40, 60, 32, 20}), small({8, 9, 13, 32, 20});
  std::vector<float> workspace, mixed(8 * 40 * 32), log_sum(8 * 40);
  const Workers workers(2);
  const auto solve = [&](const Problem& problem) {
    relation_attention(problem.input(), {HeadRows<float>::heads_first(mixed.data(), 8, problem.sizes.rows, 32), log_sum.data()},
                       workspace, workers);
  };
  solve(large);
  const std::size_t before = allocations();
  solve(small);
  solve(large);
  const std::size_t after = allocations();
  CHECK(after == before);
}

TEST_CASE("shapes that disagree are refused by name") {
  const Problem problem({2, 4, 6, 8, 3});
  RelationAttentionInput input = problem.input();
  input.first.key.heads = 1;
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError, Says("key has shape [1, 6, 8]"));
  input = problem.input();
  input.first.value.rows = 5;
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError,
                       Says("value has shape [2, 5, 8]; the other arguments ask for [2, 6, 8]"));
  input = problem.input();
  input.second = input.first;
  input.second.value.head_size = 7;
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError, Says("second value has shape [2, 6, 7]"));
  input = problem.input();
  input.second = input.first;
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError, Says("relations has shape [4, 6]; the other arguments ask for [4, 12]"));
  input = problem.input();
  input.relation_value.shape[0] = 2;
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError, Says("relation_value has shape [2, 8]"));
  input = problem.input();
  input.relations = {problem.relations.data(), 6, 4, 4};
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError, Says("relations has shape [6, 4]"));
}

TEST_CASE("empty axes are refused") {
  const Problem problem({2, 4, 6, 8, 3});
  RelationAttentionInput input = problem.input();
  input.first.key.rows = input.first.value.rows = 0;
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError, Says("number of key rows is 0"));
  input = problem.input();
  input.relation_key.shape[0] = 257;
  CHECK_THROWS_MATCHES(problem.solve(input), ModelError, Says("number of relations is 257"));
}

TEST_CASE("an unknown relation is refused with its place, before anything is written") {
  Problem problem({1, 3, 4, 8, 3});
  problem.relations[2 * 4 + 1] = 3;
  std::vector<float> mixed(3 * 8, 7.0f), workspace;
  CHECK_THROWS_MATCHES(relation_attention(problem.input(), {HeadRows<float>::heads_first(mixed.data(), 1, 3, 8)}, workspace),
                       ModelError, Says("relations[2, 1] is 3; the model has 3 relations"));
  for (const float x : mixed) CHECK(x == 7.0f);
}
