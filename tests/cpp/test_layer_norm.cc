#include "core/layer_norm.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <random>
#include <vector>

#include "core/error.h"
#include "says.h"

using namespace fastsql;
using fastsql::test::Says;

namespace {

std::vector<float> draw(std::size_t size, float centre, unsigned seed) {
  std::mt19937 generator(seed);
  std::normal_distribution<float> normal(centre, 1.0f);
  std::vector<float> values(size);
  for (float& value : values) value = normal(generator);
  return values;
}

}  // namespace

TEST_CASE("layer norm computes its definition, at every instruction set and width") {
  const std::size_t rows = 5;
  for (const InstructionSet set : available_instruction_sets()) {
    for (const std::size_t width : {1, 3, 16, 24, 32, 100, 256, 384}) {
      const std::vector<float> x = draw(rows * width, 3.0f, 1), weight = draw(width, 1.0f, 2), bias = draw(width, 0.0f, 3);
      std::vector<float> y = x;
      LayerNorm(weight, bias, 1e-5f, set).apply(y.data(), rows, y.data());
      double worst = 0;
      for (std::size_t row = 0; row < rows; ++row) {
        const float* values = x.data() + row * width;
        double mean = 0, variance = 0;
        for (std::size_t i = 0; i < width; ++i) mean += values[i] / double(width);
        for (std::size_t i = 0; i < width; ++i) variance += (values[i] - mean) * (values[i] - mean) / double(width);
        for (std::size_t i = 0; i < width; ++i) {
          const double expected = (values[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
          worst = std::max(worst, std::abs(y[row * width + i] - expected));
        }
      }
      INFO(name(set) << ", width " << width);
      CHECK(worst < 2e-5);
    }
  }
}

TEST_CASE("a layer norm without weights, or with too few biases, is refused") {
  CHECK_THROWS_MATCHES(LayerNorm({}, {}), ModelError, Says("0 weights"));
  CHECK_THROWS_MATCHES(LayerNorm({1.0f, 1.0f}, {0.0f}), ModelError, Says("2 weights and 1 biases"));
}
