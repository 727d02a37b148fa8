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

// Rows whose queries, keys and values a layer makes: a further joint layer those of schema rows, too.
std::size_t projected_rows(const model::Config& config, std::size_t question_rows, std::size_t schema_rows) {
  return question_rows + (config.joint_layers > 1 ? schema_rows : 0);
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
         DeviceScratch::rounded(projected_rows(config, question_rows, schema_rows) * 3 * config.d * sizeof(Bfloat16)) +
         DeviceScratch::rounded(rows * config.d * sizeof(Bfloat16)) +
         DeviceScratch::rounded(schema_rows * config.heads * sizeof(float)) +
         DeviceScratch::rounded(rows * config.ffn * sizeof(float));
}

GraphMemory GraphLayer::take_memory(const model::Config& config, std::size_t question_rows, std::size_t schema_rows,
                                    DeviceScratch& scratch) {
  const std::size_t rows = question_rows + schema_rows;
  GraphMemory memory{question_rows, schema_rows};
  memory.rows = scratch.take<float>(rows * config.d);
  memory.projected = scratch.take<Bfloat16>(projected_rows(config, question_rows, schema_rows) * 3 * config.d);
  memory.mixed = scratch.take<Bfloat16>(rows * config.d);
  memory.log_sum = scratch.take<float>(schema_rows * config.heads);
  memory.inner = scratch.take<float>(rows * config.ffn);
  return memory;
}

// Queries (number 0), keys (1) or values (2) of `rows` rows of the batch, from `first` on.
HeadRows<const Bfloat16> GraphLayer::projected(const GraphMemory& memory, std::size_t first, std::size_t rows,
                                               std::size_t number) const {
  const Bfloat16* data = memory.projected + first * 3 * d_ + number * d_;
  return HeadRows<const Bfloat16>::heads_beside(data, heads_, rows, d_ / heads_, 3 * d_);
}

HeadRows<Bfloat16> GraphLayer::mixed(const GraphMemory& memory, std::size_t first, std::size_t rows) const {
  return HeadRows<Bfloat16>::heads_beside(memory.mixed + first * d_, heads_, rows, d_ / heads_, d_);
}

AttentionItem GraphLayer::question_item(const GraphMemory& memory, const QuestionPlace& place,
                                        const SchemaLayerView& schema) const {
  const std::size_t columns = place.rows + schema.n;
  const auto part = [&](std::size_t number) { return projected(memory, place.first, place.rows, number); };
  const auto schema_part = [&](std::size_t number) {
    return HeadRows<const Bfloat16>::heads_beside(schema.keys_values + number * d_, heads_, schema.n, d_ / heads_, 2 * d_);
  };
  return {part(0),
          {part(1), schema_part(0)},
          {part(2), schema_part(1)},
          {place.relations, place.rows, columns, columns},
          mixed(memory, place.first, place.rows),
          nullptr};
}

AttentionItem GraphLayer::schema_item(const GraphMemory& memory, const QuestionPlace& place,
                                      const SchemaLayerView& schema) const {
  const auto part = [&](std::size_t number) { return projected(memory, place.first, place.rows, number); };
  return {HeadRows<const Bfloat16>::heads_beside(schema.query, heads_, schema.n, d_ / heads_, d_),
          {part(1), {}},
          {part(2), {}},
          {place.item_relations, schema.n, place.rows, place.item_columns},
          mixed(memory, memory.question_rows + place.first_item, schema.n),
          memory.log_sum + place.first_item * heads_};
}

AttentionItem GraphLayer::further_question_item(const GraphMemory& memory, const QuestionPlace& place, std::size_t n) const {
  const std::size_t columns = place.rows + n, first_item = memory.question_rows + place.first_item;
  const auto part = [&](std::size_t number) { return projected(memory, place.first, place.rows, number); };
  const auto schema_part = [&](std::size_t number) { return projected(memory, first_item, n, number); };
  return {part(0),
          {part(1), schema_part(1)},
          {part(2), schema_part(2)},
          {place.relations, place.rows, columns, columns},
          mixed(memory, place.first, place.rows),
          nullptr};
}

AttentionItem GraphLayer::further_schema_item(const GraphMemory& memory, const QuestionPlace& place, std::size_t n) const {
  AttentionItem item = further_question_item(memory, place, n);
  const std::size_t first_item = memory.question_rows + place.first_item;
  item.query = projected(memory, first_item, n, 0);
  item.relations = {place.item_relations, n, place.rows + n, place.item_columns};
  item.mixed = mixed(memory, first_item, n);
  return item;
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
  const std::size_t all = memory.question_rows + memory.schema_rows;
  const std::size_t read = items.kind == LayerKind::kFurtherJoint ? all : memory.question_rows;
  const std::size_t written = items.kind == LayerKind::kCached ? memory.question_rows : all;
  qkv_.apply(memory.rows, read, memory.projected, stream, &norm);
  relation_attention({items.attention, items.attention_count, items.largest_rows, heads_, head_size, relations_,
                      relation_key_.data(), relation_value_.data(), 1.0f / std::sqrt(static_cast<float>(head_size))},
                     stream);
  merge_halves({items.merge, items.merge_count, items.largest_n, heads_, head_size}, stream);
  out_.apply(memory.mixed, written, memory.rows, Then::kAdd, stream);
  ffn_in_.apply(memory.rows, written, memory.inner, Then::kRelu, stream, &ffn_norm);
  ffn_out_.apply(memory.inner, written, memory.rows, Then::kAdd, stream);
}

}  // namespace fastsql::cuda
