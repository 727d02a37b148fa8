// The CUDA kernels against the core's attention on the same bfloat16 numbers. What needs a GPU says so and ends where there is none.
#include "attention/relation_attention_cuda.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "attention/relation_attention.h"
#include "core/device.h"
#include "core/error.h"
#include "gpu.h"
#include "says.h"

using namespace fastsql;
using fastsql::test::gpu_is_missing;
using fastsql::test::Says;

namespace {

std::vector<Bfloat16> rounded(const std::vector<float>& values) {
  std::vector<Bfloat16> result;
  result.reserve(values.size());
  for (const float x : values) result.push_back(to_bfloat16(x));
  return result;
}

std::vector<float> widened(const std::vector<Bfloat16>& values) {
  std::vector<float> result;
  result.reserve(values.size());
  for (const Bfloat16 x : values) result.push_back(to_float(x));
  return result;
}

// Normal numbers that bfloat16 holds exactly.
std::vector<float> normal(std::size_t size, std::mt19937& generator) {
  std::normal_distribution<float> distribution;
  std::vector<float> values(size);
  for (float& x : values) x = to_float(to_bfloat16(distribution(generator)));
  return values;
}

// A question of a batch: rows of queries, keys and values side by side, as a projection leaves them, and a schema's keys and values
// that it shares with the others.
struct Question {
  std::size_t rows;
  std::vector<float> projected;         // [rows, 3 d]
  std::vector<std::uint8_t> relations;  // [rows, rows + schema rows]
};

struct Batch {
  std::size_t heads, head_size, relation_count, schema_rows;
  std::vector<float> schema, relation_key, relation_value;  // schema: [schema rows, 2 d]
  std::vector<Question> questions;

  Batch(std::size_t head_count, std::size_t size, std::size_t relations, std::size_t schema_count,
        const std::vector<std::size_t>& rows)
      : heads(head_count), head_size(size), relation_count(relations), schema_rows(schema_count) {
    std::mt19937 generator(23);
    schema = normal(schema_rows * 2 * d(), generator);
    relation_key = normal(relation_count * head_size, generator);
    relation_value = normal(relation_count * head_size, generator);
    for (const std::size_t count : rows) {
      Question question{count, normal(count * 3 * d(), generator), std::vector<std::uint8_t>(count * (count + schema_rows))};
      for (auto& relation : question.relations) relation = static_cast<std::uint8_t>(generator() % relation_count);
      questions.push_back(std::move(question));
    }
  }

  std::size_t d() const { return heads * head_size; }
  float scale() const { return 1.0f / std::sqrt(static_cast<float>(head_size)); }

