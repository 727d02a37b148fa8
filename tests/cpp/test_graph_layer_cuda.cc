// Graph layers on the GPU against the core's. Queries, keys, values, the tables of relations, weights of attention and what it mixes
// are bfloat16 there, with 8 bits; everything else is float32.
#include "graph/graph_layer_cuda.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "core/error.h"
#include "gpu.h"
#include "graph/graph_layer.h"
#include "graph/merge_cpu.h"
#include "says.h"
#include "toy_model.h"

using namespace fastsql;
using namespace fastsql::test;
using cuda::LayerKind;

namespace {

model::Config wide_config() {
  model::Config config = toy_config();
  config.d = 64;
  config.heads = 2;
  config.ffn = 104;
  return config;
}

std::vector<float> normal(std::size_t size, std::mt19937& generator) {
  std::normal_distribution<float> distribution;
  std::vector<float> values(size);
  for (float& x : values) x = distribution(generator);
  return values;
}

std::vector<std::uint8_t> random_relations(std::size_t size, std::size_t count, std::mt19937& generator) {
  std::vector<std::uint8_t> relations(size);
  for (auto& relation : relations) relation = static_cast<std::uint8_t>(generator() % count);
  return relations;
}

std::vector<Bfloat16> rounded(const std::vector<float>& values) {
  std::vector<Bfloat16> result;
  for (const float x : values) result.push_back(to_bfloat16(x));
  return result;
}

// A schema as a layer reads it, and questions over it.
struct Problem {
  model::Config config = wide_config();
  ToyWeights toy{config, 1000, 0.1f};  // scores about as large as trained ones
  GraphLayer layer{config, toy.weights(), "graph.1."};
  std::size_t n;  // schema rows
  std::vector<float> schema_rows, query, keys_values, mixed, log_sum;
  struct Question {
    std::size_t rows;
    std::vector<float> states, items;  // items: [n, d], its schema rows as a joint layer before this one left them
    std::vector<std::uint8_t> relations, item_relations;

    std::size_t item_columns(std::size_t n) const { return rows + n; }
  };
  std::vector<Question> questions;

