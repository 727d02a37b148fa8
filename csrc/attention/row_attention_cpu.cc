#include "attention/row_attention_cpu.h"

#include "core/vectors.h"
#include "linear/linear_cpu.h"

namespace fastsql::cpu::FASTSQL_SET {
namespace {

// rows[count, width], `stride` apart, to panels of their transpose: [count / kPanel][width][kPanel], zero where rows run out.
void pack_transposed(const float* rows, std::size_t count, std::size_t stride, std::size_t width, float* panels) {
  for (std::size_t first = 0; first < count; first += kPanel) {
    for (std::size_t lane = 0; lane < kPanel; ++lane) {
      const float* row = rows + (first + lane) * stride;
      const bool there = first + lane < count;
      for (std::size_t k = 0; k < width; ++k) panels[k * kPanel + lane] = there ? row[k] : 0.0f;
    }
    panels += width * kPanel;
  }
}

// rows[count, width], `stride` apart, to panels of their columns: [width / kPanel][count][kPanel], zero where columns run out.
void pack(const float* rows, std::size_t count, std::size_t stride, std::size_t width, float* panels) {
  for (std::size_t first = 0; first < width; first += kPanel) {
    for (std::size_t row = 0; row < count; ++row, panels += kPanel) {
      const float* from = rows + row * stride + first;
      for (std::size_t lane = 0; lane < kPanel; ++lane) panels[lane] = first + lane < width ? from[lane] : 0.0f;
    }
  }
}

// The largest or the sum of a vector's lanes, in pairs.
template <typename Pair>
float reduce(Vector values, Pair pair) {
  float lanes[kLanes];
  store(lanes, values);
  for (std::size_t half = kLanes / 2; half > 0; half /= 2) {
    for (std::size_t lane = 0; lane < half; ++lane) lanes[lane] = pair(lanes[lane], lanes[lane + half]);
  }
  return lanes[0];
}

// Turns scores[columns] into weights that sum to one, in place; there is room up to the next panel, which is left at zero.
void softmax(float* scores, std::size_t columns) {
  const std::size_t end = (columns + kLanes - 1) / kLanes * kLanes;
  for (std::size_t j = columns; j < end; ++j) scores[j] = -__builtin_huge_valf();
  Vector most = load(scores);
  for (std::size_t j = kLanes; j < end; j += kLanes) most = load(scores + j) > most ? load(scores + j) : most;
  const float largest = reduce(most, [](float one, float other) { return one > other ? one : other; });

  Vector sums = {};
  for (std::size_t j = 0; j < end; j += kLanes) {
    const Vector e = exp_nonpositive(load(scores + j) - largest);
    store(scores + j, e);
    if (j + kLanes <= columns) sums += e;
  }
  if (columns < end) {
    for (std::size_t j = columns; j < end; ++j) scores[j] = 0.0f;
    sums += load(scores + end - kLanes);
  }
  const float norm = 1.0f / reduce(sums, [](float one, float other) { return one + other; });
  for (std::size_t j = 0; j < end; j += kLanes) store(scores + j, load(scores + j) * norm);
}

}  // namespace

void row_attention(const RowAttention& input, std::size_t head, float* workspace) {
  const std::size_t rows = input.rows, count = input.columns, head_size = input.head_size, width = input.heads * head_size;
  const std::size_t columns = padded_to_panel(count), head_columns = padded_to_panel(head_size);
  const std::size_t widest = columns > head_columns ? columns : head_columns, offset = head * head_size;
  float* keys = workspace;
  float* values = keys + columns * head_size;
  float* scores = values + count * head_columns;
  float* scale = scores + rows * columns;
  float* zero = scale + widest;
  for (std::size_t i = 0; i < widest; ++i) zero[i] = 0.0f;
  pack_transposed(input.key + offset, count, input.stride, head_size, keys);
  pack(input.value + offset, count, input.stride, head_size, values);

  for (std::size_t i = 0; i < widest; ++i) scale[i] = 1.0f / __builtin_sqrtf(static_cast<float>(head_size));
  const LinearWeights by_keys{head_size, count, nullptr, keys, scale, zero};
  linear(by_keys, {input.query + offset, rows, input.query_stride, scores, columns, Then::kStore}, 0,
         (count + kPanel - 1) / kPanel);
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t seen = input.causal ? row + 1 : count;
    softmax(scores + row * columns, seen);
    for (std::size_t j = seen; j < count; ++j) scores[row * columns + j] = 0.0f;
  }

  for (std::size_t i = 0; i < widest; ++i) scale[i] = 1.0f;
  const LinearWeights by_values{count, head_size, nullptr, values, scale, zero};
  linear(by_values, {scores, rows, columns, input.mixed + offset, width, Then::kStore}, 0, (head_size + kPanel - 1) / kPanel);
}

}  // namespace fastsql::cpu::FASTSQL_SET