  template <typename T>
  HeadRows<T> part(T* data, std::size_t rows, std::size_t number, std::size_t parts) const {
    return HeadRows<T>::heads_beside(data + number * d(), heads, rows, head_size, parts * d());
  }
};

struct Answer {
  std::vector<float> mixed;    // [rows, d]
  std::vector<float> log_sum;  // [heads, rows]
};

std::vector<Answer> on_processor(const Batch& batch) {
  std::vector<Answer> answers;
  std::vector<float> workspace;
  for (const Question& question : batch.questions) {
    const float* projected = question.projected.data();
    const float* schema = batch.schema.data();
    const RelationAttentionInput input{
        batch.part(projected, question.rows, 0, 3),
        {batch.part(projected, question.rows, 1, 3), batch.part(projected, question.rows, 2, 3)},
        {batch.part(schema, batch.schema_rows, 0, 2), batch.part(schema, batch.schema_rows, 1, 2)},
        {batch.relation_key.data(), {batch.relation_count, batch.head_size}},
        {batch.relation_value.data(), {batch.relation_count, batch.head_size}},
        {question.relations.data(), question.rows, question.rows + batch.schema_rows, question.rows + batch.schema_rows},
        batch.scale()};
    Answer answer{std::vector<float>(question.rows * batch.d()), std::vector<float>(batch.heads * question.rows)};
    relation_attention(input, {batch.part(answer.mixed.data(), question.rows, 0, 1), answer.log_sum.data()}, workspace);
    answers.push_back(std::move(answer));
  }
  return answers;
}

std::vector<Answer> on_gpu(const Batch& batch) {
  struct Memory {
    cuda::DeviceArray<Bfloat16> projected;
    cuda::DeviceArray<std::uint8_t> relations;
    cuda::DeviceArray<Bfloat16> mixed;
    cuda::DeviceArray<float> log_sum;
  };
  const cuda::DeviceArray<Bfloat16> schema(rounded(batch.schema)), relation_key(rounded(batch.relation_key)),
      relation_value(rounded(batch.relation_value));
  std::vector<Memory> memory;
  std::vector<cuda::AttentionItem> items;
  std::size_t largest_rows = 0;
  for (const Question& question : batch.questions) {
    memory.push_back({cuda::DeviceArray<Bfloat16>(rounded(question.projected)),
                      cuda::DeviceArray<std::uint8_t>(question.relations),
                      cuda::DeviceArray<Bfloat16>(std::vector<Bfloat16>(question.rows * batch.d())),
                      cuda::DeviceArray<float>(std::vector<float>(batch.heads * question.rows))});
    const Bfloat16* projected = memory.back().projected.data();
    const Bfloat16* shared = schema.data();
    const std::size_t columns = question.rows + batch.schema_rows;
    items.push_back({batch.part(projected, question.rows, 0, 3),
                     {batch.part(projected, question.rows, 1, 3), batch.part(shared, batch.schema_rows, 0, 2)},
                     {batch.part(projected, question.rows, 2, 3), batch.part(shared, batch.schema_rows, 1, 2)},
                     {memory.back().relations.data(), question.rows, columns, columns},
                     batch.part(memory.back().mixed.data(), question.rows, 0, 1),
                     memory.back().log_sum.data()});
    largest_rows = std::max(largest_rows, question.rows);
  }
  const cuda::DeviceArray<cuda::AttentionItem> on_device(items);
  cuda::relation_attention({on_device.data(), items.size(), largest_rows, batch.heads, batch.head_size, batch.relation_count,
                            relation_key.data(), relation_value.data(), batch.scale()},
                           nullptr);
  cuda::expect(cudaDeviceSynchronize(), "attention");
  std::vector<Answer> answers;
  for (const Memory& of_question : memory) answers.push_back({widened(of_question.mixed.fetch()), of_question.log_sum.fetch()});
  return answers;
}

double largest_difference(const std::vector<float>& left, const std::vector<float>& right) {
  double largest = 0.0;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const double difference = std::abs(double{left[i]} - right[i]);
    largest = difference <= largest ? largest : difference;  // NaN becomes the largest
  }
  return largest;
}

void check(const Batch& batch) {
  const std::vector<Answer> expected = on_processor(batch), found = on_gpu(batch);
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CAPTURE(i, batch.questions[i].rows, batch.schema_rows);
    CHECK(largest_difference(found[i].log_sum, expected[i].log_sum) < 1e-4);
    // Weights, masses and results are rounded to 8 bits.
    CHECK(largest_difference(found[i].mixed, expected[i].mixed) < 3e-2);
  }
}

}  // namespace

TEST_CASE("a batch of questions of different sizes gives what the processor gives", "[gpu]") {
  if (gpu_is_missing()) return;
  check(Batch(8, 32, 58, 130, {1, 15, 16, 17, 22, 63, 64, 65, 150}));
  check(Batch(8, 32, 58, 0, {320, 7}));
  check(Batch(4, 64, 64, 33, {5, 90}));
  check(Batch(1, 32, 1, 1, {2}));
}

TEST_CASE("an empty batch launches nothing") {
  CHECK_NOTHROW(cuda::relation_attention({nullptr, 0, 0, 8, 32, 58, nullptr, nullptr, 1.0f}, nullptr));
}

TEST_CASE("sizes that the kernels are not compiled for are refused") {
  const auto launch = [](std::size_t heads, std::size_t head_size, std::size_t relations) {
    cuda::relation_attention({nullptr, 1, 1, heads, head_size, relations, nullptr, nullptr, 1.0f}, nullptr);
  };
  CHECK_THROWS_MATCHES(launch(8, 48, 58), ModelError, Says("the head size is 48; the CUDA kernels take 32 and 64"));
  CHECK_THROWS_MATCHES(launch(8, 32, 65), ModelError, Says("the number of relations is 65"));
  CHECK_THROWS_MATCHES(launch(0, 32, 58), ModelError, Says("the number of heads is 0"));
}