  Problem(std::size_t schema_count, const std::vector<std::size_t>& question_rows) : n(schema_count) {
    std::mt19937 generator(31);
    const std::size_t d = config.d;
    schema_rows = normal(n * d, generator);
    query.resize(n * d);
    keys_values.resize(2 * n * d);
    mixed.resize(n * d);
    log_sum.resize(config.heads * n);
    GraphWorkspace workspace;
    const auto projected = layer.project(schema_rows.data(), n, query.data(), keys_values.data(), workspace.scratch, {});
    const auto relations = random_relations(n * n, config.relations, generator);
    layer.read_schema(projected, {relations.data(), n, n, n}, mixed.data(), log_sum.data(), workspace, {});
    for (const std::size_t rows : question_rows) {
      questions.push_back({rows, normal(rows * d, generator), normal(n * d, generator),
                           random_relations(rows * (rows + n), config.relations, generator),
                           random_relations(n * (rows + n), config.relations, generator)});
    }
  }
};

// The rows of the questions, then of each one's schema where the layer is joint.
std::vector<float> on_processor(const Problem& problem, LayerKind kind) {
  const std::size_t d = problem.config.d, n = problem.n;
  std::vector<float> rows, items;
  for (const Problem::Question& question : problem.questions) {
    GraphWorkspace workspace;
    const std::size_t q = question.rows;
    std::vector<float> query(q * d), keys_values(2 * q * d), states = question.states, output(n * d);
    std::vector<float> item_query(n * d), item_keys_values(2 * n * d), mixed(n * d), log_sum(problem.config.heads * n);
    const Projected projected = problem.layer.project(states.data(), q, query.data(), keys_values.data(), workspace.scratch, {});
    SchemaRows read{problem.schema_rows.data(),
                    {n, problem.query.data(), problem.keys_values.data()},
                    problem.mixed.data(),
                    problem.log_sum.data()};
    const RelationRows relations{question.item_relations.data(), n, q, q + n};
    if (kind == LayerKind::kFurtherJoint) {
      read = {question.items.data(),
              problem.layer.project(question.items.data(), n, item_query.data(), item_keys_values.data(), workspace.scratch, {}),
              mixed.data(), log_sum.data()};
      problem.layer.read_schema(read.projected, {relations.data + q, n, n, q + n}, mixed.data(), log_sum.data(), workspace, {});
    }
    if (kind != LayerKind::kCached) {
      problem.layer.schema_with_question(read, projected, relations, output.data(), workspace, {});
      items.insert(items.end(), output.begin(), output.end());
    }
    problem.layer.question(states.data(), projected, read.projected, {question.relations.data(), q, q + n, q + n}, workspace, {});
    rows.insert(rows.end(), states.begin(), states.end());
  }
  rows.insert(rows.end(), items.begin(), items.end());
  return rows;
}

std::vector<float> on_gpu(const Problem& problem, LayerKind kind) {
  const bool joint = kind != LayerKind::kCached;
  model::Config config = problem.config;
  config.joint_layers = kind == LayerKind::kFurtherJoint ? 2 : 1;
  const cuda::GraphLayer layer(config, problem.toy.weights(), "graph.1.");
  const cuda::DeviceArray<float> schema_rows(problem.schema_rows), mixed(problem.mixed), log_sum(problem.log_sum);
  const cuda::DeviceArray<Bfloat16> query(rounded(problem.query)), keys_values(rounded(problem.keys_values));
  cuda::SchemaLayerView schema{problem.n, keys_values.data()};
  if (joint) schema = {problem.n, keys_values.data(), schema_rows.data(), query.data(), mixed.data(), log_sum.data()};

  std::vector<float> states, items;
  std::vector<cuda::DeviceArray<std::uint8_t>> relations;
  std::vector<cuda::QuestionPlace> places;
  std::size_t largest_rows = 0;
  for (const Problem::Question& question : problem.questions) {
    const std::size_t first = states.size() / config.d;
    states.insert(states.end(), question.states.begin(), question.states.end());
    items.insert(items.end(), question.items.begin(), question.items.end());
    relations.emplace_back(question.relations);
    relations.emplace_back(question.item_relations);
    places.push_back({first, question.rows, joint ? places.size() * problem.n : 0, relations[relations.size() - 2].data(),
                      relations.back().data(), question.item_columns(problem.n)});
    largest_rows = std::max(largest_rows, question.rows);
  }
  const std::size_t q = states.size() / config.d, z = joint ? problem.n * places.size() : 0;
  if (kind == LayerKind::kFurtherJoint) states.insert(states.end(), items.begin(), items.end());
  cuda::DeviceScratch scratch;
  scratch.reserve(cuda::GraphLayer::memory_bytes(config, q, z));
  const cuda::GraphMemory memory = cuda::GraphLayer::take_memory(config, q, z, scratch);
  REQUIRE(cudaMemcpy(memory.rows, states.data(), states.size() * sizeof(float), cudaMemcpyHostToDevice) == cudaSuccess);

  std::vector<cuda::AttentionItem> attention;
  std::vector<cuda::MergeItem> merge;
  for (const cuda::QuestionPlace& place : places) {
    if (kind == LayerKind::kFurtherJoint) {
      attention.push_back(layer.further_question_item(memory, place, problem.n));
      attention.push_back(layer.further_schema_item(memory, place, problem.n));
    } else {
      attention.push_back(layer.question_item(memory, place, schema));
    }
    if (kind == LayerKind::kFirstJoint) {
      attention.push_back(layer.schema_item(memory, place, schema));
      merge.push_back(layer.merge_item(memory, place, schema));
    }
    if (joint) largest_rows = std::max(largest_rows, problem.n);
  }
  const cuda::DeviceArray<cuda::AttentionItem> attention_items(attention);
  const cuda::DeviceArray<cuda::MergeItem> merge_items(merge);
  layer.apply(memory, {kind, attention_items.data(), attention.size(), merge_items.data(), merge.size(), largest_rows, problem.n},
              nullptr);
  std::vector<float> rows((q + z) * config.d);
  REQUIRE(cudaMemcpy(rows.data(), memory.rows, rows.size() * sizeof(float), cudaMemcpyDeviceToHost) == cudaSuccess);
  return rows;
}

struct Difference {
  double largest = 0, mean = 0;  // relative to the root mean square
};

Difference difference(const std::vector<float>& found, const std::vector<float>& expected) {
  REQUIRE(found.size() == expected.size());
  Difference result;
  double squares = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double x = std::abs(double{found[i]} - expected[i]);
    result.largest = x <= result.largest ? result.largest : x;  // NaN becomes the largest
    result.mean += x / static_cast<double>(found.size());
    squares += double{expected[i]} * expected[i] / static_cast<double>(found.size());
  }
  return {result.largest / std::sqrt(squares), result.mean / std::sqrt(squares)};
}

void check(const Problem& problem, LayerKind kind) {
  CAPTURE(static_cast<int>(kind), problem.n);
  const Difference of = difference(on_gpu(problem, kind), on_processor(problem, kind));
  CHECK(of.largest < 5e-3);
  CHECK(of.mean < 8e-4);
}

}  // namespace

