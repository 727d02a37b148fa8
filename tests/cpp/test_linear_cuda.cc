#include "linear/linear_cuda.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <tuple>
#include <vector>

#include "core/error.h"
#include "core/layer_norm.h"
#include "gpu.h"
#include "linear_definition.h"
#include "says.h"

using namespace fastsql;
using namespace fastsql::test;

namespace {

constexpr double kTolerance = 8e-6;  // 2^-17, what splitting leaves of x

struct Problem {
  std::size_t rows, out, in;
  std::vector<float> x, values, scale, bias, before, norm_weight, norm_bias;
  std::vector<std::int8_t> quantised;

  Problem(std::size_t n, std::size_t out_size, std::size_t in_size) : rows(n), out(out_size), in(in_size) {
    std::mt19937 generator(static_cast<unsigned>(n * 1000003 + out * 1009 + in));
    std::normal_distribution<float> normal;
    const auto fill = [&](std::vector<float>& vector, std::size_t size, float spread, float centre = 0.0f) {
      vector.resize(size);
      for (float& entry : vector) entry = centre + spread * normal(generator);
    };
    fill(x, rows * in, 1.0f);
    fill(values, out * in, 0.1f);
    fill(bias, out, 1.0f);
    fill(before, rows * out, 1.0f);
    fill(norm_weight, in, 0.3f, 1.0f);
    fill(norm_bias, in, 0.3f);
    scale.resize(out);
    for (float& entry : scale) entry = 0.001f + 0.0005f * std::abs(normal(generator));
    quantised.resize(out * in);
    for (auto& entry : quantised) entry = static_cast<std::int8_t>(static_cast<int>(generator() % 256) - 128);
  }

  Matrix matrix(bool int8) const {
    return int8 ? Matrix{out, in, nullptr, quantised.data(), scale.data()} : Matrix{out, in, values.data(), nullptr, nullptr};
  }
};

// The largest difference from the definition in double precision, in units of what the terms of a sum add up to.
double worst(const Problem& problem, bool int8, bool normed, Then then, std::size_t stride) {
  const cuda::Linear linear(problem.matrix(int8), problem.bias.data());
  const cuda::LayerNorm norm(problem.norm_weight, problem.norm_bias);
  const cuda::LayerNormView view = norm.view();
  std::vector<float> before(problem.rows * stride, -7.0f);
  for (std::size_t row = 0; row < problem.rows; ++row) {
    std::copy_n(problem.before.data() + row * problem.out, problem.out, before.data() + row * stride);
  }
  const cuda::DeviceArray<float> x(problem.x), y(before);
  linear.apply(x.data(), problem.rows, y.data(), then, nullptr, normed ? &view : nullptr, stride);
  const std::vector<float> found = y.fetch();

  std::vector<float> rows = problem.x;
  if (normed) LayerNorm(problem.norm_weight, problem.norm_bias).apply(rows.data(), problem.rows, rows.data());
  double largest = 0;
  for (std::size_t row = 0; row < problem.rows; ++row) {
    for (std::size_t channel = 0; channel < stride; ++channel) {
      double expected = -7.0, size = 1.0;  // between the rows nothing is written
      if (channel < problem.out) {
        double sum = problem.bias[channel], absolute = std::abs(sum);
        for (std::size_t k = 0; k < problem.in; ++k) {
          const std::size_t at = channel * problem.in + k;
          const double weight = int8 ? problem.quantised[at] * double{problem.scale[channel]} : double{problem.values[at]};
          sum += double{rows[row * problem.in + k]} * weight;
          absolute += std::abs(double{rows[row * problem.in + k]} * weight);
        }
        const double old = problem.before[row * problem.out + channel];
        expected = finished(then, sum, old);
        size = absolute + (then == Then::kAdd ? std::abs(old) : 0.0);
      }
      const double difference = std::abs(found[row * stride + channel] - expected) / size;
      largest = difference <= largest ? largest : difference;  // NaN becomes the largest
    }
  }
  return largest;
}

}  // namespace

TEST_CASE("int8 numbers become bfloat16 without loss") {
  for (int low = -128; low < 128; ++low) {
    for (const int high : {-128, -127, -1, 0, 1, 64, 127}) {
      const auto byte = [](int value) { return std::uint32_t{static_cast<std::uint8_t>(value)}; };
      // The bytes between belong to others.
      const std::uint32_t pair = cuda::widen(byte(low) | 0xA500u | byte(high) << 16 | 0x5A000000u);
      CHECK(to_float({static_cast<std::uint16_t>(pair)}) == static_cast<float>(low));
      CHECK(to_float({static_cast<std::uint16_t>(pair >> 16)}) == static_cast<float>(high));
    }
  }
}

