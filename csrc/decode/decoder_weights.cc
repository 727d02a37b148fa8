#include "decode/decoder_weights.h"

#include <string>

#include "decode/pointing.h"

namespace fastsql::decode {
namespace {

using model::Weights;

LayerNorm norm_at(const Weights& weights, const std::string& name, std::size_t d, InstructionSet set) {
  return LayerNorm(weights.floats(name + ".weight", {d}), weights.floats(name + ".bias", {d}), 1e-5f, set);
}

Linear to_heads(const Weights& weights, const std::string& name, const HeadLayout& layout, std::size_t parts, std::size_t first,
                std::size_t count, InstructionSet set) {
  const std::size_t d = layout.heads * layout.head_size;
  const Matrix weight = weights.matrix(name + ".weight", parts * d, d);
  return linear_to_heads(weight, weights.floats(name + ".bias", {parts * d}), layout, first, count, set);
}

Linear from_heads(const Weights& weights, const std::string& name, const HeadLayout& layout, InstructionSet set) {
  const std::size_t d = layout.heads * layout.head_size;
  return linear_from_heads(weights.matrix(name + ".weight", d, d), weights.floats(name + ".bias", {d}), layout, set);
}

}  // namespace

DecoderLayer::DecoderLayer(const model::Config& config, const HeadLayout& layout, const Weights& weights,
                           const std::string& prefix, InstructionSet set)
    : self_norm(norm_at(weights, prefix + "self_norm", config.d, set)),
      self_qkv(to_heads(weights, prefix + "self_qkv", layout, 3, 0, 3, set)),
      self_out(from_heads(weights, prefix + "self_out", layout, set)),
      cross_norm(norm_at(weights, prefix + "cross_norm", config.d, set)),
      cross_query(to_heads(weights, prefix + "cross_query", layout, 1, 0, 1, set)),
      cross_key(to_heads(weights, prefix + "cross_kv", layout, 2, 0, 1, set)),
      cross_value(to_heads(weights, prefix + "cross_kv", layout, 2, 1, 1, set)),
      cross_out(from_heads(weights, prefix + "cross_out", layout, set)),
      ffn_norm(norm_at(weights, prefix + "ffn_norm", config.d, set)),
      ffn_in(weights.linear(prefix + "ffn_in", config.ffn, config.d, set)),
      ffn_out(weights.linear(prefix + "ffn_out", config.d, config.ffn, set)) {}

DecoderWeights::DecoderWeights(const model::Config& sizes, const Weights& weights, InstructionSet instructions)
    : config(sizes),
      set(instructions),
      layout(sizes.heads, sizes.head_size()),
      production(weights.floats("decoder.production.weight", {sizes.productions + 2, sizes.d})),
      kind(weights.floats("decoder.kind.weight", {grammar::kWeightedKinds + 1, sizes.d})),
      symbol(weights.floats("decoder.symbol.weight", {sizes.symbols, sizes.d})),
      parent(weights.floats("decoder.parent.weight", {sizes.productions + 1, sizes.d})),
      position(weights.floats("decoder.position.weight", {sizes.max_steps, sizes.d})),
      row_bias(weights.floats("decoder.row.bias", {sizes.d})),
      row(weights.linear("decoder.row", sizes.d, sizes.d, set)),
      norm(norm_at(weights, "decoder.norm", sizes.d, set)),
      production_scores(weights.linear("decoder.production_scores", sizes.productions, sizes.d, set)) {
  layers.reserve(sizes.decoder_layers);
  for (std::size_t index = 0; index < sizes.decoder_layers; ++index) {
    layers.emplace_back(sizes, layout, weights, "decoder.layers." + std::to_string(index) + ".", set);
  }
  const std::size_t pointers = grammar::kPointerKinds;
  const Matrix queries = weights.matrix("decoder.pointer_query.weight", pointers * sizes.d, sizes.d);
  const std::vector<float> biases = weights.floats("decoder.pointer_query.bias", {pointers * sizes.d});
  pointer_queries.reserve(pointers);
  pointer_keys.reserve(pointers);
  for (std::size_t pointer = 0; pointer < pointers; ++pointer) {
    const std::size_t first = pointer * sizes.d;
    pointer_queries.emplace_back(queries.rows(first, sizes.d), biases.data() + first, set);
    pointer_keys.push_back(weights.linear(pointer_key_name(grammar::pointer_kind(pointer)), sizes.d, sizes.d, set));
  }
  if (!sizes.turns) return;
  turn_kind = weights.floats("decoder.turn.kind.weight", {1, sizes.d});
  pointer_queries.push_back(weights.linear("decoder.turn.query", sizes.d, sizes.d, set));
  pointer_keys.push_back(weights.linear(pointer_key_name(grammar::Kind::kTurn), sizes.d, sizes.d, set));
}

}  // namespace fastsql::decode
