// A schema and questions over it that are small enough for a test, as an engine takes them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "engine/inputs.h"

namespace fastsql::test {

// The schema of toy_grammar.h: tables a(x, y) and b(z), and up to three values: of x, of no column, of y.
struct ToySchema {
  static constexpr std::size_t kItems = 5;

  std::vector<std::int32_t> ids{1, 5, 2, 1, 6, 2, 1, 7, 2, 1, 8, 2, 1, 9, 2}, value_ids{1, 10, 11, 2, 1, 12, 13, 2};
  std::vector<std::int64_t> item_text{0, 1, 2, 3, 4}, item_type{0, 0, 1, 2, 3}, column_table{0, 0, 1};
  std::vector<std::int64_t> value_text{0, 1, 0}, value_column{0, -1, 1};
  std::vector<std::uint8_t> relations = std::vector<std::uint8_t>(kItems * kItems);

  ToySchema() {
    for (std::size_t i = 0; i < relations.size(); ++i) relations[i] = static_cast<std::uint8_t>(i % 7);
  }

  SchemaInputs inputs(std::size_t values = 1) const {
    SchemaInputs inputs;
    inputs.nodes.tables = 2;
    inputs.nodes.columns = 3;
    inputs.values = values;
    inputs.texts = {{ids.data(), kItems, 3}};
    inputs.value_texts = {{value_ids.data(), 2, 4}};
    inputs.item_text = item_text.data();
    inputs.item_type = item_type.data();
    inputs.column_table = column_table.data();
    inputs.relations = {relations.data(), kItems, kItems, kItems};
    inputs.value_text = value_text.data();
    inputs.value_column = value_column.data();
    return inputs;
  }
};

// A question of some tokens and candidates over that schema; candidate i spans token i.
struct ToyQuestion {
  std::size_t tokens, candidates;
  std::vector<std::int32_t> ids;
  std::vector<float> inside;
  std::vector<std::int64_t> features;
  std::vector<std::uint8_t> relations;

  ToyQuestion(std::size_t n_tokens, std::size_t n_candidates, const ToySchema& schema, unsigned seed = 3)
      : tokens(n_tokens),
        candidates(n_candidates),
        ids(n_tokens),
        inside(n_tokens * n_candidates),
        features(n_candidates * kCandidateFeatures) {
    constexpr std::size_t s = ToySchema::kItems;
    std::mt19937 generator(seed);
    for (auto& id : ids) id = static_cast<std::int32_t>(generator() % 50);
    for (std::size_t candidate = 0; candidate < candidates; ++candidate) inside[candidate * tokens + candidate] = 1.0f;
    for (auto& feature : features) feature = static_cast<std::int64_t>(generator() % 5);
    const std::size_t own = tokens + candidates, n = own + s;
    relations.resize(n * n);
    for (auto& relation : relations) relation = static_cast<std::uint8_t>(generator() % 7);
    for (std::size_t i = 0; i < s * s; ++i) relations[(own + i / s) * n + own + i % s] = schema.relations[i];
  }

  QuestionInputs inputs() const {
    const std::size_t n = tokens + candidates + ToySchema::kItems;
    return {tokens, candidates, ids.data(), nullptr, inside.data(), features.data(), {relations.data(), n, n, n}, {}};
  }
};

}  // namespace fastsql::test
