#include "reranker/reranker_network.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "allocations.h"
#include "core/error.h"
#include "says.h"

using namespace fastsql;
using test::Says;

namespace {

constexpr std::size_t kKinds = 11, kTables = 9;

RerankerConfig toy_config() {
  RerankerConfig config;
  config.pieces = 40;
  config.symbols = 7;
  config.hidden = 16;
  config.heads = 2;
  config.ffn = 24;
  config.layers = 2;
  config.max_tokens = 50;
  return config;
}

// Random weights; tests/reranker compares what becomes of such with the reference.
class ToyWeights {
 public:
  explicit ToyWeights(const RerankerConfig& config) {
    const std::size_t hidden = config.hidden;
    add("words.weight", {config.pieces, hidden});
    add("symbols.weight", {config.symbols, hidden});
    add("positions.weight", {config.max_tokens, hidden});
    add("kinds.weight", {kKinds, hidden});
    add("tables.weight", {kTables, hidden});
    add("shared.weight", {2, hidden});
    norm("norm", hidden);
    for (std::size_t number = 0; number < config.layers; ++number) {
      const std::string layer = "layers." + std::to_string(number) + ".";
      linear(layer + "qkv", 3 * hidden, hidden);
      linear(layer + "out", hidden, hidden);
      norm(layer + "attention_norm", hidden);
      linear(layer + "ffn_in", config.ffn, hidden);
      linear(layer + "ffn_out", hidden, config.ffn);
      norm(layer + "ffn_norm", hidden);
    }
    linear("output.hidden", hidden, hidden);
    linear("output.log_odds", 1, hidden);
  }

  const model::Weights& views() const { return views_; }

 private:
  void add(const std::string& name, const std::vector<std::size_t>& shape, float centre = 0.0f) {
    std::size_t size = 1;
    for (const std::size_t axis : shape) size *= axis;
    std::normal_distribution<float> normal(centre, 0.3f);
    std::vector<float>& values = storage_.emplace_back(size);
    for (float& value : values) value = normal(generator_);
    views_.add(name, {shape, values.data(), nullptr});
  }
  void linear(const std::string& name, std::size_t out, std::size_t in) {
    add(name + ".weight", {out, in});
    add(name + ".bias", {out});
  }
  void norm(const std::string& name, std::size_t width) {
    add(name + ".weight", {width}, 1.0f);
    add(name + ".bias", {width});
  }

  std::mt19937 generator_{3};
  std::deque<std::vector<float>> storage_;
  model::Weights views_;
};

RerankerNetwork toy_network(std::size_t threads = 1, InstructionSet set = best_instruction_set(),
                            const RerankerConfig& config = toy_config()) {
  return RerankerNetwork(config, ToyWeights(config).views(), threads, set);
}

struct Rated {
  std::vector<std::int32_t> ids = {2, 6, 3, 41, 2, 2, 9, 46, 30};
  std::vector<std::int32_t> kinds = {9, 10, 9, 0, 9, 9, 4, 0, 8};
  std::vector<std::int32_t> tables = {0, 0, 0, 0, 0, 0, 1, 0, 8};
  std::vector<std::int32_t> shared = {0, 1, 0, 0, 0, 0, 1, 0, 1};
  std::vector<std::int32_t> lengths = {4, 1, 4};

