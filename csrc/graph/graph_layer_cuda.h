// A layer of the relation graph on the GPU, for many questions at once. The formulas are those of graph/graph_layer.h; what of them
// depends on the schema only has been computed before, by the CPU core.
//
// The rows of a batch lie one behind the other, [R + Z, d]: first the question rows (tokens, then value candidates) of question 0, of
// question 1 and so on, R in all; then, where a layer is joint, the schema rows of each question, Z in all. The first joint layer
// writes these; a further one reads them as it reads question rows. Launches read what belongs together from items in device memory,
// which the host fills and uploads for all layers at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "attention/relation_attention_cuda.h"
#include "core/device.h"
#include "core/layer_norm_cuda.h"
#include "graph/merge_cuda.h"
#include "linear/linear_cuda.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql::cuda {

// A schema of S rows as one layer reads it, in device memory: SchemaLayer of engine/schema_state.h.
struct SchemaLayerView {
  std::size_t n = 0;                      // S
  const Bfloat16* keys_values = nullptr;  // [S, 2 d]
  // Of the first joint layer only:
  const float* rows = nullptr;      // [S, d], the layer's input
  const Bfloat16* query = nullptr;  // [S, d]
  const float* mixed = nullptr;     // [S, d]
  const float* log_sum = nullptr;   // [heads, S]
};

// Where a question lies in its batch.
struct QuestionPlace {
  std::size_t first = 0, rows = 0;               // question rows
  std::size_t first_item = 0;                    // its first schema row among the Z; unused in a cached layer
  const std::uint8_t* relations = nullptr;       // [rows, rows + S], of question rows to question and schema rows
  const std::uint8_t* item_relations = nullptr;  // [S, item_columns], of schema rows to these; unused in a cached layer
  std::size_t item_columns = 0;                  // rows, or rows + S: a further joint layer reads all
};

// Device memory that the layers of a batch work in, one after the other.
struct GraphMemory {
  std::size_t question_rows = 0, schema_rows = 0;  // R and Z
  float* rows = nullptr;                           // [R + Z, d], of which the caller fills [R, d]
  Bfloat16* projected = nullptr;                   // [R, 3 d], with further joint layers [R + Z, 3 d]: queries, keys and values
  Bfloat16* mixed = nullptr;                       // [R + Z, d]
  float* log_sum = nullptr;                        // [heads, S] for each question, Z * heads in all
  float* inner = nullptr;                          // [R + Z, ffn]
};

// What a layer makes of schema rows.
enum class LayerKind {
  kCached,        // nothing: they are the same for all questions
  kFirstJoint,    // each question's own, from cached ones
  kFurtherJoint,  // each question's own, from its own
};

// What the launches of one layer read.
struct GraphItems {
  LayerKind kind = LayerKind::kCached;
  const AttentionItem* attention = nullptr;  // [attention_count], in device memory: one for each question, in a joint layer two
  std::size_t attention_count = 0;
  const MergeItem* merge = nullptr;  // [merge_count], in device memory: one for each question in the first joint layer, else none
  std::size_t merge_count = 0;
  std::size_t largest_rows = 0;  // of any attention item
  std::size_t largest_n = 0;     // of any merge item
};

class GraphLayer {
 public:
  // Copies the weights whose names begin with `prefix`. Throws ModelError where one is missing or of another shape, or where the model
  // has more relations (64) or other heads (32, 64) than the kernels take.
  GraphLayer(const model::Config& config, const model::Weights& weights, const std::string& prefix);

  // Memory for R question rows and Z schema rows (0 where no layer is joint), and how many bytes of scratch memory that is.
  static std::size_t memory_bytes(const model::Config& config, std::size_t question_rows, std::size_t schema_rows);
  static GraphMemory take_memory(const model::Config& config, std::size_t question_rows, std::size_t schema_rows,
                                 DeviceScratch& scratch);

  // On the host: the items of one question. The first is for every layer with a cached schema, all three for the first joint one.
  AttentionItem question_item(const GraphMemory& memory, const QuestionPlace& place, const SchemaLayerView& schema) const;
  AttentionItem schema_item(const GraphMemory& memory, const QuestionPlace& place, const SchemaLayerView& schema) const;
  MergeItem merge_item(const GraphMemory& memory, const QuestionPlace& place, const SchemaLayerView& schema) const;
  // Those of a further joint layer, with n schema rows: of question rows, and of schema rows. Both attend to all.
  AttentionItem further_question_item(const GraphMemory& memory, const QuestionPlace& place, std::size_t n) const;
  AttentionItem further_schema_item(const GraphMemory& memory, const QuestionPlace& place, std::size_t n) const;

  // Queues the layer: replaces the question rows of `memory` by its output, and in a joint layer writes the schema rows, which a
  // further one reads before. No question's rows depend on the other questions.
  void apply(const GraphMemory& memory, const GraphItems& items, cudaStream_t stream) const;

 private:
  HeadRows<const Bfloat16> projected(const GraphMemory& memory, std::size_t first, std::size_t rows, std::size_t number) const;
  HeadRows<Bfloat16> mixed(const GraphMemory& memory, std::size_t first, std::size_t rows) const;

  std::size_t d_, heads_;
  std::size_t relations_;
  LayerNorm norm_;
  Linear qkv_;
  DeviceArray<Bfloat16> relation_key_, relation_value_;  // [relations, head_size]
  Linear out_;
  LayerNorm ffn_norm_;
  Linear ffn_in_, ffn_out_;
};

}  // namespace fastsql::cuda
