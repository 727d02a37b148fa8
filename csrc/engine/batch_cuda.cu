#include "engine/batch_cuda.h"

#include <algorithm>
#include <cstring>

namespace fastsql::cuda {
namespace {

using grammar::Kind;

constexpr Kind kOfQuestion[] = {Kind::kCandidate, Kind::kStart, Kind::kEnd}, kOfItems[] = {Kind::kTable, Kind::kColumn};

std::size_t place_of(Kind kind) { return static_cast<std::size_t>(kind); }

template <typename T>
std::size_t bytes(std::size_t count) {
  return DeviceScratch::rounded(count * sizeof(T));
}

// The block of a relation matrix whose first entry is [row, column], packed.
void copy_block(const RelationRows& relations, std::size_t row, std::size_t rows, std::size_t column, std::size_t columns,
                std::uint8_t* to) {
  for (std::size_t i = 0; i < rows; ++i) {
    std::copy_n(relations.data + (row + i) * relations.row_stride + column, columns, to + i * columns);
  }
}

}  // namespace

BatchMemory::BatchMemory() {
  expect(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "a stream");
  for (cudaEvent_t& event : events) expect(cudaEventCreate(&event), "an event");
}

BatchMemory::~BatchMemory() {
  for (cudaEvent_t event : events) cudaEventDestroy(event);
  cudaStreamDestroy(stream);
}

Batch::Batch(const Engine& engine, const SchemaState& schema, const std::vector<Question>& questions, decode::Breadth breadth,
             const float* states, BatchMemory& memory)
    : engine_(engine),
      schema_(schema),
      questions_(questions),
      breadth_(breadth),
      states_(states),
      memory_(memory),
      d_(engine.config().d),
      hidden_(engine.config().encoder.hidden),
      joint_(engine.config().joint_layers > 0),
      places_(questions.size()),
      searches_(questions.size()) {}

// Whoever has the memory next may write into it.
Batch::~Batch() { cudaStreamSynchronize(memory_.stream); }

// ---------------------------------------------------------------- where everything lies

void Batch::plan() {
  plan_staging();
  plan_scratch();
}

void Batch::plan_staging() {
  Staging& staging = memory_.staging;
  staging.clear();
  const std::size_t s = schema_.n_items();
  for (std::size_t number = 0; number < questions_.size(); ++number) {
    const QuestionInputs& inputs = questions_[number].inputs;
    const std::size_t q = inputs.rows();
    Place& place = places_[number];
    place.text = tokens_;
    place.row = question_rows_;
    place.inside = inside_;
    place.turn = turns_;
    place.entry = entries_;
    place.relations = staging.place<std::uint8_t>(q * (q + s));
    place.item_columns = engine_.config().joint_layers > 1 ? q + s : q;
    if (joint_) place.item_relations = staging.place<std::uint8_t>(s * place.item_columns);
    place.space = staging.place<std::byte>(questions_[number].space->image_bytes());
    tokens_ += inputs.tokens + 2;
    longest_ = std::max(longest_, inputs.tokens + 2);
    question_rows_ += q;
    largest_ = std::max(largest_, q);
    inside_ += inputs.candidates * inputs.tokens;
    turns_ += inputs.turns.turns;
    entries_ += inputs.turns.entries;
  }
  if (joint_) schema_rows_ = questions_.size() * s;
  ids_ = staging.place<std::int32_t>(tokens_);
  first_ = staging.place<std::int32_t>(questions_.size() + 1);
  first_rows_ = staging.place<FirstRow>(question_rows_);
  inside_slot_ = staging.place<float>(inside_);
  pooled_slot_ = staging.place<float>(turns_ * d_);
  entry_slot_ = staging.place<EntryRow>(entries_);
  runs_ = staging.place<Run>(2 * questions_.size());
  for (std::size_t layer = 0; layer < engine_.graph_.size(); ++layer) {
    const bool joint = kind_of(layer) != LayerKind::kCached;
    attention_.push_back(staging.place<AttentionItem>((joint ? 2 : 1) * questions_.size()));
  }
  if (joint_) merge_ = staging.place<MergeItem>(questions_.size());
  search_slot_ = staging.place<DecodeItem>(questions_.size());
  staging.reserve();
}

void Batch::plan_scratch() {
  const model::Config& config = engine_.config();
  const std::size_t rows = question_rows_ + schema_rows_, count = questions_.size();
  const bool encodes = states_ == nullptr;
  std::size_t total =
      (encodes ? engine_.encoder_->scratch_bytes(tokens_) + bytes<float>(tokens_ * hidden_) : 0) +
      bytes<float>((tokens_ + turns_) * d_) + 2 * bytes<float>(entries_ * d_) +
      GraphLayer::memory_bytes(config, question_rows_, schema_rows_) + 2 * bytes<float>(rows * d_) +
      bytes<float>(config.decoder_layers * rows * 2 * d_) + std::size(kOfQuestion) * bytes<float>(question_rows_ * d_) +
      std::size(kOfItems) * bytes<float>(schema_rows_ * d_) + (turns_ > 0 ? bytes<float>(question_rows_ * d_) : 0);
  std::vector<std::size_t> workspaces(count);
  result_bytes_ = bytes<float>(2 * count * d_);
  for (std::size_t number = 0; number < count; ++number) {
    const Question& question = questions_[number];
    Place& place = places_[number];
    DecodeItem& item = searches_[number];
    schema_.fill(item);
    item.nodes = item.nodes.with_question(question.inputs.tokens, question.inputs.candidates, question.inputs.turns.turns);
    item.entries = static_cast<int>(question.inputs.turns.entries);
    item.space = schema_.view(*question.space, memory_.staging.device(place.space));
    item.automaton = automaton_bytes(question.space->view(), static_cast<int>(breadth_.beam));
    place.sizes = engine_.decoder_.sizes(item, static_cast<int>(breadth_.beam));
    place.result = result_bytes_;
    workspaces[number] = Decoder::workspace_bytes(place.sizes);
    result_bytes_ += DeviceScratch::rounded(Decoder::result_bytes(place.sizes));
    total += DeviceScratch::rounded(workspaces[number]);
  }
  DeviceScratch& scratch = memory_.scratch;
  scratch.reserve(total + result_bytes_);
  if (memory_.results.size() < result_bytes_) {
    memory_.results = PinnedMemory();
    memory_.results = PinnedMemory(result_bytes_);
  }
  if (encodes) states_ = own_states_ = scratch.take<float>(tokens_ * hidden_);
  tokens_in_ = scratch.take<float>((tokens_ + turns_) * d_);
  entry_states_ = scratch.take<float>(entries_ * d_);
  entry_pointed_ = scratch.take<float>(entries_ * d_);
  graph_ = GraphLayer::take_memory(config, question_rows_, schema_rows_, scratch);
  normed_ = scratch.take<float>(rows * d_);
  pointed_ = scratch.take<float>(rows * d_);
  keys_values_ = scratch.take<float>(config.decoder_layers * rows * 2 * d_);
  for (const Kind kind : kOfQuestion) keys_[place_of(kind)] = scratch.take<float>(question_rows_ * d_);
  for (const Kind kind : kOfItems) keys_[place_of(kind)] = scratch.take<float>(schema_rows_ * d_);
  if (turns_ > 0) keys_[place_of(Kind::kTurn)] = scratch.take<float>(question_rows_ * d_);
  for (std::size_t number = 0; number < count; ++number)
    searches_[number].workspace = scratch.take<std::byte>(workspaces[number]);
  std::byte* results = scratch.take<std::byte>(result_bytes_);
  means_ = reinterpret_cast<float*>(results);
  search_results_ = results;
}

// ---------------------------------------------------------------- what is uploaded

void Batch::stage() {
  Staging& staging = memory_.staging;
  for (std::size_t number = 0; number < questions_.size(); ++number) {
    stage_question(number);
    stage_search(number);
  }
  staging.host(first_)[questions_.size()] = static_cast<std::int32_t>(tokens_);
  stage_items();
}

void Batch::stage_question(std::size_t number) {
  const Staging& staging = memory_.staging;
  const QuestionInputs& inputs = questions_[number].inputs;
  const Place& place = places_[number];
  const std::size_t q = inputs.rows(), s = schema_.n_items();

  staging.host(first_)[number] = static_cast<std::int32_t>(place.text);
  std::int32_t* ids = staging.host(ids_) + place.text;
  *ids++ = engine_.cls_;
  ids = std::copy_n(inputs.token_ids, inputs.tokens, ids);
  *ids = engine_.sep_;

  const auto first_token = static_cast<std::int32_t>(place.text + 1);
  FirstRow* rows = staging.host(first_rows_) + place.row;
  const NodeLayout nodes = inputs.nodes();
  for (std::size_t token = 0; token < inputs.tokens; ++token)
    rows[nodes.first(NodeKind::kToken) + token] = {first_token + static_cast<std::int32_t>(token), -1, 0, {}, false, {}};
  for (std::size_t candidate = 0; candidate < inputs.candidates; ++candidate) {
    FirstRow row{first_token,
                 static_cast<std::int32_t>(place.inside + candidate * inputs.tokens),
                 static_cast<std::int32_t>(inputs.tokens),
                 {},
                 false,
                 {}};
    for (std::size_t feature = 0; feature < kCandidateFeatures; ++feature) {
      row.features[feature] = static_cast<std::int32_t>(inputs.features[candidate * kCandidateFeatures + feature]);
    }
    rows[nodes.first(NodeKind::kCandidate) + candidate] = row;
  }
  std::copy_n(inputs.inside, inputs.candidates * inputs.tokens, staging.host(inside_slot_) + place.inside);
  stage_turns(number, rows + nodes.first(NodeKind::kTurn));
  const auto tokens = static_cast<std::int32_t>(inputs.tokens);
  staging.host(runs_)[number] = {static_cast<std::int32_t>(place.row), tokens};
  staging.host(runs_)[questions_.size() + number] = {first_token, tokens};
  copy_block(inputs.relations, 0, q, 0, q + s, staging.host(place.relations));
  if (joint_) copy_block(inputs.relations, q, s, 0, place.item_columns, staging.host(place.item_relations));
}

// A question's earlier turns, whose first rows begin at `rows`, and what they offer.
void Batch::stage_turns(std::size_t number, FirstRow* rows) {
  const Staging& staging = memory_.staging;
  const TurnInputs& inputs = questions_[number].inputs.turns;
  const Place& place = places_[number];
  std::copy_n(inputs.pooled, inputs.turns * d_, staging.host(pooled_slot_) + place.turn * d_);
  for (std::size_t turn = 0; turn < inputs.turns; ++turn) {
    FirstRow row{static_cast<std::int32_t>(tokens_ + place.turn + turn), -1, 0, {}, true, {}};
    for (std::size_t feature = 0; feature < kTurnFeatures; ++feature) {
      row.turn[feature] = static_cast<std::int32_t>(inputs.features[turn * kTurnFeatures + feature]);
    }
    *rows++ = row;
  }
  const float* turns = normed_ + (place.row + searches_[number].nodes.first(NodeKind::kTurn)) * d_;
  const float* items = joint_ ? normed_ + (question_rows_ + number * schema_.n_items()) * d_ : schema_.final_rows();
  for (std::size_t entry = 0; entry < inputs.entries; ++entry) {
    const std::int64_t* numbers = inputs.entry + entry * kEntryNumbers;
    const std::int64_t item = numbers[kEntryNumbers - 1];
    EntryRow row{
        turns + static_cast<std::size_t>(numbers[0]) * d_, item < 0 ? nullptr : items + static_cast<std::size_t>(item) * d_, {}};
    for (std::size_t feature = 0; feature < kEntryFeatures; ++feature) {
      row.features[feature] = static_cast<std::int32_t>(numbers[1 + feature]);
    }
    staging.host(entry_slot_)[place.entry + entry] = row;
  }
}

void Batch::stage_search(std::size_t number) {
  const Staging& staging = memory_.staging;
  const grammar::ActionSpace& space = *questions_[number].space;
  const Place& place = places_[number];
  std::memcpy(staging.host(place.space), space.image(), space.image_bytes());

  DecodeItem& item = searches_[number];
  const std::size_t rows = question_rows_ + schema_rows_;
  item.question_keys_values = keys_values_ + place.row * 2 * d_;
  item.question_stride = rows * 2 * d_;
  item.question_pointed = pointed_ + place.row * d_;
  const float* own = keys_[place_of(Kind::kCandidate)] + (place.row + item.nodes.first(NodeKind::kCandidate)) * d_;
  item.pointer_keys[place_of(Kind::kCandidate)] = own;
  for (const Kind kind : {Kind::kStart, Kind::kEnd}) item.pointer_keys[place_of(kind)] = keys_[place_of(kind)] + place.row * d_;
  if (turns_ > 0) {
    item.pointer_keys[place_of(Kind::kTurn)] =
        keys_[place_of(Kind::kTurn)] + (place.row + item.nodes.first(NodeKind::kTurn)) * d_;
    item.entry_states = entry_states_ + place.entry * d_;
    item.entry_pointed = entry_pointed_ + place.entry * d_;
  }
  if (joint_) {
    const std::size_t first = number * schema_.n_items();
    item.item_keys_values = keys_values_ + (question_rows_ + first) * 2 * d_;
    item.item_stride = item.question_stride;
    item.item_pointed = pointed_ + (question_rows_ + first) * d_;
    item.pointer_keys[place_of(Kind::kTable)] = keys_[place_of(Kind::kTable)] + first * d_;
    item.pointer_keys[place_of(Kind::kColumn)] =
        keys_[place_of(Kind::kColumn)] + (first + item.nodes.first(NodeKind::kColumn) - item.nodes.question()) * d_;
  }
  item.result = search_results_ + place.result;
  staging.host(search_slot_)[number] = item;
}

LayerKind Batch::kind_of(std::size_t layer) const {
  const std::size_t cached = engine_.config().cached_layers;
  if (layer < cached) return LayerKind::kCached;
  return layer == cached ? LayerKind::kFirstJoint : LayerKind::kFurtherJoint;
}

// What the launches of all layers read.
void Batch::stage_items() {
  const Staging& staging = memory_.staging;
  const std::size_t count = questions_.size(), s = schema_.n_items();
  for (std::size_t index = 0; index < engine_.graph_.size(); ++index) {
    const GraphLayer& layer = engine_.graph_[index];
    const LayerKind kind = kind_of(index);
    const SchemaLayerView schema = kind == LayerKind::kFurtherJoint ? SchemaLayerView() : schema_.layer(index);
    AttentionItem* attention = staging.host(attention_[index]);
    for (std::size_t number = 0; number < count; ++number) {
      const Place& place = places_[number];
      const QuestionPlace at{place.row,
                             questions_[number].inputs.rows(),
                             number * s,
                             staging.device(place.relations),
                             joint_ ? staging.device(place.item_relations) : nullptr,
                             place.item_columns};
      if (kind == LayerKind::kFurtherJoint) {
        attention[number] = layer.further_question_item(graph_, at, s);
        attention[count + number] = layer.further_schema_item(graph_, at, s);
        continue;
      }
      attention[number] = layer.question_item(graph_, at, schema);
      if (kind == LayerKind::kCached) continue;
      attention[count + number] = layer.schema_item(graph_, at, schema);
      staging.host(merge_)[number] = layer.merge_item(graph_, at, schema);
    }
  }
}

// ---------------------------------------------------------------- what the GPU does

void Batch::queue() {
  const Staging& staging = memory_.staging;
  const cudaStream_t stream = memory_.stream;
  const std::size_t count = questions_.size(), rows = question_rows_ + schema_rows_;
  const auto reached = [&](std::size_t stage) { expect(cudaEventRecord(memory_.events[stage], stream), "an event"); };
  staging.upload(stream);

  reached(0);
  if (own_states_ != nullptr) {
    engine_.encoder_->encode({staging.device(ids_), staging.device(first_), count, tokens_, longest_}, own_states_,
                             memory_.scratch, stream);
  }
  reached(1);
  engine_.token_in_.apply(states_, tokens_, tokens_in_, Then::kStore, stream);
  if (turns_ > 0) {
    engine_.turns_->question().apply(staging.device(pooled_slot_), turns_, tokens_in_ + tokens_ * d_, Then::kStore, stream);
  }
  FirstRows first{staging.device(first_rows_), question_rows_, tokens_in_, staging.device(inside_slot_), {}, {}, d_};
  for (std::size_t feature = 0; turns_ > 0 && feature < kTurnFeatures; ++feature) {
    first.turn_features[feature] = engine_.turns_->feature(feature);
  }
  for (std::size_t feature = 0; feature < kCandidateFeatures; ++feature)
    first.features[feature] = engine_.candidate_[feature].data();
  first_rows(first, graph_.rows, stream);
  for (std::size_t index = 0; index < engine_.graph_.size(); ++index) {
    GraphItems items;
    items.kind = kind_of(index);
    items.attention = staging.device(attention_[index]);
    items.attention_count = attention_[index].count;
    items.largest_rows = items.kind == LayerKind::kCached ? largest_ : std::max(largest_, schema_.n_items());
    if (items.kind == LayerKind::kFirstJoint) {
      items.merge = staging.device(merge_);
      items.merge_count = count;
      items.largest_n = schema_.n_items();
    }
    engine_.graph_[index].apply(graph_, items, stream);
  }
  engine_.graph_norm_.apply(graph_.rows, rows, normed_, stream);
  mean_rows(staging.device(runs_), count, normed_, d_, means_, stream);
  mean_rows(staging.device(runs_) + count, count, tokens_in_, d_, means_ + count * d_, stream);
  engine_.decoder_.read_rows(normed_, rows, keys_values_, pointed_, stream);
  for (const Kind kind : kOfQuestion) engine_.decoder_.pointer_keys(kind, normed_, question_rows_, keys_[place_of(kind)], stream);
  if (turns_ > 0) {
    engine_.decoder_.pointer_keys(Kind::kTurn, normed_, question_rows_, keys_[place_of(Kind::kTurn)], stream);
    engine_.turns_->entry_states(staging.device(entry_slot_), entries_, entry_states_, stream);
    engine_.decoder_.read_pointed(entry_states_, entries_, entry_pointed_, stream);
  }
  for (const Kind kind : kOfItems) {
    if (joint_) engine_.decoder_.pointer_keys(kind, normed_ + question_rows_ * d_, schema_rows_, keys_[place_of(kind)], stream);
  }
  reached(2);
  const int number = static_cast<int>(count);
  engine_.decoder_.search({staging.device(search_slot_), number, static_cast<int>(breadth_.beam),
                           engine_.decoder_.team_of(number), questions_[0].space->grammar().image_bytes(), breadth_.patience},
                          stream);
  reached(3);
  expect(cudaMemcpyAsync(memory_.results.data(), means_, result_bytes_, cudaMemcpyDeviceToHost, stream), "results of a batch");
}

std::vector<Outcome> Batch::wait() {
  expect(cudaStreamSynchronize(memory_.stream), "a batch of questions");
  const auto milliseconds = [&](std::size_t stage) {
    float found = 0.0f;
    expect(cudaEventElapsedTime(&found, memory_.events[stage], memory_.events[stage + 1]), "an event");
    return static_cast<double>(found);
  };
  const Milliseconds times{milliseconds(0), milliseconds(1), milliseconds(2)};
  std::vector<Outcome> outcomes(questions_.size());
  const auto* means = reinterpret_cast<const float*>(memory_.results.data());
  for (std::size_t number = 0; number < questions_.size(); ++number) {
    Parse& parse = outcomes[number].parse;
    parse.mean_state.assign(means + number * d_, means + (number + 1) * d_);
    const float* pooled = means + (questions_.size() + number) * d_;
    parse.pooled.assign(pooled, pooled + d_);
    parse.milliseconds = times;
    try {
      parse.search = read_search(memory_.results.data() + places_[number].result, places_[number].sizes);
    } catch (const Error&) {
      outcomes[number].failure = std::current_exception();
    }
  }
  return outcomes;
}

}  // namespace fastsql::cuda
