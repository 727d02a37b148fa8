#include "graph/graph_layer_cuda.h"

#include <cmath>

#include "attention/warp_attention.h"
#include "model/weights_cuda.h"

namespace fastsql::cuda {
namespace {

const model::Config& checked(const model::Config& config) {
  const std::size_t head_size = config.heads == 0 ? 0 : config.head_size();
  if ((head_size != 32 && head_size != 64) || head_size * config.heads != config.d) {
    throw ModelError("the graph has " + std::to_string(config.heads) + " heads in " + std::to_string(config.d) +
                     " numbers; the CUDA kernels take heads of 32 and 64");
  }
  if (config.relations == 0 || config.relations > warp::kRelations) {
    throw ModelError("the graph has " + std::to_string(config.relations) + " relations; the CUDA kernels take from 1 to " +
                     std::to_string(warp::kRelations));
  }
  return config;
}

}  // namespace

GraphLayer::GraphLayer(const model::Config& config, const model::Weights& weights, const std::string& prefix)
    : d_(checked(config).d),
      heads_(config.heads),
      relations_(config.relations),
      norm_(norm_at(weights, prefix + "norm", d_)),
      qkv_(linear_at(weights, prefix + "qkv", 3 * d_, d_)),
      relation_key_(bfloat16_at(weights, prefix + "relation_key", {relations_, config.head_size()})),
      relation_value_(bfloat16_at(weights, prefix + "relation_value", {relations_, config.head_size()})),
      out_(linear_at(weights, prefix + "out", d_, d_)),
      ffn_norm_(norm_at(weights, prefix + "ffn_norm", d_)),
      ffn_in_(linear_at(weights, prefix + "ffn_in", config.ffn, d_)),
      ffn_out_(linear_at(weights, prefix + "ffn_out", d_, config.ffn)) {}

std::size_t GraphLayer::memory_bytes(const model::Config& config, std::size_t question_rows, std::size_t schema_rows) {
  const std::size_t rows = question_rows + schema_rows;
  return DeviceScratch::rounded(rows * config.d * sizeof(float)) +
         DeviceScratch::rounded(question_rows * 3 * config.d * sizeof(Bfloat16)) +
         DeviceScratch::rounded(rows * config.d * sizeof(Bfloat16)) +
         DeviceScratch::rounded(schema_rows * config.heads * sizeof(float)) +
         DeviceScratch::rounded(rows * config.ffn * sizeof(float));
}

GraphMemory GraphLayer::take_memory(const model::Config& config, std::size_t question_rows, std::size_t schema_rows,
                                    DeviceScratch& scratch) {
  const std::size_t rows = question_rows + schema_rows;
  GraphMemory memory{question_rows, schema_rows};
  memory.rows = scratch.take<float>(rows * config.d);
  memory.projected = scratch.take<Bfloat16>(question_rows * 3 * config.d);
  memory.mixed = scratch.take<Bfloat16>(rows * config.d);
  memory.log_sum = scratch.take<float>(schema_rows * config.heads);
  memory.inner = scratch.take<float>(rows * config.ffn);
  return memory;
}

AttentionItem GraphLayer::question_item(const GraphMemory& memory, const QuestionPlace& place,
                                        const SchemaLayerView& schema) const {
  const std::size_t head_size = d_ / heads_, columns = place.rows + schema.n;
  const auto part = [&](std::size_t number) {
    const Bfloat16* data = memory.projected + place.first * 3 * d_ + number * d_;
    return HeadRows<const Bfloat16>::heads_beside(data, heads_, place.rows, head_size, 3 * d_);
  };
  const auto schema_part = [&](std::size_t number) {
    return HeadRows<const Bfloat16>::heads_beside(schema.keys_values + number * d_, heads_, schema.n, head_size, 2 * d_);
  };
  return {part(0),
          {part(1), schema_part(0)},
          {part(2), schema_part(1)},
          {place.relations, place.rows, columns, columns},
          HeadRows<Bfloat16>::heads_beside(memory.mixed + place.first * d_, heads_, place.rows, head_size, d_),
          nullptr};
}

AttentionItem GraphLayer::schema_item(const GraphMemory& memory, const QuestionPlace& place,
                                      const SchemaLayerView& schema) const {
  const std::size_t head_size = d_ / heads_;
  const auto part = [&](std::size_t number) {
    const Bfloat16* data = memory.projected + place.first * 3 * d_ + number * d_;
    return HeadRows<const Bfloat16>::heads_beside(data, heads_, place.rows, head_size, 3 * d_);
  };
  Bfloat16* mixed = memory.mixed + (memory.question_rows + place.first_item) * d_;
  return {HeadRows<const Bfloat16>::heads_beside(schema.query, heads_, schema.n, head_size, d_),
          {part(1), {}},
          {part(2), {}},
          {place.item_relations, schema.n, place.rows, place.rows},
          HeadRows<Bfloat16>::heads_beside(mixed, heads_, schema.n, head_size, d_),
          memory.log_sum + place.first_item * heads_};
}

MergeItem GraphLayer::merge_item(const GraphMemory& memory, const QuestionPlace& place, const SchemaLayerView& schema) const {
  const std::size_t first = (memory.question_rows + place.first_item) * d_;
  return {schema.rows,
          schema.mixed,
          schema.log_sum,
          memory.log_sum + place.first_item * heads_,
          memory.mixed + first,
          memory.rows + first,
          static_cast<int>(schema.n)};
}

void GraphLayer::apply(const GraphMemory& memory, const GraphItems& items, cudaStream_t stream) const {
  const LayerNormView norm = norm_.view(), ffn_norm = ffn_norm_.view();
  const std::size_t head_size = d_ / heads_;
  qkv_.apply(memory.rows, memory.question_rows, memory.projected, stream, &norm);
  relation_attention({items.attention, items.attention_count, items.largest_rows, heads_, head_size, relations_,
                      relation_key_.data(), relation_value_.data(), 1.0f / std::sqrt(static_cast<float>(head_size))},
                     stream);
  merge_halves({items.merge, items.merge_count, items.largest_n, heads_, head_size}, stream);
  const std::size_t rows = memory.question_rows + (items.merge_count > 0 ? memory.schema_rows : 0);
  out_.apply(memory.mixed, rows, memory.rows, Then::kAdd, stream);
  ffn_in_.apply(memory.rows, rows, memory.inner, Then::kRelu, stream, &ffn_norm);
  ffn_out_.apply(memory.inner, rows, memory.rows, Then::kAdd, stream);
}

}  // namespace fastsql::cuda
