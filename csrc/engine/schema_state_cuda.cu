#include "engine/schema_state_cuda.h"

#include "model/weights_cuda.h"

namespace fastsql::cuda {
namespace {

constexpr const char* kWhat = "a schema";

DeviceArray<float> uploaded(const std::vector<float>& values) { return DeviceArray<float>(values, kWhat); }

DeviceArray<std::byte> uploaded(const std::byte* image, std::size_t bytes) { return DeviceArray<std::byte>(image, bytes, kWhat); }

template <typename T>
std::size_t bytes_of(const DeviceArray<T>& array) {
  return array.size() * sizeof(T);
}

}  // namespace

SchemaState::SchemaState(const fastsql::SchemaState& schema, std::size_t d, const Decoder& decoder)
    : d_(d),
      nodes_(schema.nodes),
      values_(schema.values),
      items_(uploaded(schema.items)),
      item_rows_(uploaded(schema.memory.rows)),
      value_pointed_(values_ * d, kWhat),
      value_keys_(uploaded(schema.value_keys)) {
  for (const SchemaLayer& layer : schema.layers) {
    layers_.push_back(
        {rounded(layer.keys_values, kWhat), rounded(layer.query, kWhat), uploaded(layer.mixed), uploaded(layer.log_sum)});
  }
  const DeviceArray<float> values = uploaded(schema.value_states);
  decoder.read_pointed(values.data(), values_, value_pointed_.data(), nullptr);
  if (item_rows_.size() > 0) {
    item_keys_values_ = DeviceArray<float>(decoder.layers() * n_items() * 2 * d, kWhat);
    item_pointed_ = DeviceArray<float>(n_items() * d, kWhat);
    decoder.read_rows(item_rows_.data(), n_items(), item_keys_values_.data(), item_pointed_.data(), nullptr);
    table_keys_ = uploaded(schema.memory.table_keys);
    column_keys_ = uploaded(schema.memory.column_keys);
  }
  expect(cudaStreamSynchronize(nullptr), "reading a schema");
}

std::size_t SchemaState::bytes() const {
  std::size_t bytes = bytes_of(items_) + bytes_of(item_rows_) + bytes_of(item_keys_values_) + bytes_of(item_pointed_) +
                      bytes_of(table_keys_) + bytes_of(column_keys_) + bytes_of(value_pointed_) + bytes_of(value_keys_);
  for (const Layer& layer : layers_) {
    bytes += bytes_of(layer.keys_values) + bytes_of(layer.query) + bytes_of(layer.mixed) + bytes_of(layer.log_sum);
  }
  const std::lock_guard lock(mutex_);
  for (const Tables& tables : resident_) bytes += bytes_of(tables.grammar) + bytes_of(tables.schema);
  return bytes;
}

SchemaLayerView SchemaState::layer(std::size_t index) const {
  const Layer& layer = layers_[index];
  SchemaLayerView view;
  view.n = n_items();
  view.keys_values = layer.keys_values.data();
  if (layer.query.size() > 0) {
    view.rows = items_.data();
    view.query = layer.query.data();
    view.mixed = layer.mixed.data();
    view.log_sum = layer.log_sum.data();
  }
  return view;
}

void SchemaState::fill(DecodeItem& item) const {
  item.nodes.tables = nodes_.tables;
  item.nodes.columns = nodes_.columns;
  item.schema_values = static_cast<int>(values_);
  item.value_pointed = value_pointed_.data();
  item.pointer_keys[static_cast<std::size_t>(grammar::Kind::kSchemaValue)] = value_keys_.data();
  if (item_pointed_.size() == 0) return;
  item.item_keys_values = item_keys_values_.data();
  item.item_stride = n_items() * 2 * d_;
  item.item_pointed = item_pointed_.data();
  item.pointer_keys[static_cast<std::size_t>(grammar::Kind::kTable)] = table_keys_.data();
  item.pointer_keys[static_cast<std::size_t>(grammar::Kind::kColumn)] = column_keys_.data();
}

grammar::SpaceView SchemaState::view(const grammar::ActionSpace& space, const std::byte* base) const {
  const std::shared_ptr<const grammar::SchemaItems>& items = space.shared_schema();
  const std::lock_guard lock(mutex_);
  const Tables* found = nullptr;
  for (const Tables& tables : resident_) {
    if (tables.items == items) found = &tables;
  }
  if (found == nullptr) {
    const grammar::Grammar& grammar = items->grammar();
    resident_.push_back(
        {items, uploaded(grammar.image(), grammar.image_bytes()), uploaded(items->image(), items->image_bytes())});
    found = &resident_.back();
  }
  return space.view(items->grammar().view(found->grammar.data()), items->view(found->schema.data()), base);
}

}  // namespace fastsql::cuda
