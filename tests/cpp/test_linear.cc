#include "linear/linear.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <utility>
#include <vector>

#include "allocations.h"
#include "core/error.h"
#include "linear_definition.h"
#include "says.h"

using namespace fastsql;
using fastsql::test::finished;
using fastsql::test::Says;

namespace {

struct Problem {
  std::size_t rows, out, in;
  std::vector<float> x, values, scale, bias, before;
  std::vector<std::int8_t> quantised;

  Problem(std::size_t n, std::size_t out_size, std::size_t in_size) : rows(n), out(out_size), in(in_size) {
    std::mt19937 generator(static_cast<unsigned>(n * 1000003 + out * 1009 + in));
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& vector, std::size_t size, float spread) {
      vector.resize(size);
      for (float& entry : vector) entry = spread * normal(generator);
    };
    fill(x, rows * in, 1.0f);
    fill(values, out * in, 0.1f);
    fill(bias, out, 1.0f);
    fill(before, rows * out, 1.0f);
    scale.resize(out);
    for (float& entry : scale) entry = 0.001f + 0.0005f * std::abs(normal(generator));
    quantised.resize(out * in);
    for (auto& entry : quantised) entry = static_cast<std::int8_t>(static_cast<int>(generator() % 255) - 127);
  }

  Matrix matrix(bool int8) const {
    return int8 ? Matrix{out, in, nullptr, quantised.data(), scale.data()} : Matrix{out, in, values.data(), nullptr, nullptr};
  }

  // The definition in double precision.
  double product(bool int8, bool biased, std::size_t row, std::size_t channel) const {
    double sum = biased ? bias[channel] : 0.0;
    for (std::size_t k = 0; k < in; ++k) {
      const std::size_t at = channel * in + k;
      sum += double{x[row * in + k]} * (int8 ? quantised[at] * double{scale[channel]} : double{values[at]});
    }
    return sum;
  }
};

double worst(const Problem& problem, bool int8, bool biased, Then then, InstructionSet set, std::size_t stride) {
  const Linear linear(problem.matrix(int8), biased ? problem.bias.data() : nullptr, set);
  const std::size_t step = stride == 0 ? problem.out : stride;
  std::vector<float> y(problem.rows * step, -7.0f);
  for (std::size_t row = 0; row < problem.rows; ++row) {
    for (std::size_t channel = 0; channel < problem.out; ++channel) {
      y[row * step + channel] = problem.before[row * problem.out + channel];
    }
  }
  linear.apply(problem.x.data(), problem.rows, y.data(), then, {}, stride);
  double difference = 0;
  for (std::size_t row = 0; row < problem.rows; ++row) {
    for (std::size_t channel = 0; channel < step; ++channel) {
      double expected = -7.0;  // between the rows nothing is written
      if (channel < problem.out) {
        expected = finished(then, problem.product(int8, biased, row, channel), problem.before[row * problem.out + channel]);
      }
      difference = std::max(difference, std::abs(y[row * step + channel] - expected));
    }
  }
  return difference;
}

}  // namespace

TEST_CASE("a linear map computes its definition, at every instruction set and size") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const auto& [rows, out, in] : {std::tuple{1, 1, 1},
                                        {1, 256, 256},
                                        {2, 33, 7},
                                        {3, 130, 64},
                                        {4, 121, 256},
                                        {5, 96, 24},
                                        {7, 31, 40},
                                        {8, 32, 16},
                                        {9, 64, 5},
                                        {22, 72, 384},
                                        {64, 40, 24},
                                        {67, 65, 31}}) {
      for (const bool int8 : {false, true}) {
        INFO(name(set) << " " << rows << " x " << in << " -> " << out << (int8 ? " int8" : " float32"));
        const Problem problem(rows, out, in);
        CHECK(worst(problem, int8, true, Then::kStore, set, 0) < 2e-5);
        CHECK(worst(problem, int8, false, Then::kAdd, set, out + 3) < 2e-5);
      }
    }
  }
}

