#include "engine/engine_cuda.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "core/error.h"
#include "gpu.h"
#include "says.h"
#include "toy_grammar.h"
#include "toy_model.h"
#include "toy_question.h"

using namespace fastsql;
using namespace fastsql::test;

namespace {

constexpr std::int32_t kCls = 1, kSep = 2;
constexpr double kTolerance = 1e-2;  // of a log-probability and of a state: attention in the graph rounds to bfloat16

// For rich_grammar, with heads as the kernels take them.
model::Config config_for(std::size_t joint_layers = 1, std::size_t heads = 2) {
  model::Config config = toy_config(1, joint_layers);
  config.productions = 7;
  config.symbols = 8;
  config.d = 64;
  config.heads = heads;
  config.ffn = 72;
  config.encoder = {64, 1, heads, 80, 50, 30};  // hidden, layers, heads, ffn, vocabulary, positions
  return config;
}

// Small enough that a layer does not enlarge what rounding leaves.
ToyWeights weights_for(const model::Config& config) { return ToyWeights(config, 1000, 0.12f); }

// The actions of a question over the schema with three values.
std::shared_ptr<const grammar::ActionSpace> space_for(std::int32_t tokens, std::int32_t candidates, std::int32_t budget = 18) {
  return assemble(rich_grammar(), rich_schema(), plain_question(tokens, candidates, budget));
}

// One model on the processor and on the GPU, and a schema that both have read.
struct Both {
  model::Config config;
  ToySchema schema;
  fastsql::Engine processor;
  cuda::Engine gpu;
  std::shared_ptr<const fastsql::SchemaState> on_processor;
  std::shared_ptr<const cuda::SchemaState> on_gpu;

  explicit Both(const model::Config& sizes) : Both(sizes, weights_for(sizes)) {}

 private:
  Both(const model::Config& sizes, const ToyWeights& weights)
      : config(sizes),
        processor(sizes, weights.weights(), kCls, kSep, 1),
        gpu(sizes, weights.weights(), kCls, kSep, 1),
        on_processor(processor.encode_schema(schema.inputs(3))),
        on_gpu(gpu.encode_schema(schema.inputs(3))) {}
};

// A question with its actions.
struct Asked {
  ToyQuestion arrays;
  std::shared_ptr<const grammar::ActionSpace> space;

  Asked(std::size_t tokens, std::size_t candidates, unsigned seed = 3, std::int32_t budget = 18)
      : arrays(tokens, candidates, ToySchema(), seed),
        space(space_for(static_cast<std::int32_t>(tokens), static_cast<std::int32_t>(candidates), budget)) {}

