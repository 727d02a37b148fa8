// The engine on a GPU, where the build has it.
#include "bindings/cuda.h"

#include <pybind11/stl.h>

#include <cmath>
#include <memory>

#include "attention/relation_attention_cuda.h"
#include "bindings/bindings.h"
#include "bindings/engine_arrays.h"
#include "bindings/model_arrays.h"
#include "core/gpus_cuda.h"
#include "engine/engine_cuda.h"

namespace py = pybind11;

namespace fastsql::bindings {
namespace {

py::tuple gpus() {
  std::string problem;
  py::list found;
  for (const cuda::Gpu& gpu : cuda::gpus(problem)) {
    found.append(py::make_tuple(gpu.name, gpu.major, gpu.minor, gpu.multiprocessors, gpu.memory));
  }
  return py::make_tuple(found, problem);
}

std::unique_ptr<cuda::Engine> make(const py::dict& sizes, const py::dict& weights, std::int32_t cls, std::int32_t sep,
                                   std::size_t threads) {
  const model::Config config = config_of(sizes);
  const model::Weights views = weights_of(weights);
  const py::gil_scoped_release release;
  return std::make_unique<cuda::Engine>(config, views, cls, sep, threads);
}

std::shared_ptr<const cuda::SchemaState> encode_schema(const cuda::Engine& engine, const py::object& given,
                                                       const std::optional<Floats>& text_means,
                                                       const std::optional<Floats>& value_means) {
  const SchemaArrays arrays(given, text_means, value_means, engine.config().encoder.hidden);
  const py::gil_scoped_release release;
  return engine.encode_schema(arrays.inputs());
}

// A question: its action space, then the arrays of `Engine.read`.
using Asked = std::tuple<std::shared_ptr<grammar::ActionSpace>, Ids, Floats, Indices, Bytes, py::object>;

// `states` is the address on the GPU of the encoder's states of all texts, one after another, or None: the CUDA core encodes.
py::list parse(const cuda::Engine& engine, const cuda::SchemaState& schema, const std::vector<Asked>& asked, std::size_t beam,
               const std::optional<std::uintptr_t>& states, double patience) {
  std::vector<QuestionArrays> arrays;
  std::vector<cuda::Question> questions;
  arrays.reserve(asked.size());
  for (const auto& [space, token_ids, inside, features, relations, turns] : asked) {
    arrays.push_back({token_ids, inside, features, relations, std::nullopt, TurnArrays(turns)});
    questions.push_back({arrays.back().inputs(schema.n_items(), engine.config()), space});
  }
  std::vector<cuda::Outcome> outcomes;
  {
    const py::gil_scoped_release release;
    outcomes = engine.parse(schema, questions, {beam, patience}, states ? reinterpret_cast<const float*>(*states) : nullptr);
  }
  py::list found;
  for (const cuda::Outcome& outcome : outcomes) {
    if (outcome.failure == nullptr) {
      found.append(parse_tuple(outcome.parse));
    } else {
      found.append(python_error(outcome.failure));
    }
  }
  return found;
}

// Relation-aware attention over tensors that another library keeps on the GPU, for comparisons with it.
class RelationAttention {
 public:
  // Addresses of bfloat16 tensors [batch, heads, rows, head size], those of relations [relations, head size] and of uint8
  // [batch, rows, rows].
  RelationAttention(std::uintptr_t query, std::uintptr_t key, std::uintptr_t value, std::uintptr_t relation_key,
                    std::uintptr_t relation_value, std::uintptr_t relations, std::uintptr_t mixed, std::size_t batch,
                    std::size_t heads, std::size_t rows, std::size_t head_size, std::size_t relation_count) {
    const auto part = [&](std::uintptr_t address, std::size_t number) {
      auto* data = reinterpret_cast<Bfloat16*>(address) + number * heads * rows * head_size;
      return HeadRows<const Bfloat16>::heads_first(data, heads, rows, head_size);
    };
    std::vector<cuda::AttentionItem> items;
    for (std::size_t number = 0; number < batch; ++number) {
      auto* to = reinterpret_cast<Bfloat16*>(mixed) + number * heads * rows * head_size;
      const auto* of = reinterpret_cast<const std::uint8_t*>(relations) + number * rows * rows;
      items.push_back({part(query, number),
                       {part(key, number), {}},
                       {part(value, number), {}},
                       {of, rows, rows, rows},
                       HeadRows<Bfloat16>::heads_first(to, heads, rows, head_size),
                       nullptr});
    }
    items_ = cuda::DeviceArray<cuda::AttentionItem>(items);
    batch_ = {items_.data(),
              batch,
              rows,
              heads,
              head_size,
              relation_count,
              reinterpret_cast<const Bfloat16*>(relation_key),
              reinterpret_cast<const Bfloat16*>(relation_value),
              1.0f / std::sqrt(static_cast<float>(head_size))};
  }

  // Queues it on a stream, by its address.
  void run(std::uintptr_t stream) const { cuda::relation_attention(batch_, reinterpret_cast<CUstream_st*>(stream)); }

 private:
  cuda::DeviceArray<cuda::AttentionItem> items_;
  cuda::AttentionBatch batch_{};
};

}  // namespace

void bind_cuda(py::module_& module) {
  module.def("gpus", &gpus);
  py::class_<RelationAttention>(module, "CudaRelationAttention", "Relation-aware attention over another library's tensors.")
      .def(py::init<std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t, std::uintptr_t,
                    std::uintptr_t, std::size_t, std::size_t, std::size_t, std::size_t, std::size_t>(),
           py::arg("query"), py::arg("key"), py::arg("value"), py::arg("relation_key"), py::arg("relation_value"),
           py::arg("relations"), py::arg("mixed"), py::kw_only(), py::arg("batch"), py::arg("heads"), py::arg("rows"),
           py::arg("head_size"), py::arg("relation_count"))
      .def("run", &RelationAttention::run, py::arg("stream"));
  py::class_<cuda::SchemaState, std::shared_ptr<cuda::SchemaState>>(module, "CudaSchemaState", "What a GPU knows of a schema.")
      .def_property_readonly("n_tables", &cuda::SchemaState::tables)
      .def_property_readonly("n_columns", &cuda::SchemaState::columns)
      .def_property_readonly("n_values", &cuda::SchemaState::values)
      .def_property_readonly("nbytes", &cuda::SchemaState::bytes);
  py::class_<cuda::Engine>(module, "CudaEngine", "Encoder, graph, decoder and search of one model on a GPU. Thread-safe.")
      .def(py::init(&make), py::arg("sizes"), py::arg("weights"), py::arg("cls"), py::arg("sep"), py::arg("threads"))
      .def("encode_schema", &encode_schema, py::arg("inputs"), py::arg("text_means") = py::none(),
           py::arg("value_means") = py::none())
      .def("parse", &parse, py::arg("schema"), py::arg("questions"), py::arg("beam"), py::arg("states") = py::none(),
           py::arg("patience") = 0.0);
}

}  // namespace fastsql::bindings