TEST_CASE("every entry of a tile of weights, and of a group of rows, has its own place") {
  std::vector<int> weights(cuda::kTileBytes), rows(static_cast<std::size_t>(cuda::split_size(40)));
  for (int output = 0; output < cuda::kTileOutputs; ++output) {
    for (int input = 0; input < cuda::kTileInputs; ++input)
      ++weights.at(static_cast<std::size_t>(cuda::weight_index(output, input)));
  }
  for (int row = 0; row < cuda::kGroupRows; ++row) {
    for (int input = 0; input < 64; ++input) {
      for (const int part : {0, cuda::kLowerPart}) ++rows.at(static_cast<std::size_t>(cuda::split_index(row, input) + part));
    }
  }
  CHECK(std::all_of(weights.begin(), weights.end(), [](int count) { return count == 1; }));
  CHECK(std::all_of(rows.begin(), rows.end(), [](int count) { return count == 1; }));
}

TEST_CASE("two bfloat16 numbers hold a float32 to 2^-17") {
  std::mt19937 generator(3);
  std::normal_distribution<float> normal;
  for (int i = 0; i < 10000; ++i) {
    const float x = normal(generator) * std::exp2(static_cast<float>(i % 40 - 20));
    Bfloat16 upper, lower;
    cuda::split(x, upper, lower);
    CHECK(std::abs(double{to_float(upper)} + to_float(lower) - x) <= std::abs(double{x}) / (1 << 17));
    std::uint32_t uppers, lowers;
    cuda::split_pair(0.0f, x, uppers, lowers);
    CHECK((uppers == std::uint32_t{upper.bits} << 16 && lowers == std::uint32_t{lower.bits} << 16));
  }
}

TEST_CASE("a linear map on the GPU computes its definition at every size", "[gpu]") {
  if (gpu_is_missing()) return;
  in_every_order([] {
    // The last ones have enough rows and outputs for the kernel that takes many.
    for (const auto& [rows, out, in] : {std::tuple{1, 1, 1},
                                        {1, 256, 256},
                                        {2, 33, 7},
                                        {9, 130, 64},
                                        {22, 121, 96},
                                        {70, 40, 264},
                                        {1990, 3, 7},
                                        {65, 2050, 40}}) {
      for (const bool int8 : {false, true}) {
        INFO(rows << " x " << in << " -> " << out << (int8 ? " int8" : " float32"));
        const Problem problem(static_cast<std::size_t>(rows), static_cast<std::size_t>(out), static_cast<std::size_t>(in));
        CHECK(worst(problem, int8, false, Then::kStore, problem.out) < kTolerance);
        CHECK(worst(problem, int8, true, Then::kAdd, problem.out + 3) < kTolerance);
      }
    }
  });
}

TEST_CASE("what comes after the product on the GPU is what its name says", "[gpu]") {
  if (gpu_is_missing()) return;
  for (const Then then : {Then::kStore, Then::kRelu, Then::kGelu, Then::kAdd}) {
    CAPTURE(static_cast<int>(then));
    CHECK(worst(Problem(6, 70, 48), true, true, then, 70) < kTolerance);
    CHECK(worst(Problem(2000, 70, 48), true, true, then, 70) < kTolerance);
  }
}

TEST_CASE("GELU on the GPU holds where its argument is large", "[gpu]") {
  if (gpu_is_missing()) return;
  const float weight = 1.0f;
  const std::vector<float> x{-1000.0f, -30.0f, -9.0f, 0.0f, 9.0f, 30.0f, 1000.0f};
  const cuda::DeviceArray<float> from(x), to(x.size());
  cuda::Linear({1, 1, &weight, nullptr, nullptr}).apply(from.data(), x.size(), to.data(), Then::kGelu, nullptr);
  const std::vector<float> y = to.fetch();
  for (std::size_t i = 0; i < x.size(); ++i) CHECK(y[i] == Approx(x[i] > 0 ? x[i] : 0).epsilon(1e-5).margin(1e-6));
}

TEST_CASE("a row's result on the GPU depends neither on other rows nor on their number", "[gpu]") {
  if (gpu_is_missing()) return;
  for (const bool int8 : {false, true}) {
    for (const std::size_t in : {std::size_t{264}, std::size_t{33}}) {
      CAPTURE(int8, in);
      const Problem problem(2053, 37, in);
      const cuda::Linear linear(problem.matrix(int8), problem.bias.data());
      const cuda::LayerNorm norm(problem.norm_weight, problem.norm_bias);
      const cuda::LayerNormView view = norm.view();
      const cuda::DeviceArray<float> together(problem.rows * problem.out);
      linear.apply(cuda::DeviceArray<float>(problem.x).data(), problem.rows, together.data(), Then::kGelu, nullptr, &view);
      const std::vector<float> expected = together.fetch();
      for (std::size_t rows = 1; rows <= 70; rows += rows < 35 ? 1 : 5) {
        const std::size_t first = problem.rows - rows;
        const cuda::DeviceArray<float> x(
            std::vector<float>(problem.x.begin() + static_cast<std::ptrdiff_t>(first * in), problem.x.end()));
        const cuda::DeviceArray<float> part(rows * problem.out);
        linear.apply(x.data(), rows, part.data(), Then::kGelu, nullptr, &view);
        const std::vector<float> found = part.fetch();
        INFO("the last " << rows << " rows");
        CHECK(std::equal(found.begin(), found.end(), expected.begin() + static_cast<std::ptrdiff_t>(first * problem.out)));
      }
    }
  }
}

