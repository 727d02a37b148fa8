// The device functions of relation-aware attention, run on the processor: a warp whose lanes take turns.
#include "attention/warp_attention.h"

#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <random>
#include <set>
#include <vector>

#include "attention/relation_attention_cuda.h"

using namespace fastsql;
using namespace fastsql::warp;

namespace {

constexpr int kHead = 32;

struct Matrix {
  int rows, columns;
  std::vector<float> values;

  float at(int row, int column) const { return row < rows ? values[static_cast<std::size_t>(row * columns + column)] : 0.0f; }
};

// Entries that bfloat16 holds exactly, so that only the weights are rounded on the way.
Matrix rounded(int rows, int columns, float spread, std::mt19937& generator) {
  std::normal_distribution<float> normal(0.0f, spread);
  Matrix matrix{rows, columns, std::vector<float>(static_cast<std::size_t>(rows * columns))};
  for (float& x : matrix.values) x = to_float(to_bfloat16(normal(generator)));
  return matrix;
}

using Accumulator = std::array<std::array<float, 4>, kLanes>;

// mma.m16n8k16 as the PTX ISA draws it: lane 4 g + q holds left[g + 8 (r % 2)][2 q + i + 8 (r / 2)] in half i of its register r,
// and adds up sums[g + 8 (r / 2)][2 q + r % 2]; right(k, n) is the right operand.
template <typename Right>
void multiply_add(Accumulator& sums, const std::uint32_t (&left)[kLanes][4], Right right) {
  float dense[16][16];
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < 4; ++r) {
      for (int i = 0; i < 2; ++i) {
        dense[lane / 4 + 8 * (r % 2)][lane % 4 * 2 + i + 8 * (r / 2)] =
            to_float({static_cast<std::uint16_t>(left[lane][r] >> 16 * i)});
      }
    }
  }
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < 4; ++r) {
      for (int k = 0; k < 16; ++k) {
        sums[static_cast<std::size_t>(lane)][static_cast<std::size_t>(r)] +=
            dense[lane / 4 + 8 * (r / 2)][k] * right(k, lane % 4 * 2 + r % 2);
      }
    }
  }
}

struct Question {
  int columns;
  Matrix query, key, value, relation_key, relation_value;
  std::vector<std::uint8_t> relations;  // [kWarpRows, columns]

  Question(int count, int relation_count, float spread) : columns(count) {
    std::mt19937 generator(static_cast<unsigned>(count));
    query = rounded(kWarpRows, kHead, spread, generator);
    key = rounded(count, kHead, spread, generator);
    value = rounded(count, kHead, 1.0f, generator);
    relation_key = rounded(relation_count, kHead, spread, generator);
    relation_value = rounded(relation_count, kHead, 1.0f, generator);
    relations.resize(static_cast<std::size_t>(kWarpRows * count));
    for (auto& relation : relations) relation = static_cast<std::uint8_t>(generator() % static_cast<unsigned>(relation_count));
  }

  const std::uint8_t* edges(int row) const { return relations.data() + static_cast<std::ptrdiff_t>(row) * columns; }
};

struct Answer {
  double mixed[kWarpRows][kHead];
  double log_sum[kWarpRows];
};

