// What one lane of a warp does between matrix instructions in relation-aware attention on a GPU, written so that the processor
// can run it, too: tests step through the 32 lanes of a warp.
//
// A warp holds kWarpRows rows of the query and passes over columns in tiles of kTileColumns. Fragments are those of the instruction
// mma.m16n8k16 (PTX ISA, "Matrix Fragments for mma.m16n8k16"): lane 4 g + q holds rows g and g + 8, and of every 8 columns those
// at 2 q and 2 q + 1; four neighbouring lanes, a quad, share two rows.
//
// Softmax is online (Milakov and Gimelshein, 2018): weights are powers of 2 relative to a reference, which follows the largest
// score of the row only where that has grown by more than kSlack. Attention mass is kept per relation and lane, so that no two
// lanes add to the same place, and in the lane's own memory bank, so that none waits for another.
#pragma once

#include <cstdint>

#include "core/bfloat16.h"
#include "core/host_device.h"

#ifndef __CUDACC__
#include <cmath>
#endif

namespace fastsql::warp {

constexpr int kLanes = 32;
constexpr int kWarpRows = 16;
constexpr int kTileColumns = 64;
constexpr int kTiles = kTileColumns / 8;  // of an accumulator
constexpr int kRelations = 64;            // at most; fewer leave the last ones unused
// Weights may exceed 1 by this power of 2 before sums are scaled down.
constexpr float kSlack = 8.0f;

// Register r of an accumulator's 4 in a lane.
FASTSQL_HOST_DEVICE int accumulator_row(int lane, int r) { return lane / 4 + 8 * (r / 2); }
FASTSQL_HOST_DEVICE int accumulator_column(int lane, int r) { return lane % 4 * 2 + r % 2; }

// bias[relation][row]: the product of a warp's rows with relation keys.
FASTSQL_HOST_DEVICE int bias_index(int relation, int row) { return relation * kWarpRows + row; }
constexpr int kBiasSize = kRelations * kWarpRows;

// mass[relation][half][lane]: of the lane's row `half`.
FASTSQL_HOST_DEVICE int mass_index(int relation, int half, int lane) { return (relation * 2 + half) * kLanes + lane; }
constexpr int kMassSize = kRelations * 2 * kLanes;

// A lane's part of the scores of a warp's rows and one tile of columns, then of their weights.
struct Scores {
  float value[kTiles][4];
  std::uint8_t relation[kTiles][4];
};

// The lane's two rows so far. Only the quad's four sums together are the row's.
struct Rows {
  float reference[2];
  float sum[2];
};

FASTSQL_HOST_DEVICE Rows no_columns() { return {{-INFINITY, -INFINITY}, {0.0f, 0.0f}}; }

// Reads the relations of the lane's rows to the columns from `first` on. row[half] points at the relations of a row to all
// `columns` columns; those beyond count as relation 0.
FASTSQL_HOST_DEVICE void read_relations(Scores& scores, int lane, const std::uint8_t* const row[2], int first, int columns) {
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int r = 0; r < 4; ++r) {
      const int column = first + tile * 8 + accumulator_column(lane, r);
      scores.relation[tile][r] = column < columns ? row[r / 2][column] : std::uint8_t{0};
    }
  }
}

// Adds the relations' bias to products and scales both, to scores in units of ln 2; columns that do not exist get minus infinity.
// largest[half] is the lane's largest of a row.
FASTSQL_HOST_DEVICE void add_relations(Scores& scores, int lane, const float* bias, float scale, int first, int columns,
                                       float largest[2]) {
  largest[0] = largest[1] = -INFINITY;
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int r = 0; r < 4; ++r) {
      const bool exists = first + tile * 8 + accumulator_column(lane, r) < columns;
      const float added = bias[bias_index(scores.relation[tile][r], accumulator_row(lane, r))];
      const float score = exists ? (scores.value[tile][r] + added) * scale : -INFINITY;
      scores.value[tile][r] = score;
      largest[r / 2] = fmaxf(largest[r / 2], score);
    }
  }
}

// Whether a row's sums must be scaled before weights of scores up to `largest` are added.
FASTSQL_HOST_DEVICE bool outgrown(float reference, float largest) { return largest > reference + kSlack; }

// Takes `largest` as the reference of a row where it has been outgrown; returns what the row's results are to be multiplied with.
FASTSQL_HOST_DEVICE float follow(Rows& rows, int half, int lane, float largest, float* mass) {
  if (!outgrown(rows.reference[half], largest)) return 1.0f;
  const float factor = exp2f(rows.reference[half] - largest);
  rows.reference[half] = largest;
  rows.sum[half] *= factor;
  for (int relation = 0; relation < kRelations; ++relation) mass[mass_index(relation, half, lane)] *= factor;
  return factor;
}

// Turns scores into weights, and adds them to the lane's sums and masses.
FASTSQL_HOST_DEVICE void weigh(Scores& scores, Rows& rows, int lane, float* mass) {
  for (int tile = 0; tile < kTiles; ++tile) {
    for (int r = 0; r < 4; ++r) {
      const int half = r / 2;
      const float weight = exp2f(scores.value[tile][r] - rows.reference[half]);
      scores.value[tile][r] = weight;
      rows.sum[half] += weight;
      mass[mass_index(scores.relation[tile][r], half, lane)] += weight;
    }
  }
}

// Weights of 16 columns, step k of the tile, as the left operand of the next product.
FASTSQL_HOST_DEVICE void weight_operand(const Scores& scores, int k, std::uint32_t operand[4]) {
  const float (&left)[4] = scores.value[2 * k];
  const float (&right)[4] = scores.value[2 * k + 1];
  operand[0] = pack_bfloat16(left[0], left[1]);
  operand[1] = pack_bfloat16(left[2], left[3]);
  operand[2] = pack_bfloat16(right[0], right[1]);
  operand[3] = pack_bfloat16(right[2], right[3]);
}

// Mass of 16 relations, step k, as the left operand: the quad's four masses together. All lanes must have written theirs.
FASTSQL_HOST_DEVICE void mass_operand(const float* mass, int lane, int k, std::uint32_t operand[4]) {
  for (int r = 0; r < 4; ++r) {
    float pair[2];
    for (int i = 0; i < 2; ++i) {
      const int relation = k * 16 + r / 2 * 8 + lane % 4 * 2 + i;
      const float* quad = mass + mass_index(relation, r % 2, lane / 4 * 4);
      pair[i] = (quad[0] + quad[1]) + (quad[2] + quad[3]);
    }
    operand[r] = pack_bfloat16(pair[0], pair[1]);
  }
}

// The logarithm of the sum of exponentials of a row's scores, from the sum of its quad.
FASTSQL_HOST_DEVICE float log_sum(float reference, float sum) { return (reference + log2f(sum)) * 0.693147181f; }

}  // namespace fastsql::warp