  RerankerRows rows() const {
    return {ids.data(), kinds.data(), tables.data(), shared.data(), ids.size(), lengths.data(), lengths.size()};
  }
  std::vector<double> by(const RerankerNetwork& network) const {
    std::vector<double> result(lengths.size());
    network.log_odds(rows(), result.data());
    return result;
  }
  void then(const Rated& other) {
    ids.insert(ids.end(), other.ids.begin(), other.ids.end());
    kinds.insert(kinds.end(), other.kinds.begin(), other.kinds.end());
    tables.insert(tables.end(), other.tables.begin(), other.tables.end());
    shared.insert(shared.end(), other.shared.begin(), other.shared.end());
    lengths.insert(lengths.end(), other.lengths.begin(), other.lengths.end());
  }
  // The tokens `from` to `to` as one row.
  Rated part(std::ptrdiff_t from, std::ptrdiff_t to) const {
    const auto cut = [&](const std::vector<std::int32_t>& all) { return std::vector(all.begin() + from, all.begin() + to); };
    return {cut(ids), cut(kinds), cut(tables), cut(shared), {static_cast<std::int32_t>(to - from)}};
  }
};

Rated one_row(std::size_t tokens) {
  const std::vector<std::int32_t> ones(tokens, 1);
  return {ones, ones, ones, ones, {static_cast<std::int32_t>(tokens)}};
}

}  // namespace

TEST_CASE("a row's log-odds are the same at every instruction set and number of threads") {
  const std::vector<double> expected = Rated().by(toy_network());
  CHECK(expected[0] != expected[2]);
  for (const double one : expected) CHECK(std::isfinite(one));
  for (const std::size_t threads : {2, 8}) CHECK(Rated().by(toy_network(threads)) == expected);
  for (const InstructionSet set : available_instruction_sets()) {
    const std::vector<double> found = Rated().by(toy_network(1, set));
    for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(1e-4));
  }
}

TEST_CASE("nothing is computed for no row") {
  Rated rated;
  rated.ids.clear();
  rated.kinds.clear();
  rated.tables.clear();
  rated.shared.clear();
  rated.lengths.clear();
  CHECK(rated.by(toy_network()).empty());
}

TEST_CASE("a row gets what it gets alone, be it among more than go through the network together") {
  const Rated rated;
  const RerankerNetwork network = toy_network(), on_threads = toy_network(3);
  std::vector<double> alone;
  for (const auto& [from, to] : {std::pair(0, 4), std::pair(4, 5), std::pair(5, 9)}) {
    alone.push_back(rated.part(from, to).by(network)[0]);
  }
  CHECK(rated.by(network) == alone);
  Rated many = rated;
  std::vector<double> expected = alone;
  for (int copy = 1; copy < 300; ++copy) {
    many.then(rated);
    expected.insert(expected.end(), alone.begin(), alone.end());
  }
  CHECK(many.by(network) == expected);
  CHECK(many.by(on_threads) == expected);
}

TEST_CASE("a row of more tokens than go through the network together goes through it alone") {
  RerankerConfig config = toy_config();
  config.max_tokens = 1100;
  const RerankerNetwork network = toy_network(1, best_instruction_set(), config);
  const double long_row = one_row(1100).by(network)[0];
  std::vector<double> expected = Rated().by(network);
  Rated rated;
  rated.then(one_row(1100));
  rated.then(Rated());
  expected.push_back(long_row);
  for (int i = 0; i < 3; ++i) expected.push_back(expected[static_cast<std::size_t>(i)]);
  CHECK(std::isfinite(long_row));
  CHECK(rated.by(network) == expected);
}

TEST_CASE("all that is said of a token shows in the log-odds of its row alone") {
  const RerankerNetwork network = toy_network();
  const std::vector<double> expected = Rated().by(network);
  const auto shows = [&](auto&& change) {
    Rated rated;
    change(rated);
    const std::vector<double> found = rated.by(network);
    CHECK(std::abs(found[0] - expected[0]) > 1e-4);
    CHECK(found[1] == expected[1]);
    CHECK(found[2] == expected[2]);
  };
  shows([](Rated& rated) { rated.ids[1] = 7; });
  shows([](Rated& rated) { rated.ids[3] = 42; });
  shows([](Rated& rated) { rated.kinds[1] = 9; });
  shows([](Rated& rated) { rated.tables[3] = 1; });
  shows([](Rated& rated) { rated.shared[1] = 0; });
  shows([](Rated& rated) {  // where it stands
    std::swap(rated.ids[1], rated.ids[2]);
    std::swap(rated.kinds[1], rated.kinds[2]);
    std::swap(rated.shared[1], rated.shared[2]);
  });
}