TEST_CASE("passing over inputs that are zero changes no bit") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const auto& [rows, out, in] : {std::tuple{1, 1, 1},
                                        {1, 256, 256},
                                        {2, 33, 7},
                                        {3, 130, 64},
                                        {4, 256, 1024},
                                        {5, 96, 24},
                                        {9, 64, 5},
                                        {22, 72, 384},
                                        {67, 65, 31},
                                        {2, 3, 5000}}) {
      for (const bool int8 : {false, true}) {
        for (const double zeros : {0.0, 0.5, 0.97, 1.0}) {
          INFO(name(set) << " " << rows << " x " << in << " -> " << out << (int8 ? " int8, " : " float32, ") << zeros
                         << " are zero");
          Problem problem(rows, out, in);
          std::mt19937 generator(5);
          for (float& entry : problem.x) {
            if (std::uniform_real_distribution<>()(generator) < zeros) entry = generator() % 2 ? 0.0f : -0.0f;
          }
          const Linear linear(problem.matrix(int8), problem.bias.data(), set);
          std::vector<float> all = problem.before, listed = problem.before;
          linear.apply(problem.x.data(), problem.rows, all.data(), Then::kAdd);
          linear.apply_to_sparse(problem.x.data(), problem.rows, listed.data(), Then::kAdd);
          CHECK(all == listed);
        }
      }
    }
  }
}

TEST_CASE("what comes after the product is what its name says") {
  for (const InstructionSet set : available_instruction_sets()) {
    for (const Then then : {Then::kStore, Then::kRelu, Then::kGelu, Then::kAdd}) {
      INFO(name(set) << " " << static_cast<int>(then));
      CHECK(worst(Problem(6, 70, 48), true, true, then, set, 70) < 2e-5);
    }
  }
}

TEST_CASE("GELU holds where its argument is large") {
  const float weight = 1.0f;
  const std::vector<float> x{-1000.0f, -30.0f, -9.0f, 0.0f, 9.0f, 30.0f, 1000.0f};
  for (const InstructionSet set : available_instruction_sets()) {
    std::vector<float> y(x.size());
    Linear({1, 1, &weight, nullptr, nullptr}, nullptr, set).apply(x.data(), x.size(), y.data(), Then::kGelu);
    for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(x[i] > 0 ? x[i] : 0).margin(1e-6));
  }
}

TEST_CASE("a row's result depends on no other row and on no number of threads") {
  const Problem problem(37, 300, 128);
  const Workers two(2), eight(8);
  for (const InstructionSet set : available_instruction_sets()) {
    const Linear linear(problem.matrix(true), problem.bias.data(), set);
    std::vector<float> together(problem.rows * problem.out);
    linear.apply(problem.x.data(), problem.rows, together.data(), Then::kGelu);
    for (std::size_t rows = 1; rows <= problem.rows; ++rows) {
      std::vector<float> part(rows * problem.out);
      const std::size_t first = problem.rows - rows;
      linear.apply(problem.x.data() + first * problem.in, rows, part.data(), Then::kGelu);
      INFO(name(set) << ", the last " << rows << " rows");
      CHECK(std::equal(part.begin(), part.end(), together.begin() + static_cast<std::ptrdiff_t>(first * problem.out)));
    }
    for (const Workers& workers : {two, eight}) {
      std::vector<float> shared(together.size());
      linear.apply(problem.x.data(), problem.rows, shared.data(), Then::kGelu, workers);
      CHECK(shared == together);
    }
  }
}

TEST_CASE("a product asks nothing of the heap") {
  const Problem problem(37, 300, 128);
  const Linear linear(problem.matrix(true), problem.bias.data());
  const Workers two(2);
  std::vector<float> y(problem.rows * problem.out);
  linear.apply(problem.x.data(), problem.rows, y.data(), Then::kStore, two);  // starts the other thread
  const std::size_t before = test::allocations();
  linear.apply(problem.x.data(), problem.rows, y.data(), Then::kStore, two);
  linear.apply(problem.x.data(), problem.rows, y.data());
  const std::size_t after = test::allocations();
  CHECK(after == before);
}

TEST_CASE("a matrix without entries is refused with its shape") {
  CHECK_THROWS_MATCHES(Linear({0, 5, nullptr, nullptr, nullptr}), ModelError, Says("[0, 5]"));
  CHECK_THROWS_MATCHES(Linear({5, 0, nullptr, nullptr, nullptr}), ModelError, Says("[5, 0]"));
}
