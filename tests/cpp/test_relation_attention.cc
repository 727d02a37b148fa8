#include "attention/relation_attention.h"

#include <cstdint>
#include <limits>
#include <random>

#include "check.h"
#include "core/error.h"

using namespace fastsql;

namespace {

struct Problem {
  std::size_t heads, rows, columns, head_size, relation_count;
  std::vector<float> query, key, value, relation_key, relation_value;
  std::vector<std::uint8_t> relations;

  Problem(std::size_t h, std::size_t n, std::size_t m, std::size_t d, std::size_t r, float spread = 1.0f)
      : heads(h), rows(n), columns(m), head_size(d), relation_count(r) {
    std::mt19937 generator(17);
    std::normal_distribution<float> normal(0.0f, spread);
    const auto fill = [&](std::vector<float>& values, std::size_t size) {
      values.resize(size);
      for (float& x : values) x = normal(generator);
    };
    fill(query, h * n * d);
    fill(key, h * m * d);
    fill(value, h * m * d);
    fill(relation_key, r * d);
    fill(relation_value, r * d);
    relations.resize(n * m);
    for (auto& relation : relations) relation = static_cast<std::uint8_t>(generator() % r);
  }

  RelationAttentionInput input() const {
    return {{query.data(), {heads, rows, head_size}},
            {key.data(), {heads, columns, head_size}},
            {value.data(), {heads, columns, head_size}},
            {relation_key.data(), {relation_count, head_size}},
            {relation_value.data(), {relation_count, head_size}},
            {relations.data(), {rows, columns}}};
  }

  // The formula of the header as it stands there, in double precision.
  std::vector<double> expected() const {
    std::vector<double> output(heads * rows * head_size, 0.0);
    std::vector<double> weights(columns);
    for (std::size_t h = 0; h < heads; ++h) {
      for (std::size_t i = 0; i < rows; ++i) {
        double largest = -std::numeric_limits<double>::infinity();
        for (std::size_t j = 0; j < columns; ++j) {
          double dot = 0.0;
          for (std::size_t c = 0; c < head_size; ++c) {
            dot += double{query[(h * rows + i) * head_size + c]} *
                   (double{key[(h * columns + j) * head_size + c]} + relation_key[relations[i * columns + j] * head_size + c]);
          }
          weights[j] = dot / std::sqrt(double(head_size));
          largest = std::max(largest, weights[j]);
        }
        double sum = 0.0;
        for (double& weight : weights) sum += weight = std::exp(weight - largest);
        for (std::size_t j = 0; j < columns; ++j) {
          for (std::size_t c = 0; c < head_size; ++c) {
            output[(h * rows + i) * head_size + c] +=
                weights[j] / sum *
                (double{value[(h * columns + j) * head_size + c]} + relation_value[relations[i * columns + j] * head_size + c]);
          }
        }
      }
    }
    return output;
  }
};

double largest_error(const Problem& problem, InstructionSet set) {
  std::vector<float> output(problem.heads * problem.rows * problem.head_size, 99.0f);
  relation_attention(problem.input(), {output.data(), {problem.heads, problem.rows, problem.head_size}}, set);
  const std::vector<double> expected = problem.expected();
  double error = 0.0;
  for (std::size_t i = 0; i < output.size(); ++i) {
    const double difference = std::abs(output[i] - expected[i]);
    error = difference <= error ? error : difference;  // NaN becomes the error
  }
  return error;
}

void run(const Problem& problem, const RelationAttentionInput& input) {
  std::vector<float> output(problem.heads * problem.rows * problem.head_size);
  relation_attention(input, {output.data(), {problem.heads, problem.rows, problem.head_size}});
}

}  // namespace

TEST_CASE("relation_attention", "every kernel agrees with the formula, whatever the sizes leave over") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const std::size_t rows : {1, 7, 8, 9, 33}) {
      for (const std::size_t columns : {1, 8, 31, 32, 65}) {
        CHECK(largest_error(Problem(2, rows, columns, 32, 5), set) < 1e-5);
      }
    }
    for (const std::size_t head_size : {1, 3, 16, 33, 64}) {
      CHECK(largest_error(Problem(3, 10, 40, head_size, 256), set) < 1e-5);
    }
  }
}

TEST_CASE("relation_attention", "no rows give no output") {
  const Problem problem(2, 0, 4, 8, 3);
  run(problem, problem.input());
}

TEST_CASE("relation_attention", "scores far apart neither overflow nor lose the winner") {
  for (const InstructionSet set : available_instruction_sets()) {
    CHECK(largest_error(Problem(2, 9, 40, 32, 7, 30.0f), set) < 1e-2);  // values of about 100, scores of about 10,000
  }
}

TEST_CASE("relation_attention", "shapes that disagree are refused by name") {
  const Problem problem(2, 4, 6, 8, 3);
  RelationAttentionInput input = problem.input();
  input.key.shape[0] = 1;
  CHECK_THROWS_SAYING(ModelError, "key has shape [1, 6, 8]", run(problem, input));
  input = problem.input();
  input.value.shape[1] = 5;
  CHECK_THROWS_SAYING(ModelError, "value has shape [2, 5, 8]; the other arguments ask for [2, 6, 8]", run(problem, input));
  input = problem.input();
  input.relation_value.shape[0] = 2;
  CHECK_THROWS_SAYING(ModelError, "relation_value", run(problem, input));
  input = problem.input();
  input.relations.shape = {6, 4};
  CHECK_THROWS_SAYING(ModelError, "relations has shape [6, 4]", run(problem, input));
}

TEST_CASE("relation_attention", "empty axes are refused") {
  const Problem problem(2, 4, 6, 8, 3);
  RelationAttentionInput input = problem.input();
  input.key.shape[1] = 0;
  CHECK_THROWS_SAYING(ModelError, "number of key rows is 0", run(problem, input));
  input = problem.input();
  input.relation_key.shape[0] = 257;
  CHECK_THROWS_SAYING(ModelError, "number of relations is 257", run(problem, input));
}

TEST_CASE("relation_attention", "an unknown relation is refused with its place, before anything is written") {
  Problem problem(1, 3, 4, 8, 3);
  problem.relations[2 * 4 + 1] = 3;
  std::vector<float> output(3 * 8, 7.0f);
  CHECK_THROWS_SAYING(ModelError, "relations[2, 1] is 3; the model has 3 relations",
                      relation_attention(problem.input(), {output.data(), {1, 3, 8}}));
  for (const float x : output) CHECK(x == 7.0f);
}
