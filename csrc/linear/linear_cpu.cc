// Products are computed in tiles of rows x output channels that stay in registers while the depth runs through: up to eight rows
// of one panel, or fewer rows of several panels, so that there are always enough independent sums to hide the latency of a
// multiply-add. Every sum runs through the depth in order, whatever the tile, so a row's result does not depend on its neighbours.

#include "linear/linear_cpu.h"

#include "core/vectors.h"

namespace fastsql::cpu::FASTSQL_SET {
namespace {

// Rows of the highest tile, by the registers that there are, and rows that pass through all panels before the next ones do: they
// stay in the second-level cache.
constexpr std::size_t kTileRows = kLanes >= 16 ? 8 : kLanes >= 8 ? 6 : 4;
constexpr std::size_t kChunkRows = 64;

// What becomes of finished sums: [rows][columns] at `tile`, for output channels from `channel` on.
__attribute__((noinline)) void finish(const LinearWeights& weights, const LinearRows& task, std::size_t first_row,
                                      std::size_t rows, std::size_t channel, std::size_t columns, float* tile) {
  const std::size_t width = weights.out - channel < columns ? weights.out - channel : columns;
  const Vector zero = {};
  for (std::size_t row = 0; row < rows; ++row, tile += columns) {
    float* y = task.y + (first_row + row) * task.y_stride + channel;
    for (std::size_t j = 0; j < columns; j += kLanes) {
      Vector product = load(tile + j) * load(weights.scale + channel + j) + load(weights.bias + channel + j);
      if (task.then == Then::kRelu) product = product > zero ? product : zero;
      if (task.then == Then::kGelu) product = gelu(product);
      if (j + kLanes > width) {
        store(tile + j, product);  // the last channels; the rest is padding
        for (std::size_t i = j; i < width; ++i) y[i] = task.then == Then::kAdd ? y[i] + tile[i] : tile[i];
      } else {
        store(y + j, task.then == Then::kAdd ? load(y + j) + product : product);
      }
    }
  }
}

// Which inputs a tile multiplies: all of them in order, or those of a list, which is ascending.
struct AllInputs {
  std::size_t count;
  std::size_t operator[](std::size_t i) const { return i; }
};
struct ListedInputs {
  std::size_t count;
  const std::uint32_t* inputs;
  std::size_t operator[](std::size_t i) const { return inputs[i]; }
};

// Rows from `first_row` on, of `panels` panels that lie one behind the other.
template <std::size_t rows, std::size_t panels, typename Weight, typename Inputs>
void multiply(const LinearWeights& weights, const LinearRows& task, const Weight* panel_weights, std::size_t first_row,
              std::size_t panel, Inputs inputs) {
  const std::size_t depth = weights.in;
  const std::size_t stride = task.x_stride;
  const float* x = task.x + first_row * stride;
  const Weight* first = panel_weights + panel * depth * kPanel;
  Vector sums[rows][2 * panels];
#pragma GCC unroll 8
  for (std::size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
    for (std::size_t column = 0; column < 2 * panels; ++column) sums[row][column] = Vector{};
  }
  for (std::size_t i = 0; i < inputs.count; ++i) {
    const std::size_t k = inputs[i];
    const Weight* w = first + k * kPanel;
    Vector columns[2 * panels];
#pragma GCC unroll 8
    for (std::size_t p = 0; p < panels; ++p) {
      columns[2 * p] = load(w + p * depth * kPanel);
      columns[2 * p + 1] = load(w + p * depth * kPanel + kLanes);
    }
#pragma GCC unroll 8
    for (std::size_t row = 0; row < rows; ++row) {
      const float factor = x[row * stride + k];
#pragma GCC unroll 8
      for (std::size_t column = 0; column < 2 * panels; ++column) sums[row][column] += factor * columns[column];
    }
  }
  float tile[rows * panels * kPanel];
#pragma GCC unroll 8
  for (std::size_t row = 0; row < rows; ++row) {
#pragma GCC unroll 8
    for (std::size_t column = 0; column < 2 * panels; ++column) {
      store(tile + (row * 2 * panels + column) * kLanes, sums[row][column]);
    }
  }
  finish(weights, task, first_row, rows, panel * kPanel, panels * kPanel, tile);
}

// How many panels a tile of so many rows takes at once.
constexpr std::size_t panels_at_once(std::size_t rows) {
  if (kLanes < 16) return rows <= 2 ? 2 : 1;
  return rows <= 2 ? 4 : rows <= 4 ? 2 : 1;
}

// The panels from `panel` to, not including, `last` for `count` rows, at most `rows`; those left over one by one.
template <std::size_t rows, typename Weight, typename Inputs>
void multiply_rows(const LinearWeights& weights, const LinearRows& task, const Weight* panels, std::size_t first_row,
                   std::size_t count, std::size_t panel, std::size_t last, Inputs inputs) {
  if constexpr (rows > 1) {
    if (count < rows) return multiply_rows<rows - 1>(weights, task, panels, first_row, count, panel, last, inputs);
  }
  constexpr std::size_t step = panels_at_once(rows);
  for (; panel + step <= last; panel += step) multiply<rows, step>(weights, task, panels, first_row, panel, inputs);
  for (; panel < last; ++panel) multiply<rows, 1>(weights, task, panels, first_row, panel, inputs);
}

template <typename Weight>
void multiply_all(const LinearWeights& weights, const LinearRows& task, const Weight* panels, std::size_t first,
                  std::size_t last) {
  const AllInputs inputs{weights.in};
  for (std::size_t chunk = 0; chunk < task.rows; chunk += kChunkRows) {
    const std::size_t end = task.rows - chunk < kChunkRows ? task.rows : chunk + kChunkRows;
    if (end - chunk <= kTileRows) {
      multiply_rows<kTileRows>(weights, task, panels, chunk, end - chunk, first, last, inputs);
      continue;
    }
    // Tiles of about equal height: with 8 rows a tile, 17 are 6, 6 and 5.
    const std::size_t tiles = (end - chunk + kTileRows - 1) / kTileRows;
    for (std::size_t panel = first; panel < last; ++panel) {
      for (std::size_t tile = 0; tile < tiles; ++tile) {
        const std::size_t from = chunk + (end - chunk) * tile / tiles, to = chunk + (end - chunk) * (tile + 1) / tiles;
        multiply_rows<kTileRows>(weights, task, panels, from, to - from, panel, panel + 1, inputs);
      }
    }
  }
}

// Rows of x that share a list of inputs: few, so that most of the list is not zero in each of them.
constexpr std::size_t kListedRows = 4;
// Inputs that a list has room for.
constexpr std::size_t kMostListed = 4096;

// The inputs that are not zero in all of `rows` rows of x.
std::size_t list_inputs(const float* x, std::size_t stride, std::size_t rows, std::size_t depth, std::uint32_t* list) {
  std::size_t count = 0, k = 0;
  for (; k + kLanes <= depth; k += kLanes) {
    std::uint32_t lanes = 0;
    for (std::size_t row = 0; row < rows; ++row) lanes |= nonzero_lanes(load(x + row * stride + k));
    for (; lanes != 0; lanes &= lanes - 1) list[count++] = static_cast<std::uint32_t>(k) + __builtin_ctz(lanes);
  }
  for (; k < depth; ++k) {
    bool nonzero = false;
    for (std::size_t row = 0; row < rows; ++row) nonzero |= x[row * stride + k] != 0.0f;
    if (nonzero) list[count++] = static_cast<std::uint32_t>(k);
  }
  return count;
}

template <typename Weight>
void multiply_listed(const LinearWeights& weights, const LinearRows& task, const Weight* panels, std::size_t first,
                     std::size_t last) {
  std::uint32_t list[kMostListed];
  for (std::size_t row = 0; row < task.rows; row += kListedRows) {
    const std::size_t rows = task.rows - row < kListedRows ? task.rows - row : kListedRows;
    const std::size_t count = list_inputs(task.x + row * task.x_stride, task.x_stride, rows, weights.in, list);
    multiply_rows<kListedRows>(weights, task, panels, row, rows, first, last, ListedInputs{count, list});
  }
}

}  // namespace

std::size_t linear_panel() { return kPanel; }

void linear(const LinearWeights& weights, const LinearRows& rows, std::size_t first, std::size_t last) {
  if (weights.quantised != nullptr) {
    multiply_all(weights, rows, weights.quantised, first, last);
  } else {
    multiply_all(weights, rows, weights.values, first, last);
  }
}

void linear_sparse(const LinearWeights& weights, const LinearRows& rows, std::size_t first, std::size_t last) {
  if (weights.in > kMostListed) return linear(weights, rows, first, last);
  if (weights.quantised != nullptr) {
    multiply_listed(weights, rows, weights.quantised, first, last);
  } else {
    multiply_listed(weights, rows, weights.values, first, last);
  }
}

}  // namespace fastsql::cpu::FASTSQL_SET
