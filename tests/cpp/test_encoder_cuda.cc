#include "encoder/encoder_cuda.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "attention/self_attention.h"
#include "attention/self_attention_cuda.h"
#include "core/error.h"
#include "encoder/encoder.h"
#include "gpu.h"
#include "says.h"
#include "toy_model.h"

using namespace fastsql;
using namespace fastsql::test;

namespace {

constexpr std::size_t kAllFloat = std::numeric_limits<std::size_t>::max();

// A toy model whose heads are of a size that the kernels take.
model::Config wide_config(std::size_t head_size = 32) {
  model::Config config = toy_config();
  config.encoder = {2 * head_size, 2, 2, 72, 50, 80};  // hidden, layers, heads, ffn, vocabulary, positions
  return config;
}

using Ids = std::vector<std::int32_t>;

std::vector<Ids> random_texts(const std::vector<std::size_t>& lengths) {
  std::mt19937 generator(5);
  std::vector<Ids> texts;
  for (const std::size_t length : lengths) {
    Ids& ids = texts.emplace_back(length);
    for (auto& id : ids) id = static_cast<std::int32_t>(generator() % 50);
  }
  return texts;
}

std::vector<std::int32_t> beginnings(const std::vector<Ids>& texts) {
  std::vector<std::int32_t> first{0};
  for (const Ids& text : texts) first.push_back(first.back() + static_cast<std::int32_t>(text.size()));
  return first;
}

std::size_t longest_of(const std::vector<Ids>& texts) {
  std::size_t longest = 0;
  for (const Ids& text : texts) longest = std::max(longest, text.size());
  return longest;
}

std::vector<float> on_gpu(const cuda::Encoder& encoder, const std::vector<Ids>& texts) {
  Ids all;
  for (const Ids& text : texts) all.insert(all.end(), text.begin(), text.end());
  const cuda::DeviceArray<std::int32_t> ids(all), first(beginnings(texts));
  const cuda::DeviceArray<float> states(all.size() * encoder.config().hidden);
  cuda::DeviceScratch scratch;
  scratch.reserve(encoder.scratch_bytes(all.size()));
  encoder.encode({ids.data(), first.data(), texts.size(), all.size(), longest_of(texts)}, states.data(), scratch, nullptr);
  return states.fetch();
}

double largest_difference(const std::vector<float>& left, const std::vector<float>& right) {
  REQUIRE(left.size() == right.size());
  double largest = 0.0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(double{left[i]} - right[i]);
    largest = difference <= largest ? largest : difference;  // NaN becomes the largest
  }
  return largest;
}

}  // namespace

TEST_CASE("texts of different lengths attend to themselves on the GPU as on the processor", "[gpu]") {
  if (gpu_is_missing()) return;
  in_every_order([] {
    for (const std::size_t head_size : {std::size_t{32}, std::size_t{64}}) {
      for (const float spread : {1.0f, 6.0f}) {
        CAPTURE(head_size, spread);
        const std::vector<Ids> texts = random_texts({1, 24, 31, 32, 33, 100});
        const std::size_t heads = 2, width = heads * head_size, tokens = 221;
        std::mt19937 generator(7);
        std::normal_distribution<float> normal(0.0f, spread);
        std::vector<float> qkv(tokens * 3 * width), expected(tokens * width);
        for (float& x : qkv) x = normal(generator);
        Scratch scratch;
        std::size_t begin = 0;
        for (const Ids& text : texts) {
          self_attention({qkv.data() + begin * 3 * width, 1, text.size(), heads, head_size}, expected.data() + begin * width,
                         scratch);
          begin += text.size();
        }
        const cuda::DeviceArray<float> from(qkv), mixed(expected.size());
        const cuda::DeviceArray<std::int32_t> first(beginnings(texts));
        cuda::self_attention({from.data(), first.data(), texts.size(), 100, heads, head_size}, mixed.data(), nullptr);
        CHECK(largest_difference(mixed.fetch(), expected) < 1e-5 * double{spread} * double{spread});
      }
    }
  });
}

TEST_CASE("the encoder on the GPU gives what the processor's gives", "[gpu]") {
  if (gpu_is_missing()) return;
  in_every_order([] {
    for (const std::size_t int8_from : {std::size_t{1000}, kAllFloat}) {
      CAPTURE(int8_from);
      const model::Config config = wide_config();
      const ToyWeights toy(config, int8_from, 0.1f);  // attention about as sharp as a trained one
      const Encoder encoder(config.encoder, toy.weights());
      const std::vector<Ids> texts = random_texts({1, 3, 24, 33, 70});
      std::vector<float> expected;
      for (const Ids& text : texts) {
        std::vector<float> states(text.size() * config.encoder.hidden);
        Scratch scratch;
        encoder.encode(text.data(), 1, text.size(), states.data(), scratch);
        expected.insert(expected.end(), states.begin(), states.end());
      }
      CHECK(largest_difference(on_gpu(cuda::Encoder(config.encoder, toy.weights()), texts), expected) < 3e-5);
    }
  });
}

TEST_CASE("a text's states on the GPU are the same alone and among others", "[gpu]") {
  if (gpu_is_missing()) return;
  const model::Config config = wide_config();
  const ToyWeights toy(config);
  const cuda::Encoder encoder(config.encoder, toy.weights());
  const std::vector<Ids> texts = random_texts({5, 24, 70, 1, 24, 60});
  const std::vector<float> together = on_gpu(encoder, texts);
  auto begin = together.begin();
  for (const Ids& text : texts) {
    const std::vector<float> alone = on_gpu(encoder, {text});
    CHECK(std::equal(alone.begin(), alone.end(), begin));
    begin += static_cast<std::ptrdiff_t>(alone.size());
  }
}

TEST_CASE("an encoder without texts launches nothing", "[gpu]") {
  if (gpu_is_missing()) return;
  const model::Config config = wide_config();
  const ToyWeights toy(config);
  const cuda::Encoder encoder(config.encoder, toy.weights());
  cuda::DeviceScratch scratch;
  CHECK_NOTHROW(encoder.encode({}, nullptr, scratch, nullptr));
  CHECK(on_gpu(encoder, {{}, {3}, {}}) == on_gpu(encoder, {{3}}));
}

TEST_CASE("what the GPU's encoder does not take is refused", "[gpu]") {
  if (gpu_is_missing()) return;
  const model::Config config = wide_config();
  const ToyWeights toy(config);
  const cuda::Encoder encoder(config.encoder, toy.weights());
  cuda::DeviceScratch scratch;
  CHECK_THROWS_MATCHES(encoder.encode({nullptr, nullptr, 1, 81, 81}, nullptr, scratch, nullptr), ModelError,
                       Says("81 tokens; it takes 80"));
  const model::Config narrow = toy_config();
  CHECK_THROWS_MATCHES(cuda::Encoder(narrow.encoder, ToyWeights(narrow).weights()), ModelError, Says("3 heads in 24 numbers"));
  CHECK_THROWS_MATCHES(cuda::self_attention({nullptr, nullptr, 1, 1, 1, 48}, nullptr, nullptr), ModelError,
                       Says("head size is 48"));
}