  cuda::Question question() const { return {arrays.inputs(), space}; }
};

std::vector<cuda::Outcome> parse(const Both& model, const std::vector<const Asked*>& asked, std::size_t beam) {
  std::vector<cuda::Question> questions;
  for (const Asked* one : asked) questions.push_back(one->question());
  return model.gpu.parse(*model.on_gpu, questions, beam);
}

// What a question failed with, "" where it did not.
std::string failure_of(const cuda::Outcome& outcome) {
  try {
    if (outcome.failure != nullptr) std::rethrow_exception(outcome.failure);
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

bool is_identical(const cuda::Outcome& one, const cuda::Outcome& other) {
  const decode::Search &found = one.parse.search, &expected = other.parse.search;
  const auto same = [](const decode::Hypothesis& a, const decode::Hypothesis& b) {
    return a.path == b.path && a.actions == b.actions && a.log_probabilities == b.log_probabilities && a.kept == b.kept;
  };
  return failure_of(one) == failure_of(other) && one.parse.mean_state == other.parse.mean_state &&
         found.steps == expected.steps && found.unfinished == expected.unfinished &&
         std::equal(found.finished.begin(), found.finished.end(), expected.finished.begin(), expected.finished.end(), same);
}

void check_close(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) CHECK(found[i] == Approx(expected[i]).margin(kTolerance));
}

// Whether the processor finds a query; the GPU must find the same one, or fail alike, as random weights lead some searches to where
// the toy grammar has no way on.
bool is_same(const Both& model, const Asked& asked, std::size_t beam, const cuda::Outcome& outcome) {
  Parse expected;
  try {
    expected = model.processor.parse(*model.on_processor, asked.arrays.inputs(), asked.space, beam);
  } catch (const Error& error) {
    const std::string failure = failure_of(outcome);
    CHECK(!failure.empty());
    CHECK(std::string(error.what()).substr(0, failure.size()) == failure);
    return false;
  }
  REQUIRE(failure_of(outcome) == "");
  const decode::Search &found = outcome.parse.search, &search = expected.search;
  check_close(outcome.parse.mean_state, expected.mean_state);
  CHECK(found.steps == search.steps);
  if (std::isinf(search.unfinished)) {
    CHECK(found.unfinished == search.unfinished);
  } else {
    CHECK(found.unfinished == Approx(search.unfinished).margin(kTolerance));
  }
  REQUIRE(found.finished.size() == search.finished.size());
  for (std::size_t i = 0; i < found.finished.size(); ++i) {
    CAPTURE(i);
    CHECK(found.finished[i].path == search.finished[i].path);
    CHECK(found.finished[i].actions == search.finished[i].actions);
    check_close(found.finished[i].log_probabilities, search.finished[i].log_probabilities);
    check_close(found.finished[i].kept, search.finished[i].kept);
  }
  return true;
}

}  // namespace

TEST_CASE("a question parsed on the GPU gets what it gets on the processor") {
  if (gpu_is_missing()) return;
  int found = 0;
  for (const auto& [joint, heads] : {std::pair{0, 2}, {1, 2}, {1, 1}, {2, 2}}) {
    model::Config config = config_for(static_cast<std::size_t>(joint), static_cast<std::size_t>(heads));
    config.encoder.layers = 2;
    config.cached_layers = joint == 2 ? 1 : 2;
    const Both model(config);
    for (const std::size_t beam : {1, 4, 9}) {
      for (const auto& [tokens, candidates] : {std::pair{6, 3}, {9, 0}, {1, 1}, {0, 0}}) {
        if (beam != 4 && (joint != 1 || heads == 1)) continue;
        CAPTURE(joint, heads, beam, tokens, candidates);
        const Asked asked(static_cast<std::size_t>(tokens), static_cast<std::size_t>(candidates));
        found += is_same(model, asked, beam, parse(model, {&asked}, beam)[0]);
      }
    }
  }
  CHECK(found >= 14);
}

TEST_CASE("a question's parse does not depend on its batch, bit for bit") {
  if (gpu_is_missing()) return;
  for (const std::size_t joint : {0, 1, 2}) {
    const Both model(config_for(joint));
    const std::vector<Asked> asked = {{6, 3, 1}, {0, 0, 2}, {1, 0, 3}, {12, 5, 4}};
    std::vector<const Asked*> all;
    std::vector<cuda::Outcome> alone;
    for (const Asked& one : asked) {
      all.push_back(&one);
      alone.push_back(parse(model, {&one}, 3)[0]);
    }
    in_every_order([&] {
      const std::vector<cuda::Outcome> together = parse(model, all, 3);
      REQUIRE(together.size() == asked.size());
      for (std::size_t i = 0; i < asked.size(); ++i) {
        CAPTURE(joint, i);
        CHECK(is_identical(together[i], alone[i]));
      }
    });
  }
}

TEST_CASE("a batch of nothing is nothing") {
  if (gpu_is_missing()) return;
  const Both model(config_for());
  CHECK(parse(model, {}, 4).empty());
}

TEST_CASE("callers on several threads get what one gets") {
  if (gpu_is_missing()) return;
  const Both model(config_for());
  const std::vector<Asked> asked = {{6, 3, 1}, {9, 0, 2}, {4, 4, 3}};
  std::vector<cuda::Outcome> alone;
  for (const Asked& one : asked) alone.push_back(parse(model, {&one}, 4)[0]);
  // A schema that is new to the engine: the first questions of several threads upload its tables together.
  const Both other(config_for());
  std::vector<int> same(4);
  std::vector<std::thread> callers;
  for (std::size_t caller = 0; caller < same.size(); ++caller) {
    callers.emplace_back([&, caller] {
      const std::size_t first = caller % asked.size(), second = (caller + 1) % asked.size();
      const std::vector<cuda::Outcome> found = parse(other, {&asked[first], &asked[second]}, 4);
      same[caller] = is_identical(found[0], alone[first]) && is_identical(found[1], alone[second]);
    });
  }
  for (std::thread& caller : callers) caller.join();
  for (const int one : same) CHECK(one == 1);
}

TEST_CASE("what does not belong together is refused, and the engine goes on") {
  if (gpu_is_missing()) return;
  const Both model(config_for());
  const Asked asked(6, 3), other(5, 3);
  const cuda::Outcome expected = parse(model, {&asked}, 4)[0];
  REQUIRE(failure_of(expected) == "");
  const auto refused = [&](const std::string& message, const cuda::Question& wrong, std::size_t beam = 4) {
    CHECK_THROWS_MATCHES(model.gpu.parse(*model.on_gpu, {asked.question(), wrong}, beam), ModelError, Says(message));
  };

  for (const std::int32_t id : {-1, 50}) {
    ToyQuestion wrong = asked.arrays;
    wrong.ids[2] = id;
    refused("a token's id is " + std::to_string(id) + "; the model has 50", {wrong.inputs(), asked.space});
  }
  for (const std::int64_t feature : {std::int64_t{-1}, std::int64_t{5}, std::int64_t{1} << 40}) {
    ToyQuestion wrong = asked.arrays;
    wrong.features[5] = feature;
    refused("a candidate's feature is " + std::to_string(feature), {wrong.inputs(), asked.space});
  }
  const std::size_t n = 6 + 3 + ToySchema::kItems;
  for (const std::size_t at : {n * n - n, n - 1, std::size_t{0}}) {  // of a schema row, of a schema column, of a token to itself
    ToyQuestion wrong = asked.arrays;
    wrong.relations[at] = 7;
    refused("a relation is 7; the model has 7", {wrong.inputs(), asked.space});
  }
  QuestionInputs narrow = asked.arrays.inputs();
  narrow.relations.columns -= 1;
  refused("6 tokens, 3 candidates and 0 earlier turns over 5 tables and columns has relations [14, 13]", {narrow, asked.space});
  refused("the model has 6 tokens, the action space 5", {asked.arrays.inputs(), other.space});
  const auto of_other_schema = assemble(rich_grammar(), {4, 2, 2, 0, 1, 1, 0, 1, -1, -1, -1, -1, 0, 0, 40, 5}, toy_question());
  refused("the model has 3 columns, the action space 2", {asked.arrays.inputs(), of_other_schema});
  const Asked longer(29, 0);
  refused("a text of 31 tokens; it takes 30", longer.question());
  refused("a beam of 0", asked.question(), 0);
  refused("from 1 to 64", asked.question(), 65);
  CHECK(is_identical(parse(model, {&asked}, 4)[0], expected));
}

TEST_CASE("relations that the schema has read need not be repeated") {
  if (gpu_is_missing()) return;
  const Both model(config_for());
  const Asked asked(4, 2);
  const cuda::Outcome expected = parse(model, {&asked}, 4)[0];
  ToyQuestion changed = asked.arrays;
  changed.relations.back() = 255;  // of the last column to itself
  CHECK(is_identical(model.gpu.parse(*model.on_gpu, {{changed.inputs(), asked.space}}, 4)[0], expected));
}

TEST_CASE("a second joint layer reads the relations of schema rows among themselves") {
  if (gpu_is_missing()) return;
  const Both model(config_for(2));
  const Asked asked(4, 2);
  ToyQuestion changed = asked.arrays;
  changed.relations.back() = 255;
  CHECK_THROWS_MATCHES(model.gpu.parse(*model.on_gpu, {{changed.inputs(), asked.space}}, 4), ModelError,
                       Says("a relation is 255; the model has 7"));
}

TEST_CASE("a question that fails does so alone") {
  if (gpu_is_missing()) return;
  const Both model(config_for());
  const Asked good(6, 3), brief(6, 3, 3, 3);  // no query has three actions
  const std::vector<cuda::Outcome> found = parse(model, {&brief, &good, &brief}, 4);
  CHECK(failure_of(found[0]) == "the grammar comes to a dead end");
  CHECK(failure_of(found[2]) == failure_of(found[0]));
  CHECK(is_identical(found[1], parse(model, {&good}, 4)[0]));

  model::Config config = config_for();
  config.max_steps = 2;
  const Both short_lived(config);
  CHECK_THAT(failure_of(parse(short_lived, {&good}, 4)[0]), Catch::Contains("asked for decision 3, the model has 2"));
}

TEST_CASE("models that the kernels cannot read are refused") {
  if (gpu_is_missing()) return;
  const auto load = [](const model::Config& config) { return cuda::Engine(config, ToyWeights(config).weights(), kCls, kSep, 1); };
  CHECK_THROWS_MATCHES(load(config_for(1, 4)), ModelError, Says("heads of"));
  model::Config related = config_for();
  related.relations = 65;
  CHECK_THROWS_MATCHES(load(related), ModelError, Says("65 relations"));
  const model::Config config = config_for();
  CHECK_THROWS_MATCHES(cuda::Engine(config, model::Weights(), kCls, kSep, 1), ModelError, Says("token_in"));
}

TEST_CASE("a schema's state says what it is of") {
  if (gpu_is_missing()) return;
  const Both model(config_for());
  CHECK(model.on_gpu->tables() == 2);
  CHECK(model.on_gpu->columns() == 3);
  CHECK(model.on_gpu->values() == 3);
  const std::size_t before = model.on_gpu->bytes();
  const Asked asked(2, 1);
  parse(model, {&asked}, 1);
  CHECK(model.on_gpu->bytes() > before);  // tables of the automaton, uploaded with the first question
}

#ifdef FASTSQL_SIMULATED
namespace {

// What a call throws with only `bytes` more of device memory than is in use; null where they suffice.
template <typename Call>
std::exception_ptr with_memory_left(std::size_t bytes, Call call) {
  constexpr std::size_t kPlenty = std::size_t{1} << 30;
  simulator::set_memory(simulator::memory_in_use() + bytes);
  std::exception_ptr thrown;
  try {
    call();
  } catch (...) {
    thrown = std::current_exception();
  }
  simulator::set_memory(kPlenty);
  return thrown;
}

// Whether a call says that the GPU has no memory left, until it is given enough.
template <typename Call>
int failures_until_it_fits(Call call) {
  int failures = 0;
  std::size_t bytes = 0;
  for (std::exception_ptr thrown = with_memory_left(bytes, call); thrown != nullptr; thrown = with_memory_left(bytes, call)) {
    CHECK_THROWS_MATCHES(std::rethrow_exception(thrown), LimitError, Says("the GPU has no memory left"));
    ++failures;
    bytes += bytes / 4 + 4096;
  }
  return failures;
}

}  // namespace

TEST_CASE("running out of memory is a LimitError wherever it happens, and leaves everything usable") {
  const std::size_t before = simulator::memory_in_use();
  {
    const model::Config config = config_for();
    const ToyWeights weights = weights_for(config);
    std::unique_ptr<cuda::Engine> engine;
    const auto load = [&] { engine = std::make_unique<cuda::Engine>(config, weights.weights(), kCls, kSep, 1); };
    CHECK(failures_until_it_fits(load) > 5);

    const Both model(config);
    const Asked asked(6, 3), longer(20, 5);
    const std::vector<cuda::Outcome> expected = {parse(model, {&asked}, 4)[0], parse(model, {&longer}, 4)[0]};
    std::shared_ptr<const cuda::SchemaState> state;
    CHECK(failures_until_it_fits([&] { state = engine->encode_schema(model.schema.inputs(3)); }) > 1);
    std::vector<cuda::Outcome> found;
    CHECK(failures_until_it_fits([&] { found = engine->parse(*state, {asked.question()}, 4); }) > 5);
    CHECK(is_identical(found[0], expected[0]));
    const std::size_t loaded = simulator::memory_in_use();
    // A batch for which all memory has to grow; then what fitted before fits again.
    const std::vector<cuda::Question> larger(3, longer.question());
    CHECK(with_memory_left(0, [&] { engine->parse(*state, larger, 4); }) != nullptr);
    CHECK(simulator::memory_in_use() <= loaded);
    found = engine->parse(*state, {asked.question()}, 4);
    CHECK(is_identical(found[0], expected[0]));
    found = engine->parse(*state, larger, 4);
    for (const cuda::Outcome& outcome : found) CHECK(is_identical(outcome, expected[1]));
  }
  CHECK(simulator::memory_in_use() == before);
}
#endif