// The steps of the kernel in attention/relation_attention_cuda.cu.
Answer by_lanes(const Question& question, float scale) {
  std::uint32_t query[2][kLanes][4];
  for (int k = 0; k < 2; ++k) {
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int r = 0; r < 4; ++r) {
        const int row = accumulator_row(lane, r % 2 * 2), entry = k * 16 + r / 2 * 8 + lane % 4 * 2;
        query[k][lane][r] = pack_bfloat16(question.query.at(row, entry), question.query.at(row, entry + 1));
      }
    }
  }
  // The query's products with eight rows of a matrix, from `first` on.
  const auto product = [&](const Matrix& rows, int first) {
    Accumulator sums{};
    for (int k = 0; k < 2; ++k)
      multiply_add(sums, query[k], [&](int depth, int n) { return rows.at(first + n, k * 16 + depth); });
    return sums;
  };

  std::vector<float> bias(kBiasSize), mass(kMassSize, 0.0f);
  for (int part = 0; part < kRelations / 8; ++part) {
    const Accumulator sums = product(question.relation_key, part * 8);
    for (int lane = 0; lane < kLanes; ++lane) {
      for (int r = 0; r < 4; ++r) {
        const int at = bias_index(part * 8 + accumulator_column(lane, r), accumulator_row(lane, r));
        bias[static_cast<std::size_t>(at)] = sums[static_cast<std::size_t>(lane)][static_cast<std::size_t>(r)];
      }
    }
  }

  std::array<Rows, kLanes> state;
  state.fill(no_columns());
  std::array<Accumulator, kHead / 8> mixed{};
  for (int first = 0; first < question.columns; first += kTileColumns) {
    std::vector<Scores> scores(kLanes);
    float largest[kLanes][2];
    for (int tile = 0; tile < kTiles; ++tile) {
      const Accumulator sums = product(question.key, first + tile * 8);
      for (std::size_t lane = 0; lane < kLanes; ++lane) std::copy(sums[lane].begin(), sums[lane].end(), scores[lane].value[tile]);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::uint8_t* const edges[2] = {question.edges(accumulator_row(lane, 0)), question.edges(accumulator_row(lane, 2))};
      Scores& own = scores[static_cast<std::size_t>(lane)];
      read_relations(own, lane, edges, first, question.columns);
      add_relations(own, lane, bias.data(), scale * 1.44269504f, first, question.columns, largest[lane]);
    }
    for (int lane = 0; lane < kLanes; ++lane) {
      const std::size_t own = static_cast<std::size_t>(lane);
      for (int half = 0; half < 2; ++half) {
        float of_quad = largest[lane][half];
        for (int other = lane / 4 * 4; other < lane / 4 * 4 + 4; ++other) of_quad = std::max(of_quad, largest[other][half]);
        const float factor = follow(state[own], half, lane, of_quad, mass.data());
        for (Accumulator& part : mixed) {
          part[own][static_cast<std::size_t>(2 * half)] *= factor;
          part[own][static_cast<std::size_t>(2 * half + 1)] *= factor;
        }
      }
      weigh(scores[own], state[own], lane, mass.data());
    }
    for (int k = 0; k < kTileColumns / 16; ++k) {
      std::uint32_t weights[kLanes][4];
      for (int lane = 0; lane < kLanes; ++lane) weight_operand(scores[static_cast<std::size_t>(lane)], k, weights[lane]);
      for (std::size_t part = 0; part < mixed.size(); ++part) {
        multiply_add(mixed[part], weights,
                     [&](int depth, int n) { return question.value.at(first + k * 16 + depth, static_cast<int>(part) * 8 + n); });
      }
    }
  }
  for (int k = 0; k < kRelations / 16; ++k) {
    std::uint32_t masses[kLanes][4];
    for (int lane = 0; lane < kLanes; ++lane) mass_operand(mass.data(), lane, k, masses[lane]);
    for (std::size_t part = 0; part < mixed.size(); ++part) {
      multiply_add(mixed[part], masses,
                   [&](int depth, int n) { return question.relation_value.at(k * 16 + depth, static_cast<int>(part) * 8 + n); });
    }
  }

  Answer answer;
  for (int lane = 0; lane < kLanes; ++lane) {
    for (int r = 0; r < 4; ++r) {
      const int row = accumulator_row(lane, r);
      float sum = 0.0f;
      for (int other = lane / 4 * 4; other < lane / 4 * 4 + 4; ++other) sum += state[static_cast<std::size_t>(other)].sum[r / 2];
      answer.log_sum[row] = log_sum(state[static_cast<std::size_t>(lane)].reference[r / 2], sum);
      for (std::size_t part = 0; part < mixed.size(); ++part) {
        answer.mixed[row][static_cast<int>(part) * 8 + accumulator_column(lane, r)] =
            mixed[part][static_cast<std::size_t>(lane)][static_cast<std::size_t>(r)] / sum;
      }
    }
  }
  return answer;
}

// The formula of attention/relation_attention.h in double precision.
Answer by_formula(const Question& question, double scale) {
  Answer answer;
  for (int i = 0; i < kWarpRows; ++i) {
    std::vector<double> weights(static_cast<std::size_t>(question.columns));
    for (int j = 0; j < question.columns; ++j) {
      double dot = 0.0;
      for (int c = 0; c < kHead; ++c) {
        dot +=
            double{question.query.at(i, c)} * (double{question.key.at(j, c)} + question.relation_key.at(question.edges(i)[j], c));
      }
      weights[static_cast<std::size_t>(j)] = dot * scale;
    }
    const double largest = *std::max_element(weights.begin(), weights.end());
    double sum = 0.0;
    for (double& weight : weights) sum += weight = std::exp(weight - largest);
    answer.log_sum[i] = largest + std::log(sum);
    for (int c = 0; c < kHead; ++c) {
      answer.mixed[i][c] = 0.0;
      for (int j = 0; j < question.columns; ++j) {
        answer.mixed[i][c] += weights[static_cast<std::size_t>(j)] / sum *
                              (double{question.value.at(j, c)} + question.relation_value.at(question.edges(i)[j], c));
      }
    }
  }
  return answer;
}