TEST_CASE("a cached graph layer on the GPU gives question rows what the processor gives them", "[gpu]") {
  if (gpu_is_missing()) return;
  in_every_order([] { check(Problem(37, {1, 25}), LayerKind::kCached); });
  check(Problem(130, {70}), LayerKind::kCached);
}

TEST_CASE("a joint graph layer on the GPU gives all rows what the processor gives them", "[gpu]") {
  if (gpu_is_missing()) return;
  const LayerKind kind = GENERATE(LayerKind::kFirstJoint, LayerKind::kFurtherJoint);
  in_every_order([kind] { check(Problem(37, {1, 25}), kind); });
  check(Problem(130, {70}), kind);
  check(Problem(9, {0, 3}), kind);
}

TEST_CASE("a question's rows are the same alone and in a batch", "[gpu]") {
  if (gpu_is_missing()) return;
  for (const LayerKind kind : {LayerKind::kCached, LayerKind::kFirstJoint, LayerKind::kFurtherJoint}) {
    CAPTURE(static_cast<int>(kind));
    Problem problem(19, {25, 66, 8});
    const std::size_t d = problem.config.d, n = problem.n;
    const std::vector<float> together = on_gpu(problem, kind);
    const std::vector<Problem::Question> questions = problem.questions;
    std::size_t first = 0, first_item = 99;
    for (const Problem::Question& question : questions) {
      problem.questions = {question};
      const std::vector<float> alone = on_gpu(problem, kind);
      const auto rows = static_cast<std::ptrdiff_t>(question.rows * d);
      CHECK(std::equal(alone.begin(), alone.begin() + rows, together.begin() + static_cast<std::ptrdiff_t>(first * d)));
      if (kind != LayerKind::kCached)
        CHECK(std::equal(alone.begin() + rows, alone.end(), together.begin() + static_cast<std::ptrdiff_t>(first_item * d)));
      first += question.rows;
      first_item += n;
    }
  }
}

TEST_CASE("merging on the GPU puts halves together as the processor does, wherever the mass lies", "[gpu]") {
  if (gpu_is_missing()) return;
  const std::size_t n = 5, heads = 2, head_size = 32, d = 64;
  std::mt19937 generator(2);
  const std::vector<float> input = normal(n * d, generator), cached = normal(n * d, generator);
  std::vector<float> question = normal(n * d, generator);
  for (float& x : question) x = to_float(to_bfloat16(x));
  const std::vector<float> cached_sum{3, 3, 3, 200, -200, 0, 0.5f, 1, 1, 1};
  const std::vector<float> question_sum{3, -90, 95, 199, -INFINITY, -INFINITY, 0.25f, 2, -1, 40};
  std::vector<float> expected(n * d);
  for (std::size_t row = 0; row < n; ++row) {
    for (std::size_t i = 0; i < d; ++i) {
      const std::size_t of_head = i / head_size * n + row, at = row * d + i;
      const double share = 1.0 / (1.0 + std::exp(double{cached_sum[of_head]} - question_sum[of_head]));
      expected[at] = static_cast<float>(cached[at] + share * (double{question[at]} - cached[at]));
    }
  }
  std::vector<Bfloat16> half = rounded(question);
  std::fill_n(half.begin() + static_cast<std::ptrdiff_t>(4 * d), head_size,
              Bfloat16{0x7FC0});  // NaN: row 4 of head 0 has no question
  const cuda::DeviceArray<float> inputs(input), mixed(cached), sums(cached_sum), other_sums(question_sum), rows(n * d);
  const cuda::DeviceArray<Bfloat16> halves(half);
  const cuda::DeviceArray<cuda::MergeItem> items(std::vector<cuda::MergeItem>{
      {inputs.data(), mixed.data(), sums.data(), other_sums.data(), halves.data(), rows.data(), static_cast<int>(n)}});
  cuda::merge_halves({items.data(), 1, n, heads, head_size}, nullptr);
  CHECK(rows.fetch() == input);
  const std::vector<Bfloat16> found = halves.fetch();
  for (std::size_t i = 0; i < n * d; ++i) CHECK(to_float(found[i]) == Approx(expected[i]).epsilon(4e-3).margin(1e-6));
}

TEST_CASE("graphs that the kernels are not compiled for are refused") {
  model::Config config = wide_config();
  config.heads = 4;
  CHECK_THROWS_MATCHES(cuda::GraphLayer(config, ToyWeights(config).weights(), "graph.0."), ModelError,
                       Says("4 heads in 64 numbers"));
  config = wide_config();
  config.relations = 65;
  CHECK_THROWS_MATCHES(cuda::GraphLayer(config, ToyWeights(config).weights(), "graph.0."), ModelError, Says("65 relations"));
}
