#include "reverse/reverse_network.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "allocations.h"
#include "core/error.h"
#include "says.h"

using namespace fastsql;
using test::Says;

namespace {

constexpr std::size_t kKinds = 9, kTables = 9;

ReverseConfig toy_config() {
  ReverseConfig config;
  config.pieces = 40;
  config.symbols = 7;
  config.words = 8;
  config.d = 16;
  config.heads = 2;
  config.ffn = 24;
  config.encoder_layers = config.decoder_layers = 2;
  config.max_tokens = 50;
  config.outputs = {3, 5, 7, 9};
  config.start = 2;
  return config;
}

// Random weights; tests/reverse compares what becomes of such with the reference.
class ToyWeights {
 public:
  explicit ToyWeights(const ReverseConfig& config) {
    const std::size_t d = config.d;
    add("words.weight", {config.pieces, config.words});
    add("symbols.weight", {config.symbols, d});
    add("kinds.weight", {kKinds, d});
    add("tables.weight", {kTables, d});
    add("source_words.weight", {d, config.words});
    add("target_words.weight", {d, config.words});
    linear("output", config.outputs.size() + 1, d);
    add("copy.query.weight", {d, d});
    add("copy.key.weight", {d, d});
    add("copy.kinds", {kKinds});
    add("copy.follows", {kKinds});
    for (const std::string side : {"encoder", "decoder"}) {
      norm(side + ".norm", d);
      const std::size_t layers = side == "encoder" ? config.encoder_layers : config.decoder_layers;
      for (std::size_t number = 0; number < layers; ++number) {
        const std::string layer = side + ".layers." + std::to_string(number) + ".";
        norm(layer + "attention_norm", d);
        linear(layer + "qkv", 3 * d, d);
        linear(layer + "out", d, d);
        norm(layer + "ffn_norm", d);
        linear(layer + "ffn_in", config.ffn, d);
        linear(layer + "ffn_out", d, config.ffn);
        if (side == "encoder") continue;
        norm(layer + "cross_norm", d);
        linear(layer + "cross.query", d, d);
        linear(layer + "cross.key_value", 2 * d, d);
        linear(layer + "cross.out", d, d);
      }
    }
  }

  const model::Weights& views() const { return views_; }

 private:
  void add(const std::string& name, const std::vector<std::size_t>& shape) {
    std::size_t size = 1;
    for (const std::size_t axis : shape) size *= axis;
    std::normal_distribution<float> normal(0.0f, 0.3f);
    std::vector<float>& values = storage_.emplace_back(size);
    for (float& value : values) value = normal(generator_);
    views_.add(name, {shape, values.data(), nullptr});
  }
  void linear(const std::string& name, std::size_t out, std::size_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }
  void norm(const std::string& name, std::size_t d) {
    add(name + ".weight", {d});
    add(name + ".bias", {d});
  }

  std::mt19937 generator_{3};
  std::deque<std::vector<float>> storage_;
  model::Weights views_;
};

ReverseNetwork toy_network(std::size_t threads = 1, InstructionSet set = best_instruction_set()) {
  const ReverseConfig config = toy_config();
  return ReverseNetwork(config, ToyWeights(config).views(), threads, set);
}

struct Asked {
  std::vector<std::int32_t> ids = {41, 6, 8, 42, 40, 9, 9, 46, 30};
  std::vector<std::int32_t> kinds = {0, 1, 2, 0, 0, 3, 4, 0, 5};
  std::vector<std::int32_t> tables = {0, 1, 1, 0, 0, 1, 1, 0, 0};
  std::vector<std::int32_t> lengths = {4, 1, 4};
  std::vector<std::int32_t> pieces = {6, 8, 5, 30, 39, 3};

  std::vector<double> by(const ReverseNetwork& network) const {
    std::vector<double> result(lengths.size());
    network.log_probability({ids.data(), kinds.data(), tables.data(), ids.size(), lengths.data(), lengths.size()}, pieces.data(),
                            pieces.size(), result.data());
    return result;
  }
};

}  // namespace

TEST_CASE("a question's probabilities are the same at every instruction set and number of threads") {
  const std::vector<double> expected = Asked().by(toy_network());
  for (const double one : expected) CHECK(one < 0);
  for (const std::size_t threads : {2, 8}) CHECK(Asked().by(toy_network(threads)) == expected);
  for (const InstructionSet set : available_instruction_sets()) {
    const std::vector<double> found = Asked().by(toy_network(1, set));
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-4));
  }
}

TEST_CASE("nothing is computed for no program") {
  Asked asked;
  asked.ids.clear();
  asked.kinds.clear();
  asked.tables.clear();
  asked.lengths.clear();
  CHECK(asked.by(toy_network()).empty());
}

