#include "engine/engine.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "allocations.h"
#include "core/error.h"
#include "says.h"
#include "toy_grammar.h"
#include "toy_model.h"
#include "toy_question.h"

using namespace fastsql;
using fastsql::test::Says;
using fastsql::test::toy_config;
using fastsql::test::ToyQuestion;
using fastsql::test::ToySchema;
using fastsql::test::ToyWeights;

namespace {

constexpr std::int32_t kCls = 1, kSep = 2;

Engine make_engine(const model::Config& config, std::size_t threads = 1, InstructionSet set = best_instruction_set()) {
  return Engine(config, ToyWeights(config).weights(), kCls, kSep, threads, set);
}

double difference(const std::vector<float>& one, const std::vector<float>& other) {
  double worst = one.size() == other.size() ? 0.0 : 1e9;
  for (std::size_t i = 0; i < std::min(one.size(), other.size()); ++i) {
    worst = std::max(worst, double{std::abs(one[i] - other[i])});
  }
  return worst;
}

// The actions of a question of some tokens, none of which may be a value.
std::shared_ptr<const grammar::ActionSpace> space_for(std::int32_t tokens) {
  return test::assemble(test::toy_grammar(), test::toy_schema(), test::plain_question(tokens, 0, 6));
}

}  // namespace

TEST_CASE("every instruction set comes to the same rows") {
  const ToySchema schema;
  const ToyQuestion question(6, 2, schema);
  for (const auto& [cached, joint] : {std::pair{2, 1}, {1, 2}, {0, 1}, {2, 0}}) {
    const model::Config config = toy_config(cached, joint);
    std::vector<float> expected;
    for (const InstructionSet set : available_instruction_sets()) {
      const Engine engine = make_engine(config, 1, set);
      const std::vector<float> rows = engine.graph_rows(*engine.encode_schema(schema.inputs()), question.inputs());
      REQUIRE(rows.size() == (6 + 2 + 5) * config.d);
      if (expected.empty()) expected = rows;
      INFO(name(set) << ", " << cached << " cached layers and " << joint << " joint");
      CHECK(difference(rows, expected) < 1e-4);
    }
  }
}

TEST_CASE("schema rows see the question in joint layers only") {
  const ToySchema schema;
  const ToyQuestion one(6, 2, schema), other(9, 0, schema);
  for (const std::size_t joint : {0, 1}) {
    const model::Config config = toy_config(2, joint);
    const Engine engine = make_engine(config);
    const auto state = engine.encode_schema(schema.inputs());
    const std::vector<float> first = engine.graph_rows(*state, one.inputs()), second = engine.graph_rows(*state, other.inputs());
    const bool same = std::equal(first.end() - static_cast<std::ptrdiff_t>(5 * config.d), first.end(),
                                 second.end() - static_cast<std::ptrdiff_t>(5 * config.d));
    CHECK(same == (joint == 0));
  }
}

TEST_CASE("a question without tokens or candidates is parsed") {
  const ToySchema schema;
  for (const std::size_t joint : {0, 1}) {
    const Engine engine = make_engine(toy_config(2, joint));
    const auto state = engine.encode_schema(schema.inputs(0));
    const ToyQuestion nothing(0, 0, schema);
    const Parse parse = engine.parse(*state, nothing.inputs(), test::toy_space(), 3);
    CHECK(!parse.search.finished.empty());
    CHECK(parse.mean_state == std::vector<float>(toy_config().d, 0.0f));
    CHECK(parse.milliseconds.encoder >= 0);
  }
}

TEST_CASE("a question that was read is searched as often as is asked, whatever is read beside it") {
  const ToySchema schema;
  const ToyQuestion one(6, 0, schema), other(9, 0, schema);
  for (const std::size_t joint : {0, 1}) {
    const Engine engine = make_engine(toy_config(2, joint));
    const auto state = engine.encode_schema(schema.inputs(0));
    const Parse expected = engine.parse(*state, one.inputs(), space_for(6), 3);
    const Engine::Reading reading(engine, *state, one.inputs());
    const Engine::Reading beside(engine, *state, other.inputs());
    CHECK(engine.search(beside, space_for(9), 3).pooled != expected.pooled);
    for (int again = 0; again < 2; ++again) {
      const Parse found = engine.search(reading, space_for(6), 3);
      CHECK(found.search.finished.at(0).actions == expected.search.finished.at(0).actions);
      CHECK(found.search.finished.at(0).log_probabilities == expected.search.finished.at(0).log_probabilities);
      CHECK(found.mean_state == expected.mean_state);
      CHECK(found.pooled == expected.pooled);
    }
  }
}

TEST_CASE("a warm engine asks the heap for the result and nothing else") {
  const ToySchema schema;
  const ToyQuestion question(6, 2, schema);
  for (const auto& [cached, joint] : {std::pair{2, 1}, {1, 2}, {2, 0}}) {
    for (const std::size_t threads : {1, 2}) {
      const Engine engine = make_engine(toy_config(cached, joint), threads);
      const auto state = engine.encode_schema(schema.inputs());
      for (int warm = 0; warm < 3; ++warm) engine.graph_rows(*state, question.inputs());
      const std::size_t before = test::allocations();
      const std::vector<float> rows = engine.graph_rows(*state, question.inputs());
      const std::size_t after = test::allocations();
      INFO(cached << " cached layers, " << joint << " joint, " << threads << " threads");
      CHECK(after - before == 1);
    }
  }
}

TEST_CASE("a schema and a question of different sizes are refused") {
  const ToySchema schema;
  const Engine engine = make_engine(toy_config());
  SchemaInputs inputs = schema.inputs();
  inputs.relations.rows = 4;
  CHECK_THROWS_MATCHES(engine.encode_schema(inputs), ModelError, Says("5 tables and columns has relations [4, 5]"));
  const auto state = engine.encode_schema(schema.inputs());
  const ToyQuestion question(6, 2, schema);
  QuestionInputs wrong = question.inputs();
  wrong.tokens = 5;
  CHECK_THROWS_MATCHES(engine.graph_rows(*state, wrong), ModelError, Says("5 tokens, 2 candidates"));
  // A refused question leaves nothing behind.
  CHECK(engine.graph_rows(*state, question.inputs()) == engine.graph_rows(*state, question.inputs()));
}
