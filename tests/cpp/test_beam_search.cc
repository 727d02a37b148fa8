#include <catch2/catch.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <random>
#include <string>
#include <utility>

#include "allocations.h"
#include "core/error.h"
#include "decode/beam_search.h"
#include "says.h"
#include "toy_grammar.h"
#include "toy_model.h"

using namespace fastsql;
using namespace fastsql::decode;
using namespace fastsql::test;

namespace {

using Floats = std::vector<float>;

model::Config decoder_config() {
  model::Config config;
  config.productions = 1;
  config.symbols = 5;
  config.d = 12;
  config.heads = 3;
  config.ffn = 7;
  config.decoder_layers = 2;
  config.max_steps = 256;
  return config;
}

// Normally distributed weights of a decoder for the toy grammar; all zero where `spread` is.
class ToyDecoderWeights {
 public:
  ToyDecoderWeights(const model::Config& config, float spread) {
    std::mt19937 random(1);
    std::normal_distribution<float> normal;
    for_decoder_weights(config, [&](const std::string& name, const std::vector<std::size_t>& shape) {
      std::size_t size = 1;
      for (const std::size_t axis : shape) size *= axis;
      Floats values(size);
      for (float& value : values) value = spread * normal(random);
      tensors_[name] = {shape, std::move(values)};
    });
  }

  // Makes all of a weight this number.
  void fill(const std::string& name, float number) {
    for (float& value : tensors_.at(name).second) value = number;
  }

  model::Weights view() const {
    model::Weights weights;
    for (const auto& [name, tensor] : tensors_) weights.add("decoder." + name, {tensor.first, tensor.second.data(), nullptr});
    return weights;
  }

 private:
  std::map<std::string, std::pair<std::vector<std::size_t>, Floats>> tensors_;
};

// The memory of the toy schema's two tables and three columns, and of no question; with the keys of pointers, or without.
class ToyMemory {
 public:
  explicit ToyMemory(const Decoder& decoder, bool with_keys = true) {
    const std::size_t d = decoder.config().d;
    std::mt19937 random(2);
    std::normal_distribution<float> normal;
    rows_.resize(5 * d);
    for (float& value : rows_) value = normal(random);
    storage_.resize(decoder.keyed_size(5));
    tables_.resize(2 * d);
    columns_.resize(3 * d);
    memory_.nodes.tables = 2;
    memory_.nodes.columns = 3;
    memory_.items = decoder.read_rows(rows_.data(), 5, storage_.data());
    decoder.pointer_keys(grammar::Kind::kTable, rows_.data(), 2, tables_.data());
    decoder.pointer_keys(grammar::Kind::kColumn, rows_.data() + 2 * d, 3, columns_.data());
    if (!with_keys) return;
    memory_.pointer_keys[static_cast<std::size_t>(grammar::Kind::kTable)] = tables_.data();
    memory_.pointer_keys[static_cast<std::size_t>(grammar::Kind::kColumn)] = columns_.data();
  }
  operator const Memory&() const { return memory_; }

 private:
  Floats rows_, storage_, tables_, columns_;
  Memory memory_;
};

Decoder toy_decoder(float spread, InstructionSet set = best_instruction_set()) {
  return Decoder(decoder_config(), ToyDecoderWeights(decoder_config(), spread).view(), set);
}

}  // namespace

TEST_CASE("keys that the memory lacks are made in the search, to the last bit") {
  for (const InstructionSet set : available_instruction_sets()) {
    const Decoder decoder = toy_decoder(1.0f, set);
    const Search given = beam_search(decoder, ToyMemory(decoder), toy_space(), 3);
    // Twice, since the second search begins with what the first one has left.
    for (int time = 0; time < 2; ++time) {
      const Search made = beam_search(decoder, ToyMemory(decoder, false), toy_space(), 3);
      REQUIRE(made.finished.size() == given.finished.size());
      for (std::size_t i = 0; i < given.finished.size(); ++i) {
        CHECK(made.finished[i].path == given.finished[i].path);
        CHECK(made.finished[i].log_probabilities == given.finished[i].log_probabilities);
        CHECK(made.finished[i].kept == given.finished[i].kept);
      }
    }
  }
}

TEST_CASE("of equals, the hypothesis that stands first is continued, with its lowest action") {
  const Decoder decoder = toy_decoder(0.0f);
  const ToyMemory memory(decoder);
  // Both tables are as likely; two columns of the first then are as likely as the second's end or one more.
  const Search search = beam_search(decoder, memory, toy_space(), 2);
  REQUIRE(search.finished.size() == 1);
  CHECK(search.finished[0].actions == (Integers{1, 3, 0}));
  CHECK(search.finished[0].path == (Integers{1, 3, 0}));
  CHECK(search.unfinished == Approx(-std::log(2.0) - std::log(2.0) - std::log(3.0)));
  CHECK(search.steps == 3);
}

TEST_CASE("forced actions cost no step and stand in the path alone") {
  const Decoder decoder = toy_decoder(0.0f);
  const ToyMemory memory(decoder);
  const Search search = beam_search(decoder, memory, toy_space(), 4);
  bool found = false;
  for (const Hypothesis& hypothesis : search.finished) {
    if (hypothesis.actions != (Integers{2, 0})) continue;
    found = true;
    CHECK(hypothesis.path == (Integers{2, ~5, 0}));  // the second table's only column
    CHECK(hypothesis.log_probabilities.size() == 2);
  }
  CHECK(found);
}

