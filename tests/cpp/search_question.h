// A question with random rows, as the decoder's memory on the processor and on the GPU.
#pragma once

#include <cstddef>
#include <deque>
#include <memory>
#include <random>
#include <utility>
#include <vector>

#include "core/device.h"
#include "decode/beam_search.h"
#include "decode/cuda/decoder.h"
#include "grammar/action_space.h"

namespace fastsql::test {

class SearchQuestion {
 public:
  SearchQuestion(std::shared_ptr<const grammar::ActionSpace> space, std::size_t d, unsigned seed) : space_(std::move(space)) {
    std::mt19937 generator(seed);
    std::normal_distribution<float> normal;
    const auto fill = [&](std::size_t n) {
      std::vector<float> rows(n * d);
      for (float& entry : rows) entry = normal(generator);
      return rows;
    };
    question_ = fill(nodes().question());
    items_ = fill(nodes().schema());
    values_ = fill(size(grammar::Kind::kSchemaValue));
  }

  const std::shared_ptr<const grammar::ActionSpace>& space() const { return space_; }

  decode::Search on_processor(const decode::Decoder& decoder, std::size_t beam) const {
    const std::size_t d = decoder.config().d;
    std::deque<std::vector<float>> kept;
    const auto read = [&](const std::vector<float>& rows) {
      const std::size_t n = rows.size() / d;
      return decoder.read_rows(rows.data(), n, kept.emplace_back(decoder.keyed_size(n)).data());
    };
    const auto keys = [&](grammar::Kind kind) {
      auto& storage = kept.emplace_back(size(kind) * d);
      decoder.pointer_keys(kind, rows_of(kind, d), size(kind), storage.data());
      return storage.data();
    };
    decode::Memory memory;
    memory.nodes = nodes();
    memory.schema_values = size(grammar::Kind::kSchemaValue);
    memory.question = read(question_);
    memory.items = read(items_);
    memory.value_rows = values_.data();
    for (const grammar::Kind kind : kPointed) memory.pointer_keys[static_cast<std::size_t>(kind)] = keys(kind);
    return decode::beam_search(decoder, memory, space_, beam);
  }

  // The same in device memory that `kept` holds on to, with room for a search. `automaton`: bytes for states, 0 for as many as
  // should do.
  cuda::DecodeItem on_gpu(const cuda::Decoder& decoder, std::size_t d, std::size_t layers, int beam,
                          std::deque<cuda::DeviceArray<float>>& kept, std::size_t automaton = 0) const {
    const auto floats = [&](std::size_t n) { return kept.emplace_back(n).data(); };
    const auto bytes = [&](std::size_t n) { return reinterpret_cast<std::byte*>(floats((n + 3) / 4)); };
    const auto image = [&](const auto& of) {
      std::byte* to = bytes(of.image_bytes());
      if (of.image_bytes() > 0) cuda::expect(cudaMemcpy(to, of.image(), of.image_bytes(), cudaMemcpyHostToDevice), "an image");
      return to;
    };
    cuda::DecodeItem item;
    item.nodes = nodes();
    item.schema_values = static_cast<int>(size(grammar::Kind::kSchemaValue));
    const auto read = [&](const std::vector<float>& rows, const float*& keys_values, const float*& pointed, std::size_t& stride) {
      const std::size_t n = rows.size() / d;
      float *both = floats(layers * n * 2 * d), *added = floats(n * d);
      decoder.read_rows(kept.emplace_back(rows).data(), n, both, added, nullptr);
      keys_values = both;
      pointed = added;
      stride = n * 2 * d;
    };
    read(question_, item.question_keys_values, item.question_pointed, item.question_stride);
    read(items_, item.item_keys_values, item.item_pointed, item.item_stride);
    float* pointed = floats(values_.size());
    decoder.read_pointed(kept.emplace_back(values_).data(), values_.size() / d, pointed, nullptr);
    item.value_pointed = pointed;
    for (const grammar::Kind kind : kPointed) {
      float* keys = floats(size(kind) * d);
      const std::vector<float> rows(rows_of(kind, d), rows_of(kind, d) + size(kind) * d);
      decoder.pointer_keys(kind, kept.emplace_back(rows).data(), size(kind), keys, nullptr);
      item.pointer_keys[static_cast<std::size_t>(kind)] = keys;
    }
    const grammar::SchemaItems& schema = space_->schema();
    item.space = space_->view(schema.grammar().view(image(schema.grammar())), schema.view(image(schema)), image(*space_));
    item.automaton = automaton > 0 ? automaton : cuda::automaton_bytes(space_->view(), beam);
    const cuda::SearchSizes sizes = decoder.sizes(item, beam);
    item.workspace = bytes(cuda::Decoder::workspace_bytes(sizes));
    item.result = bytes(cuda::Decoder::result_bytes(sizes));
    return item;
  }

 private:
  static constexpr grammar::Kind kPointed[] = {grammar::Kind::kTable,       grammar::Kind::kColumn, grammar::Kind::kCandidate,
                                               grammar::Kind::kSchemaValue, grammar::Kind::kStart,  grammar::Kind::kEnd};

  std::size_t size(grammar::Kind kind) const {
    return static_cast<std::size_t>(space_->view().end(kind) - space_->view().offset(kind));
  }

  // The nodes that the actions of the space point at; there are no earlier turns.
  NodeLayout nodes() const {
    return {.tokens = size(grammar::Kind::kStart),
            .candidates = size(grammar::Kind::kCandidate),
            .turns = 0,
            .tables = size(grammar::Kind::kTable),
            .columns = size(grammar::Kind::kColumn)};
  }

  const float* rows_of(grammar::Kind kind, std::size_t d) const {
    if (kind == grammar::Kind::kSchemaValue) return values_.data();
    const std::size_t first = decode::pointed_rows(kind, nodes(), values_.size() / d).first, questions = nodes().question();
    return first < questions ? question_.data() + first * d : items_.data() + (first - questions) * d;
  }

  std::shared_ptr<const grammar::ActionSpace> space_;
  std::vector<float> question_, items_, values_;  // [n, d]
};

}  // namespace fastsql::test