TEST_CASE("more programs than go through the network together get what they get alone") {
  Asked one, many;
  one.lengths = {9};
  many.ids.clear();
  many.kinds.clear();
  many.tables.clear();
  many.lengths.clear();
  for (int copy = 0; copy < 300; ++copy) {
    many.ids.insert(many.ids.end(), one.ids.begin(), one.ids.end());
    many.kinds.insert(many.kinds.end(), one.kinds.begin(), one.kinds.end());
    many.tables.insert(many.tables.end(), one.tables.begin(), one.tables.end());
    many.lengths.push_back(9);
  }
  const ReverseNetwork network = toy_network();
  CHECK(many.by(network) == std::vector<double>(300, one.by(network)[0]));
}

TEST_CASE("what the reverse model does not know is refused") {
  const ReverseNetwork network = toy_network();
  const auto refuses = [&](auto&& change, const std::string& message) {
    Asked asked;
    change(asked);
    CHECK_THROWS_MATCHES(asked.by(network), ModelError, Says(message));
  };
  refuses([](Asked& asked) { asked.ids[3] = 47; }, "a token's id is 47");
  refuses([](Asked& asked) { asked.ids[3] = -1; }, "a token's id is -1");
  refuses([](Asked& asked) { asked.kinds[0] = 9; }, "a token's kind is 9");
  refuses([](Asked& asked) { asked.tables[8] = -2; }, "a token's table is -2");
  refuses([](Asked& asked) { asked.pieces[0] = 40; }, "a piece of a question is 40");
  refuses([](Asked& asked) { asked.pieces.clear(); }, "a question has 0 tokens");
  refuses([](Asked& asked) { asked.lengths = {9, 0}; }, "a program has 0 tokens");
  refuses([](Asked& asked) { asked.lengths = {12, -3}; }, "a program has -3 tokens");
  refuses([](Asked& asked) { asked.lengths = {4, 4}; }, "programs of 8 tokens in all were given with 9");
  refuses([](Asked& asked) { asked.lengths = {50, 50}; }, "programs of 100 tokens in all were given with 9");
}

TEST_CASE("programs and questions are read up to the limit") {
  const ReverseNetwork network = toy_network();
  Asked asked;
  const auto fill = [&](std::size_t tokens) {
    asked.ids.assign(tokens, 6);
    asked.kinds.assign(tokens, 1);
    asked.tables.assign(tokens, 1);
    asked.lengths = {static_cast<std::int32_t>(tokens)};
  };
  fill(50);
  asked.pieces.assign(50, 5);
  CHECK(std::isfinite(asked.by(network)[0]));
  asked.pieces.assign(51, 5);
  CHECK_THROWS_MATCHES(asked.by(network), LimitError, Says("a question has 51 tokens, more than the 50"));
  asked.pieces = {5};
  fill(51);
  CHECK_THROWS_MATCHES(asked.by(network), LimitError, Says("a program has 51 tokens, more than the 50"));
  asked.lengths = {std::numeric_limits<std::int32_t>::max()};
  CHECK_THROWS_AS(asked.by(network), LimitError);
}

TEST_CASE("sizes of a reverse model that cannot be are refused") {
  const ToyWeights weights(toy_config());
  const auto refuses = [&](auto&& change, const std::string& message) {
    ReverseConfig config = toy_config();
    change(config);
    CHECK_THROWS_MATCHES(ReverseNetwork(config, weights.views(), 1), ModelError, Says(message));
  };
  refuses([](ReverseConfig& config) { config.d = 0; }, "0 is none from 1");
  refuses([](ReverseConfig& config) { config.max_tokens = std::size_t{1} << 40; }, "is none from 1");
  refuses([](ReverseConfig& config) { config.heads = 3; }, "not a multiple of twice the 3 heads");
  refuses([](ReverseConfig& config) { config.start = 40; }, "names word pieces");
  refuses([](ReverseConfig& config) { config.outputs[0] = -1; }, "names word pieces");
  refuses([](ReverseConfig& config) { config.outputs.push_back(11); }, "weight 'output.");
  refuses([](ReverseConfig& config) { config.decoder_layers = 3; }, "weight 'decoder.layers.2.attention_norm.");
  refuses([](ReverseConfig& config) { config.pieces = 41; }, "'words.weight'");
}

TEST_CASE("a warm reverse model asks nothing of the heap") {
  const ReverseNetwork network = toy_network();
  const Asked asked;
  std::vector<double> result(asked.lengths.size());
  const ReverseSources sources{asked.ids.data(), asked.kinds.data(),   asked.tables.data(),
                               asked.ids.size(), asked.lengths.data(), asked.lengths.size()};
  const auto ask = [&] { network.log_probability(sources, asked.pieces.data(), asked.pieces.size(), result.data()); };
  for (int again = 0; again < 2; ++again) ask();
  const std::size_t before = test::allocations();
  for (int again = 0; again < 3; ++again) ask();
  const std::size_t after = test::allocations();
  CHECK(after == before);
}