TEST_CASE("a beam that forgets nothing finds the best query, and it is no worse than the greedy one") {
  const Decoder decoder = toy_decoder(0.5f);
  const ToyMemory memory(decoder);
  const auto score = [](const Hypothesis& hypothesis) {
    double sum = 0;
    for (const float gain : hypothesis.log_probabilities) sum += gain;
    return sum;
  };
  const Search greedy = beam_search(decoder, memory, toy_space(12), 1);
  REQUIRE(greedy.finished.size() == 1);
  CHECK(greedy.unfinished == -std::numeric_limits<double>::infinity());
  const Search search = beam_search(decoder, memory, toy_space(12), 1000);
  const double best = score(search.finished[0]);
  CHECK(best >= score(greedy.finished[0]));
  CHECK(search.unfinished <= best);
  double before = 0;
  for (const Hypothesis& hypothesis : search.finished) {
    CHECK(hypothesis.log_probabilities.size() == hypothesis.actions.size());
    CHECK(hypothesis.kept.size() == hypothesis.actions.size());
    CHECK(score(hypothesis) <= before);
    before = score(hypothesis);
  }
}

TEST_CASE("a patient search goes on for what is less likely") {
  const Decoder decoder = toy_decoder(0.5f);
  const ToyMemory memory(decoder);
  const Search plain = beam_search(decoder, memory, toy_space(12), 8);
  const Search patient = beam_search(decoder, memory, toy_space(12), {8, 3.0});
  CHECK(patient.finished[0].path == plain.finished[0].path);
  CHECK(patient.steps > plain.steps);
  CHECK(patient.finished.size() >= plain.finished.size());
  double best = 0;
  for (const float gain : patient.finished[0].log_probabilities) best += gain;
  CHECK(patient.unfinished <= best - 3.0);
}

TEST_CASE("every instruction set and any number of threads find the same") {
  const Decoder decoder = toy_decoder(0.5f);
  const ToyMemory memory(decoder);
  const Search expected = beam_search(decoder, memory, toy_space(40), 5);
  for (const std::size_t threads : {2, 8}) {
    const Search search = beam_search(decoder, memory, toy_space(40), 5, Workers(threads));
    REQUIRE(search.finished.size() == expected.finished.size());
    for (std::size_t i = 0; i < search.finished.size(); ++i) {
      CHECK(search.finished[i].actions == expected.finished[i].actions);
      CHECK(search.finished[i].log_probabilities == expected.finished[i].log_probabilities);
      CHECK(search.finished[i].kept == expected.finished[i].kept);
    }
  }
  for (const InstructionSet set : available_instruction_sets()) {
    const Decoder other = toy_decoder(0.5f, set);
    const Search search = beam_search(other, ToyMemory(other), toy_space(40), 5);
    CHECK(search.steps == expected.steps);
    CHECK(search.unfinished == Approx(expected.unfinished).epsilon(1e-4));
    REQUIRE(search.finished.size() == expected.finished.size());
    for (std::size_t i = 0; i < search.finished.size(); ++i) {
      CHECK(search.finished[i].actions == expected.finished[i].actions);
      for (std::size_t j = 0; j < search.finished[i].log_probabilities.size(); ++j) {
        CHECK(search.finished[i].log_probabilities[j] ==
              Approx(expected.finished[i].log_probabilities[j]).epsilon(1e-4).margin(1e-5));
      }
    }
  }
}

TEST_CASE("the steps of a search ask nothing of the heap in the steady state") {
  ToyDecoderWeights weights(decoder_config(), 0.1f);
  weights.fill("production_scores.bias", -30);  // so that a query ends where it must
  const Decoder decoder(decoder_config(), weights.view());
  const ToyMemory memory(decoder);
  const auto allocations_of = [&](std::int32_t budget) {
    const auto space = toy_space(budget);
    beam_search(decoder, memory, space, 4);
    const std::size_t before = allocations();
    const Search search = beam_search(decoder, memory, space, 4);
    return std::pair{allocations() - before, search.steps};
  };
  const auto [many, many_steps] = allocations_of(250);
  const auto [few, few_steps] = allocations_of(8);
  CHECK(many_steps > few_steps + 200);
  CHECK(many <= few + 16);  // the results are longer, and the states of the automaton take more chunks
}

TEST_CASE("what does not fit together is refused") {
  const Decoder decoder = toy_decoder(0.5f);
  const ToyMemory memory(decoder);
  CHECK_THROWS_MATCHES(beam_search(decoder, memory, toy_space(), 0), ModelError, Says("a beam of 0"));
  Memory other = memory;
  other.nodes.columns = 4;
  CHECK_THROWS_MATCHES(beam_search(decoder, other, toy_space(), 2), ModelError,
                       Says("the model has 4 columns, the action space 3"));
  other = memory;
  other.question.n = 1;
  CHECK_THROWS_MATCHES(beam_search(decoder, other, toy_space(), 2), ModelError, Says("1 rows of the question"));

  model::Config config = decoder_config();
  config.max_steps = 2;
  const Decoder brief(config, ToyDecoderWeights(config, 0.0f).view());
  CHECK_THROWS_MATCHES(beam_search(brief, ToyMemory(brief), toy_space(), 2), LimitError,
                       Says("asked for decision 3, the model has 2"));
  CHECK_THROWS_MATCHES(decoder.pointer_keys(grammar::Kind::kStep, nullptr, 0, nullptr), ModelError, Says("graph rows"));
}