TEST_CASE("bfloat16 rows are multiplied as the float32 rows that they are", "[gpu]") {
  if (gpu_is_missing()) return;
  for (const auto& [rows, in] : {std::tuple{std::size_t{5}, std::size_t{64}}, {21, 33}, {2000, 264}}) {
    Problem problem(rows, 40, in);
    std::vector<Bfloat16> rounded;
    for (float& x : problem.x) {
      rounded.push_back(to_bfloat16(x));
      x = to_float(rounded.back());
    }
    const cuda::Linear linear(problem.matrix(true), problem.bias.data());
    const cuda::DeviceArray<float> x(problem.x), expected(problem.before), found(problem.before);
    const cuda::DeviceArray<Bfloat16> narrow(rounded);
    linear.apply(x.data(), rows, expected.data(), Then::kAdd, nullptr);
    linear.apply(narrow.data(), rows, found.data(), Then::kAdd, nullptr);
    CHECK(found.fetch() == expected.fetch());
  }
}

TEST_CASE("attention's inputs are the results rounded to bfloat16", "[gpu]") {
  if (gpu_is_missing()) return;
  for (const std::size_t rows : {std::size_t{5}, std::size_t{2000}}) {
    const Problem problem(rows, 40, 64);
    const cuda::Linear linear(problem.matrix(true), problem.bias.data());
    const cuda::DeviceArray<float> x(problem.x), y(rows * 40);
    const cuda::DeviceArray<Bfloat16> rounded(std::vector<Bfloat16>(rows * 44, Bfloat16{7}));
    linear.apply(x.data(), rows, y.data(), Then::kStore, nullptr);
    linear.apply(x.data(), rows, rounded.data(), nullptr, nullptr, 44);
    const std::vector<float> expected = y.fetch();
    const std::vector<Bfloat16> found = rounded.fetch();
    bool equal = true;
    for (std::size_t i = 0; i < rows * 44; ++i) {
      equal &= found[i].bits == (i % 44 < 40 ? to_bfloat16(expected[i / 44 * 40 + i % 44]).bits : 7);
    }
    CHECK(equal);
  }
}

TEST_CASE("layer norm on the GPU gives what the processor gives", "[gpu]") {
  if (gpu_is_missing()) return;
  in_every_order([] {
    for (const auto& [rows, width] : {std::tuple{1, 1}, {3, 7}, {9, 64}, {22, 384}}) {
      const Problem problem(static_cast<std::size_t>(rows), 1, static_cast<std::size_t>(width));
      std::vector<float> expected(problem.x.size());
      LayerNorm(problem.norm_weight, problem.norm_bias, 1e-12f).apply(problem.x.data(), problem.rows, expected.data());
      const cuda::DeviceArray<float> x(problem.x);
      cuda::LayerNorm(problem.norm_weight, problem.norm_bias, 1e-12f).apply(x.data(), problem.rows, x.data(), nullptr);
      const std::vector<float> found = x.fetch();
      CAPTURE(rows, width);
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).epsilon(1e-5).margin(1e-5));
    }
  });
}

TEST_CASE("what cannot be multiplied on the GPU is refused") {
  CHECK_THROWS_MATCHES(cuda::Linear({0, 5, nullptr, nullptr, nullptr}), ModelError, Says("[0, 5]"));
  CHECK_THROWS_MATCHES(cuda::Linear({5, 0, nullptr, nullptr, nullptr}), ModelError, Says("[5, 0]"));
  CHECK_THROWS_MATCHES(cuda::LayerNorm({1.0f}, {}), ModelError, Says("1 weights and 0 biases"));
}

TEST_CASE("a norm of another width, or more rows than one launch takes, is refused", "[gpu]") {
  if (gpu_is_missing()) return;
  const float weights[2] = {1.0f, 2.0f};
  const cuda::Linear linear({1, 2, weights, nullptr, nullptr});
  const cuda::LayerNorm norm({1.0f}, {0.0f});
  const cuda::LayerNormView view = norm.view();
  float* const none = nullptr;
  CHECK_THROWS_MATCHES(linear.apply(none, 1, none, Then::kStore, nullptr, &view), ModelError,
                       Says("2 inputs follows a layer norm of 1"));
  CHECK_THROWS_MATCHES(linear.apply(none, 5000000, none, Then::kStore, nullptr), LimitError, Says("5000000 rows at once"));
}