void check(const Question& question) {
  const float scale = 1.0f / std::sqrt(static_cast<float>(kHead));
  const Answer found = by_lanes(question, scale), expected = by_formula(question, scale);
  double error = 0.0;
  for (int row = 0; row < kWarpRows; ++row) {
    CHECK(found.log_sum[row] == Approx(expected.log_sum[row]).epsilon(1e-5).margin(1e-5));
    for (int c = 0; c < kHead; ++c) {
      const double difference = std::abs(found.mixed[row][c] - expected.mixed[row][c]);
      error = difference <= error ? error : difference;  // NaN becomes the error
    }
  }
  // Weights and masses are rounded to 8 bits: each by at most 1/512 of itself, of values up to about 4 twice.
  CHECK(error < 1.5e-2);
}

}  // namespace

TEST_CASE("the lanes of a warp compute relation-aware attention") {
  for (const int columns : {1, 7, 63, 64, 65, 155, 320}) {
    for (const int relations : {1, 58, 64}) {
      CAPTURE(columns, relations);
      check(Question(columns, relations, 1.0f));
    }
  }
}

TEST_CASE("scores that outgrow their reference scale what was summed before") {
  Question question(256, 20, 1.0f);
  // Every tile's scores are far above those of the tile before.
  for (int column = 0; column < question.columns; ++column) {
    const int tile = column / kTileColumns;
    for (int c = 0; c < kHead; ++c) {
      float& entry = question.key.values[static_cast<std::size_t>(column * kHead + c)];
      entry = to_float(to_bfloat16(entry + static_cast<float>(tile) * question.query.at(0, c)));
    }
  }
  check(question);
}

TEST_CASE("scores far apart stay finite") {
  check(Question(200, 58, 12.0f));  // scores of up to about 3,000
}

TEST_CASE("no two lanes share a mass, and each has a memory bank of its own") {
  std::set<int> places;
  for (int relation = 0; relation < kRelations; ++relation) {
    for (int half = 0; half < 2; ++half) {
      for (int lane = 0; lane < kLanes; ++lane) {
        const int place = mass_index(relation, half, lane);
        CHECK(place % 32 == lane);
        places.insert(place);
      }
    }
  }
  CHECK(places.size() == static_cast<std::size_t>(kMassSize));
  CHECK(*places.rbegin() == kMassSize - 1);
}

TEST_CASE("a reference moves only where it has been outgrown") {
  Rows rows{{0.0f, 0.0f}, {3.0f, 5.0f}};
  std::vector<float> mass(kMassSize, 1.0f);
  CHECK(follow(rows, 0, 4, kSlack, mass.data()) == 1.0f);
  CHECK(rows.reference[0] == 0.0f);
  CHECK(follow(rows, 0, 4, kSlack + 1.0f, mass.data()) == std::exp2(-kSlack - 1.0f));
  CHECK(rows.reference[0] == kSlack + 1.0f);
  CHECK(rows.sum[0] == 3.0f * std::exp2(-kSlack - 1.0f));
  CHECK(rows.sum[1] == 5.0f);
  for (int relation = 0; relation < kRelations; ++relation) {
    CHECK(mass[static_cast<std::size_t>(mass_index(relation, 0, 4))] == std::exp2(-kSlack - 1.0f));
    CHECK(mass[static_cast<std::size_t>(mass_index(relation, 1, 4))] == 1.0f);
    CHECK(mass[static_cast<std::size_t>(mass_index(relation, 0, 5))] == 1.0f);
  }
}

TEST_CASE("bfloat16 is the nearest one, ties to even") {
  const auto bits = [](float x) { return to_bfloat16(x).bits; };
  CHECK(bits(1.0f) == 0x3F80);
  CHECK(bits(-2.0f) == 0xC000);
  CHECK(bits(1.0f + 1.0f / 256) == 0x3F80);  // a tie, down to the even one
  CHECK(bits(1.0f + 3.0f / 256) == 0x3F82);  // a tie, up to the even one
  CHECK(bits(1.0f + 1.0f / 256 + 1.0f / 65536) == 0x3F81);
  CHECK(bits(std::numeric_limits<float>::max()) == 0x7F80);  // nearer to infinity than to the largest bfloat16
  CHECK(bits(-std::numeric_limits<float>::infinity()) == 0xFF80);
  CHECK(std::isnan(to_float(to_bfloat16(std::numeric_limits<float>::quiet_NaN()))));
  CHECK(pack_bfloat16(1.0f, -2.0f) == 0xC0003F80u);
}
