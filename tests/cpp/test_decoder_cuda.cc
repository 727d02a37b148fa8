#include "decode/cuda/decoder.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <deque>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "gpu.h"
#include "says.h"
#include "search_question.h"
#include "toy_grammar.h"
#include "toy_model.h"

using namespace fastsql;
using namespace fastsql::test;

namespace {

constexpr double kTolerance = 1e-3;  // of a log-probability

// For the grammar rich_grammar; heads of 32 or of 64.
model::Config config_for(std::size_t d = 64, std::size_t heads = 2) {
  model::Config config = toy_config();
  config.productions = 7;
  config.symbols = 8;
  config.d = d;
  config.heads = heads;
  config.ffn = 100;
  config.max_steps = 64;
  return config;
}

// The same decoder on both.
struct Model {
  model::Config config;
  ToyWeights weights;
  decode::Decoder processor;
  cuda::Decoder gpu;

  explicit Model(const model::Config& sizes, std::size_t int8_from = 1000)
      : config(sizes), weights(sizes, int8_from), processor(sizes, weights.weights()), gpu(sizes, weights.weights()) {}

  // Results of a batch, each with its sizes; `automaton` as SearchQuestion::on_gpu takes it.
  struct Found {
    std::vector<std::byte> bytes;
    cuda::SearchSizes sizes;
    decode::Search search() const { return cuda::read_search(bytes.data(), sizes); }
  };
  std::vector<Found> search(const std::vector<const SearchQuestion*>& questions, int beam, int team,
                            std::vector<std::size_t> automaton = {}) const {
    std::deque<cuda::DeviceArray<float>> kept;
    std::vector<cuda::DecodeItem> items;
    automaton.resize(questions.size());
    for (std::size_t i = 0; i < questions.size(); ++i) {
      items.push_back(questions[i]->on_gpu(gpu, config.d, config.decoder_layers, beam, kept, automaton[i]));
    }
    const cuda::DeviceArray<cuda::DecodeItem> batch(items);
    gpu.search({batch.data(), static_cast<int>(items.size()), beam, team, questions[0]->space()->grammar().image_bytes()},
               nullptr);
    std::vector<Found> results;
    for (const cuda::DecodeItem& item : items) {
      Found& found = results.emplace_back(Found{{}, gpu.sizes(item, beam)});
      found.bytes.resize(cuda::Decoder::result_bytes(found.sizes));
      cuda::expect(cudaMemcpy(found.bytes.data(), item.result, found.bytes.size(), cudaMemcpyDeviceToHost), "a result");
    }
    return results;
  }
};

void check_equal(const decode::Search& found, const decode::Search& expected) {
  CHECK(found.steps == expected.steps);
  if (std::isinf(expected.unfinished)) {
    CHECK(found.unfinished == expected.unfinished);
  } else {
    CHECK(found.unfinished == Approx(expected.unfinished).margin(kTolerance));
  }
  REQUIRE(found.finished.size() == expected.finished.size());
  for (std::size_t i = 0; i < found.finished.size(); ++i) {
    CAPTURE(i);
    CHECK(found.finished[i].path == expected.finished[i].path);
    CHECK(found.finished[i].actions == expected.finished[i].actions);
    const auto &gains = found.finished[i].log_probabilities, &others = expected.finished[i].log_probabilities;
    REQUIRE(gains.size() == others.size());
    for (std::size_t j = 0; j < gains.size(); ++j) CHECK(gains[j] == Approx(others[j]).margin(kTolerance));
  }
}

void check_identical(const decode::Search& found, const decode::Search& expected) {
  CHECK(found.steps == expected.steps);
  CHECK(found.unfinished == expected.unfinished);
  REQUIRE(found.finished.size() == expected.finished.size());
  for (std::size_t i = 0; i < found.finished.size(); ++i) {
    CHECK(found.finished[i].path == expected.finished[i].path);
    CHECK(found.finished[i].log_probabilities == expected.finished[i].log_probabilities);
    CHECK(found.finished[i].kept == expected.finished[i].kept);
  }
}

// The error that a search ends with, "" where it does not.
template <typename Run>
std::string error_of(Run run) {
  try {
    run();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

// Whether the processor finds a query; what the GPU has found must be the same either way, as random weights lead some searches to
// where the grammar has no way on.
bool is_same(const Model& model, const SearchQuestion& question, std::size_t beam, const Model::Found& found) {
  decode::Search expected;
  const std::string failure = error_of([&] { expected = question.on_processor(model.processor, beam); });
  if (failure.empty()) {
    check_equal(found.search(), expected);
    return true;
  }
  const std::string other = error_of([&] { found.search(); });
  CHECK(!other.empty());
  CHECK(failure.substr(0, other.size()) == other);
  return false;
}

// Tables of two columns each, of any type, over the words of rich_grammar.
std::shared_ptr<const grammar::ActionSpace> wide_space(std::int32_t tables, std::int32_t tokens, std::int32_t budget) {
  Integers schema = {4, tables, 2 * tables, 2}, question = {3, 0, 0, tokens, 0, 0, budget, 0};
  for (std::int32_t table = 0; table < tables; ++table) schema.push_back(2);
  for (std::int32_t column = 0; column < 2 * tables; ++column) schema.push_back(column % 3);
  schema.insert(schema.end(), static_cast<std::size_t>(4 * tables), -1);  // no column is a key, or called like one
  schema.insert(schema.end(), static_cast<std::size_t>(2 * tables), 0);
  schema.insert(schema.end(), static_cast<std::size_t>(tables * ((tables + 9) / 10)), 0);  // ten distances to a number
  schema.insert(schema.end(), {1, 2 * tables - 1});
  for (std::int32_t token = 0; token < tokens; ++token) question.insert(question.end(), {token, 3});
  question.insert(question.end(), {0, 0, 0, 0});  // nothing is known of values
  return assemble(rich_grammar(), schema, question);
}

// A query over a derived table of one column beside a table: all that comes before its two columns is forced, so that a pointer to
// the derived one points at a decision that nobody has taken.
std::shared_ptr<const grammar::ActionSpace> space_that_points_ahead() {
  const Integers grammar = {
      2,  5, 2,    5,  15,                    // version, symbols, productions, alternatives, children
      75, 8, 1000, 64, 2,  4,                 // bounds
      7,  0, 0,    1,                         // query
      2,  0, 0,    1,                         // inner
      1,  0, 0,    1,                         // column
      1,  0, 0,    1,                         // end
      1,  0, 0,    1,                         // source
      1,  1,                                  // cost of an item, and of a join on a way
      0,  0,                                  // query, end
      0,  0, 7,    0,  0,  10,                // query
      -1, 0, 2,    0,  0,  4,                 // @table
      -2, 0, 1,    0,  0,  0,                 // @column
      1,  0, 1,    0,  0,  0,                 // end
      -1, 0, 1,    0,  0,  1,                 // @table
      -2, 1, -4,   4,  2,  -5, 2, -5, 3, -6,  // children of query
      -1, 2, -5,   -6,                        // of the first @table
      -3,                                     // of the second
  };
  return assemble(grammar, {4, 1, 1, 0, 1, 0, -1, -1, 0, 0}, toy_question(12));
}

}  // namespace

TEST_CASE("beams of any width find on the GPU what they find on the processor") {
  if (gpu_is_missing()) return;
  const Model model(config_for());
  int found = 0;
  for (const int beam : {1, 2, 4, 8, 12}) {
    for (const unsigned seed : {1u, 2u, 3u}) {
      CAPTURE(beam, seed);
      const SearchQuestion question(rich_space(seed == 2, 30), model.config.d, seed);
      found += is_same(model, question, static_cast<std::size_t>(beam), model.search({&question}, beam, 1)[0]);
    }
  }
  CHECK(found >= 8);
}

TEST_CASE("whatever the weights are stored as and however large a head is, the search is the same") {
  if (gpu_is_missing()) return;
  int found = 0;
  for (const auto& [heads, int8_from] : {std::pair{2, 1000}, {1, 1000}, {2, 1000000}, {3, 9000}}) {
    CAPTURE(heads, int8_from);
    const std::size_t head = heads == 1 ? 64 : 32, count = static_cast<std::size_t>(heads);
    const Model model(config_for(head * count, count), static_cast<std::size_t>(int8_from));
    const SearchQuestion question(rich_space(true), model.config.d, 7);
    found += is_same(model, question, 3, model.search({&question}, 3, 2)[0]);
  }
  CHECK(found >= 2);
}

TEST_CASE("schemas with more columns than a warp has bits, questions with no token, one table alone") {
  if (gpu_is_missing()) return;
  const Model model(config_for());
  int found = 0;
  for (const auto& [tables, tokens] : {std::pair{1100, 3}, {40, 0}, {1, 0}}) {
    CAPTURE(tables, tokens);
    const SearchQuestion question(wide_space(tables, tokens, 24), model.config.d, 3);
    found += is_same(model, question, 4, model.search({&question}, 4, 1)[0]);
  }
  CHECK(found >= 2);
}

TEST_CASE("a question alone and in a batch, and teams of any size, find the same bit for bit") {
  if (gpu_is_missing()) return;
  const Model model(config_for());
  const SearchQuestion one(rich_space(false, 20), model.config.d, 1), other(rich_space(true, 16), model.config.d, 2);
  const SearchQuestion third(wide_space(5, 6, 14), model.config.d, 3);
  const decode::Search alone = model.search({&one}, 4, 1)[0].search();
  in_every_order([&] {
    for (const int team : {1, 2, 4}) {
      CAPTURE(team);
      const auto found = model.search({&other, &one, &third}, 4, team);
      check_identical(found[1].search(), alone);
      is_same(model, other, 4, found[0]);
      is_same(model, third, 4, found[2]);
    }
  });
}

TEST_CASE("a beam of several groups finds the same with every team and in every order") {
  if (gpu_is_missing()) return;
  const Model model(config_for());
  const SearchQuestion question(rich_space(false, 16), model.config.d, 4);
  const auto found = model.search({&question}, 20, 1);
  REQUIRE(is_same(model, question, 20, found[0]));
  in_every_order([&] { check_identical(model.search({&question}, 20, 2)[0].search(), found[0].search()); });
}

TEST_CASE("a search that fails says why, and the others of its batch do not notice") {
  if (gpu_is_missing()) return;
  const Model model(config_for());
  const SearchQuestion good(rich_space(false, 30), model.config.d, 1), brief(rich_space(false, 3), model.config.d, 1);
  const decode::Search expected = good.on_processor(model.processor, 4);
  CHECK_THAT(error_of([&] { brief.on_processor(model.processor, 4); }), Catch::Contains("dead end"));

  const auto found = model.search({&brief, &good, &good}, 4, 1, {0, 0, 200});
  CHECK_THROWS_MATCHES(found[0].search(), ModelError, Says("dead end"));
  check_equal(found[1].search(), expected);
  CHECK_THROWS_MATCHES(found[2].search(), LimitError, Says("outgrew the 200 bytes"));

  model::Config config = config_for();
  config.max_steps = 1;
  const Model short_lived(config);
  CHECK_THROWS_MATCHES(short_lived.search({&good}, 2, 1)[0].search(), LimitError, Says("asked for decision 2, the model has 1"));

  config = config_for();
  config.symbols = 2;
  const Model unlearned(config);
  CHECK_THROWS_MATCHES(unlearned.search({&good}, 2, 1)[0].search(), ModelError, Says("not learned"));

  config = config_for();
  config.productions = 2;
  const Model ahead(config);
  const SearchQuestion pointing(space_that_points_ahead(), config.d, 1);
  CHECK_THAT(error_of([&] { pointing.on_processor(ahead.processor, 2); }), Catch::Contains("comes before it"));
  CHECK_THROWS_MATCHES(ahead.search({&pointing}, 2, 1)[0].search(), ModelError, Says("comes before it"));
}

TEST_CASE("what does not belong together is refused before it is queued") {
  if (gpu_is_missing()) return;
  const Model model(config_for());
  const SearchQuestion question(rich_space(false), model.config.d, 1);
  std::deque<cuda::DeviceArray<float>> kept;
  cuda::DecodeItem item = question.on_gpu(model.gpu, model.config.d, model.config.decoder_layers, 4, kept);
  CHECK_THROWS_MATCHES(model.gpu.sizes(item, 0), ModelError, Says("a beam of 0"));
  CHECK_THROWS_MATCHES(model.gpu.sizes(item, 65), ModelError, Says("from 1 to 64"));
  item.nodes.columns = 4;
  CHECK_THROWS_MATCHES(model.gpu.sizes(item, 4), ModelError, Says("the model has 4 columns, the action space 3"));
  const model::Config narrow = config_for(48, 3);
  CHECK_THROWS_MATCHES(cuda::Decoder(narrow, ToyWeights(narrow).weights()), ModelError, Says("heads of 32 and 64"));
}