TEST_CASE("what the reranker does not know is refused") {
  const RerankerNetwork network = toy_network();
  const auto refuses = [&](auto&& change, const std::string& message) {
    Rated rated;
    change(rated);
    CHECK_THROWS_MATCHES(rated.by(network), ModelError, Says(message));
  };
  refuses([](Rated& rated) { rated.ids[3] = 47; }, "a token's id is 47");
  refuses([](Rated& rated) { rated.ids[3] = -1; }, "a token's id is -1");
  refuses([](Rated& rated) { rated.kinds[0] = 11; }, "a token's kind is 11");
  refuses([](Rated& rated) { rated.tables[8] = -2; }, "a token's table is -2");
  refuses([](Rated& rated) { rated.tables[8] = 9; }, "a token's table is 9");
  refuses([](Rated& rated) { rated.shared[8] = 2; }, "whether a token is shared is 2");
  refuses([](Rated& rated) { rated.lengths = {9, 0}; }, "a row has 0 tokens");
  refuses([](Rated& rated) { rated.lengths = {12, -3}; }, "a row has -3 tokens");
  refuses([](Rated& rated) { rated.lengths = {4, 4}; }, "rows of 8 tokens in all were given with 9");
  refuses([](Rated& rated) { rated.lengths = {50, 50}; }, "rows of 100 tokens in all were given with 9");
  refuses([](Rated& rated) { rated.lengths.clear(); }, "rows of 0 tokens in all were given with 9");
}

TEST_CASE("rows are read up to the limit") {
  const RerankerNetwork network = toy_network();
  CHECK(std::isfinite(one_row(50).by(network)[0]));
  CHECK_THROWS_MATCHES(one_row(51).by(network), LimitError, Says("a question and a program have 51 tokens, more than the 50"));
  Rated rated = one_row(9);
  rated.lengths = {std::numeric_limits<std::int32_t>::max()};
  CHECK_THROWS_AS(rated.by(network), LimitError);
}

TEST_CASE("sizes of a reranker that cannot be are refused") {
  const ToyWeights weights(toy_config());
  const auto refuses = [&](auto&& change, const std::string& message) {
    RerankerConfig config = toy_config();
    change(config);
    CHECK_THROWS_MATCHES(RerankerNetwork(config, weights.views(), 1), ModelError, Says(message));
  };
  refuses([](RerankerConfig& config) { config.hidden = 0; }, "0 is none from 1");
  refuses([](RerankerConfig& config) { config.heads = 0; }, "0 is none from 1");
  refuses([](RerankerConfig& config) { config.max_tokens = std::size_t{1} << 40; }, "is none from 1");
  refuses([](RerankerConfig& config) { config.heads = 3; }, "not a multiple of the 3 heads");
  refuses([](RerankerConfig& config) { config.layers = 3; }, "weight 'layers.2.qkv.");
  refuses([](RerankerConfig& config) { config.ffn = 25; }, "weight 'layers.0.ffn_in.");
  refuses([](RerankerConfig& config) { config.pieces = 41; }, "'words.weight'");
  refuses([](RerankerConfig& config) { config.symbols = 8; }, "'symbols.weight'");
  refuses([](RerankerConfig& config) { config.max_tokens = 51; }, "'positions.weight'");
}

TEST_CASE("a warm reranker asks nothing of the heap") {
  const RerankerNetwork network = toy_network();
  Rated rated;
  for (int copy = 1; copy < 150; ++copy) rated.then(Rated());
  std::vector<double> result(rated.lengths.size());
  const RerankerRows rows = rated.rows();
  for (int again = 0; again < 2; ++again) network.log_odds(rows, result.data());
  const std::size_t before = test::allocations();
  for (int again = 0; again < 3; ++again) network.log_odds(rows, result.data());
  const std::size_t after = test::allocations();
  CHECK(after == before);
}
