// Everything about a schema that questions need on the GPU: made once a schema, by the CPU core, and kept there.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <vector>

#include "core/bfloat16.h"
#include "core/device.h"
#include "decode/cuda/decoder.h"
#include "engine/schema_state.h"
#include "grammar/action_space.h"
#include "graph/graph_layer_cuda.h"

namespace fastsql::cuda {

class SchemaState {
 public:
  // Uploads what the CPU core has made of a schema, and has the decoder read it. Throws LimitError where there is no room.
  SchemaState(const fastsql::SchemaState& schema, std::size_t d, const Decoder& decoder);

  std::size_t tables() const { return nodes_.tables; }
  std::size_t columns() const { return nodes_.columns; }
  std::size_t values() const { return values_; }
  std::size_t n_items() const { return nodes_.size(); }
  // Of device memory.
  std::size_t bytes() const;

  // As a layer of the graph reads it.
  SchemaLayerView layer(std::size_t index) const;

  // Fills what of a search's item depends on the schema: sizes and values; and where no layer is joint, the decoder's reading of
  // tables and columns.
  void fill(DecodeItem& item) const;

  // Final states [S, d] of tables and columns where no layer is joint; null where one is, as they are each question's own.
  const float* final_rows() const { return item_rows_.size() == 0 ? nullptr : item_rows_.data(); }

  // The view of an action space whose own arrays will lie at `base` in device memory; those of grammar and schema are uploaded the
  // first time. Thread-safe.
  grammar::SpaceView view(const grammar::ActionSpace& space, const std::byte* base) const;

 private:
  struct Layer {
    DeviceArray<Bfloat16> keys_values;  // [S, 2 d]
    DeviceArray<Bfloat16> query;        // of a joint layer: [S, d]
    DeviceArray<float> mixed, log_sum;  // [S, d], [heads, S]
  };
  // What the automaton knows of the schema.
  struct Tables {
    std::shared_ptr<const grammar::SchemaItems> items;
    DeviceArray<std::byte> grammar, schema;
  };

  std::size_t d_;
  NodeLayout nodes_;
  std::size_t values_;
  DeviceArray<float> items_;  // [S, d], after the cached layers
  std::vector<Layer> layers_;
  DeviceArray<float> item_rows_, item_keys_values_, item_pointed_, table_keys_, column_keys_;  // empty where a layer is joint
  DeviceArray<float> value_pointed_, value_keys_;                                              // [W, d]
  mutable std::mutex mutex_;
  mutable std::vector<Tables> resident_;
};

}  // namespace fastsql::cuda
