#include "decode/cuda/decoder.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "decode/cuda/beam.h"
#include "decode/cuda/layers.h"

namespace fastsql::cuda {
namespace {

constexpr int kBlocksTogether = 2;                         // on one processor, so that one computes while another waits
constexpr std::size_t kMostNear = std::size_t{128} << 10;  // bytes of a grammar that shared memory has room for beside the rest

__host__ __device__ SearchSizes sizes_of(const DecoderView& model, const DecodeItem& item, int beam) {
  const grammar::SpaceView& space = item.space;
  const int steps = model.max_steps < space.budget ? model.max_steps : space.budget;
  return {beam, space.budget, steps, space.size(), model.d, model.ffn, model.layers, model.productions, item.automaton};
}

// Fills in what a block knows of its question. All threads of the block call it.
__device__ void read_question(Question& question, const DecoderView* model, const DecodeBatch& batch) {
  if (threadIdx.x == 0) {
    question.model = *model;
    question.item = batch.items[static_cast<int>(blockIdx.x) / batch.team];
    question.sizes = sizes_of(question.model, question.item, batch.beam);
    question.patience = batch.patience;
    Carver workspace(question.item.workspace), result(question.item.result);
    question.memory = SearchMemory::at(workspace, question.sizes);
    question.result = SearchResult::at(result, question.sizes);
    question.team = {static_cast<int>(blockIdx.x) % batch.team, batch.team};
  }
  __syncthreads();
  const auto number = static_cast<int>(threadIdx.x);
  if (number < question.model.layers) question.layers()[number] = question.model.layer[number];
}

// The first of a grammar's arrays: where its image begins.
struct Lowest {
  const std::byte** address;
  template <typename T>
  FASTSQL_HOST_DEVICE void operator()(const T* array) const {
    const auto* place = reinterpret_cast<const std::byte*>(array);
    if (*address == nullptr || place < *address) *address = place;
  }
};

// Makes a pointer into one image point into a copy of it.
struct Moved {
  const std::byte* from;
  const std::byte* to;
  template <typename T>
  FASTSQL_HOST_DEVICE void operator()(const T*& array) const {
    array = reinterpret_cast<const T*>(to + (reinterpret_cast<const std::byte*>(array) - from));
  }
};

// Copies the question's grammar to shared memory. All threads of the block call it, and meet afterwards.
__device__ void keep_grammar_near(Question& question, std::size_t bytes) {
  grammar::GrammarView view = question.item.space.grammar;
  const std::byte* from = nullptr;
  view.each_array(Lowest{&from});
  std::byte* to = question.grammar();
  for (std::size_t i = threadIdx.x; i < bytes / sizeof(uint4); i += kSearchThreads) {
    reinterpret_cast<uint4*>(to)[i] = reinterpret_cast<const uint4*>(from)[i];
  }
  __syncthreads();
  if (threadIdx.x == 0) question.item.space.grammar.each_array(Moved{from, to});
  __syncthreads();
}

// How many hypotheses are live, and where they are. All threads of the block call it, and meet afterwards.
__device__ int read_beam(Question& question) {
  const Beam& beam = *question.memory.control;
  const int live = beam.live, number = static_cast<int>(threadIdx.x);
  if (number < live) question.slots[number] = beam.slots[number];
  __syncthreads();
  return live;
}

template <int kHead>
__global__ void __launch_bounds__(kSearchThreads, kBlocksTogether)
    search_batch(const DecoderView* model, const DecodeBatch batch) {
  Question& question = *reinterpret_cast<Question*>(shared_memory());
  read_question(question, model, batch);
  const Team team = question.team;
  if (team.rank == 0 && batch.grammar_bytes > 0) keep_grammar_near(question, batch.grammar_bytes);
  if (team.rank == 0) begin(question);
  team.barrier();
  Group beam{0, 0, read_beam(question), 0, 0};
  while (beam.count > 0) {
    for (int first = 0; first < beam.count; first += kGroupRows) {
      const Group group{beam.step, first, min(beam.count - first, kGroupRows), beam.nodes + first, beam.set};
      step<kHead>(question, group);
      project(question, group);
      score(question, group);
    }
    if (team.rank == 0) choose(question, beam);
    team.barrier();
    const int nodes = beam.nodes + beam.count;
    beam = {beam.step + 1, 0, read_beam(question), nodes, 1 - beam.set};
  }
}

void expect_size(const char* what, std::size_t of_model, std::int32_t of_space) {
  if (of_model == static_cast<std::size_t>(of_space)) return;
  throw ModelError("the model has " + std::to_string(of_model) + " " + what + ", the action space " + std::to_string(of_space));
}

[[noreturn]] void fail(SearchStatus status, const SearchSizes& sizes) {
  switch (status) {
    case SearchStatus::kTooManyDecisions:
      throw LimitError("the decoder was asked for decision " + std::to_string(sizes.steps + 1) + ", the model has " +
                       std::to_string(sizes.steps) + ". Give the automaton a step budget no larger than the model's.");
    case SearchStatus::kMemoryFull:
      throw LimitError("the automaton's states outgrew the " + std::to_string(sizes.automaton) +
                       " bytes that they share on the GPU. Parse this question on the processor.");
    case SearchStatus::kUnknownSymbol:
      throw ModelError("the grammar has a symbol that the model has not learned");
    case SearchStatus::kPointsAhead:
      throw ModelError("a pointer to a decision comes before it");
    default:
      throw ModelError("the grammar comes to a dead end");
  }
}

template <typename T>
std::vector<T> copied(const T* from, std::int32_t count) {
  return std::vector<T>(from, from + count);
}

}  // namespace

std::size_t automaton_bytes(const grammar::SpaceView& space, int beam) {
  const auto actions = static_cast<std::size_t>(beam) * (static_cast<std::size_t>(space.budget) + 1);
  const std::size_t bytes =
      actions * static_cast<std::size_t>(space.grammar.most_bytes) + static_cast<std::size_t>(space.turn_bytes);
  return std::min<std::size_t>(bytes, grammar::BoundedArena::kMostBytes);
}

SearchSizes Decoder::sizes(const DecodeItem& item, int beam) const {
  const grammar::SpaceView& space = item.space;
  const auto size = [&](grammar::Kind kind) { return space.end(kind) - space.offset(kind); };
  expect_size("productions", config_.productions, size(grammar::Kind::kProduction));
  expect_size("tables", item.nodes.tables, size(grammar::Kind::kTable));
  expect_size("columns", item.nodes.columns, size(grammar::Kind::kColumn));
  expect_size("candidates", item.nodes.candidates, size(grammar::Kind::kCandidate));
  expect_size("schema values", static_cast<std::size_t>(item.schema_values), size(grammar::Kind::kSchemaValue));
  expect_size("tokens", item.nodes.tokens, size(grammar::Kind::kStart));
  expect_size("earlier turns", item.nodes.turns, size(grammar::Kind::kTurn));
  expect_size("things that earlier turns offer", static_cast<std::size_t>(item.entries),
              size(grammar::Kind::kStep) - space.budget);
  if (item.nodes.turns > 0 && !config_.turns) throw ModelError("the model has no weights for earlier turns");
  if (beam < 1 || beam > kWidestBeam) {
    throw ModelError("a beam of " + std::to_string(beam) + " hypotheses; on the GPU it may have from 1 to " +
                     std::to_string(kWidestBeam));
  }
  return sizes_of(view(), item, beam);
}

std::size_t Decoder::workspace_bytes(const SearchSizes& sizes) {
  Carver carver(nullptr);
  SearchMemory::at(carver, sizes);
  return carver.used();
}

std::size_t Decoder::result_bytes(const SearchSizes& sizes) {
  Carver carver(nullptr);
  SearchResult::at(carver, sizes);
  return carver.used();
}

void Decoder::search(const DecodeBatch& batch, cudaStream_t stream) const {
  if (batch.count == 0) return;
  DecodeBatch checked = batch;
  checked.team = std::max(1, batch.team);
  const auto size = [](std::size_t number) { return static_cast<int>(number); };
  if (checked.team == 1 || checked.grammar_bytes > kMostNear) checked.grammar_bytes = 0;
  const std::size_t shared =
      Question::shared_bytes(size(config_.d), size(config_.ffn), size(config_.decoder_layers), checked.grammar_bytes);
  const Shape shape{dim3(static_cast<unsigned>(batch.count * checked.team)), static_cast<unsigned>(kSearchThreads), shared,
                    static_cast<unsigned>(checked.team)};
  launch("beam search", config_.head_size() == 32 ? search_batch<32> : search_batch<64>, shape, stream, view_.data(), checked);
}

decode::Search read_search(const std::byte* result, const SearchSizes& sizes) {
  // The layout is that of the device; nothing is written through it.
  Carver carver(const_cast<std::byte*>(result));
  const SearchResult read = SearchResult::at(carver, sizes);
  const SearchHeader& header = *read.header;
  if (header.status != SearchStatus::kDone) fail(header.status, sizes);
  decode::Search search;
  search.unfinished = header.unfinished;
  search.steps = static_cast<std::size_t>(header.steps);
  for (std::int32_t i = 0; i < header.finished; ++i) {
    const std::int32_t place = header.places[i];
    decode::Hypothesis& hypothesis = search.finished.emplace_back();
    hypothesis.path =
        copied(read.paths + static_cast<std::size_t>(place) * static_cast<std::size_t>(sizes.budget), read.lengths[place]);
    const std::size_t first = static_cast<std::size_t>(place) * static_cast<std::size_t>(sizes.steps);
    hypothesis.log_probabilities = copied(read.gains + first, read.decisions[place]);
    hypothesis.kept = copied(read.kept + first, read.decisions[place]);
    std::copy_if(hypothesis.path.begin(), hypothesis.path.end(), std::back_inserter(hypothesis.actions),
                 [](std::int32_t action) { return action >= 0; });
  }
  return search;
}

}  // namespace fastsql::cuda
