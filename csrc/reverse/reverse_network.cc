#include "reverse/reverse_network.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>

#include "attention/row_attention.h"
#include "core/error.h"

namespace fastsql {
namespace {

constexpr std::size_t kLargestSize = std::size_t{1} << 16;
// Rows of encoder and decoder that go through the network together, where one program has not more: memory does not grow with the
// number of programs.
constexpr std::size_t kRowsAtOnce = 1024;

[[noreturn]] void wrong(const std::string& what) { throw ModelError("the reverse model's sizes cannot be: " + what); }

const ReverseConfig& checked(const ReverseConfig& config) {
  for (const std::size_t size : {config.pieces, config.symbols, config.words, config.d, config.heads, config.ffn,
                                 config.encoder_layers, config.decoder_layers, config.max_tokens}) {
    if (size == 0 || size > kLargestSize) wrong(std::to_string(size) + " is none from 1 to " + std::to_string(kLargestSize));
  }
  if (config.d % (2 * config.heads) != 0) {
    wrong("d = " + std::to_string(config.d) + " is not a multiple of twice the " + std::to_string(config.heads) + " heads");
  }
  const auto known = [&](std::int32_t piece) { return piece >= 0 && static_cast<std::size_t>(piece) < config.pieces; };
  if (!known(config.start) || config.outputs.size() > config.pieces ||
      !std::all_of(config.outputs.begin(), config.outputs.end(), known)) {
    wrong("it names word pieces that there are not");
  }
  return config;
}

LayerNorm norm_at(const model::Weights& weights, const std::string& name, std::size_t d, InstructionSet set) {
  return LayerNorm(weights.floats(name + ".weight", {d}), weights.floats(name + ".bias", {d}), 1e-5f, set);
}

// Sines and cosines of positions (Vaswani et al., 2017), [count, d].
std::vector<float> positions(std::size_t count, std::size_t d) {
  std::vector<float> rows(count * d);
  for (std::size_t i = 0; i < d / 2; ++i) {
    // In long double, whose functions have no younger version in glibc than the one that wheels ask for.
    const long double step = std::exp(-std::log(10'000.0L) * static_cast<long double>(2 * i) / static_cast<long double>(d));
    for (std::size_t row = 0; row < count; ++row) {
      const double angle = static_cast<double>(row) * static_cast<double>(step);
      rows[row * d + i] = static_cast<float>(std::sin(angle));
      rows[row * d + d / 2 + i] = static_cast<float>(std::cos(angle));
    }
  }
  return rows;
}

}  // namespace

ReverseNetwork::ReverseNetwork(const ReverseConfig& config, const model::Weights& weights, std::size_t threads,
                               InstructionSet set)
    : config_(checked(config)),
      set_(set),
      workers_(threads),
      words_(weights, "words.weight", config.pieces, config.words),
      symbols_(weights, "symbols.weight", config.symbols, config.d),
      kinds_(weights, "kinds.weight", weights.rows("kinds.weight"), config.d),
      tables_(weights, "tables.weight", weights.rows("tables.weight"), config.d),
      source_words_(weights.linear("source_words", config.d, config.words, set)),
      target_words_(weights.linear("target_words", config.d, config.words, set)),
      encoder_norm_(norm_at(weights, "encoder.norm", config.d, set)),
      decoder_norm_(norm_at(weights, "decoder.norm", config.d, set)),
      output_(weights.linear("output", config.outputs.size() + 1, config.d, set)),
      copy_query_(weights.linear("copy.query", config.d, config.d, set)),
      copy_key_(weights.linear("copy.key", config.d, config.d, set)),
      copy_kinds_(weights.floats("copy.kinds", {kinds_.rows()})),
      copy_follows_(weights.floats("copy.follows", {kinds_.rows()})),
      output_of_(config.pieces, static_cast<std::int32_t>(config.outputs.size())),
      share_(std::log(static_cast<float>(std::max<std::size_t>(1, config.pieces - config.outputs.size())))) {
  const std::size_t d = config.d;
  const auto linear = [&](const std::string& name, std::size_t out, std::size_t in) {
    return weights.linear(name, out, in, set);
  };
  const auto norm = [&](const std::string& name) { return norm_at(weights, name, d, set); };
  const auto feed = [&](const std::string& layer) {
    return Feed{norm(layer + "ffn_norm"), linear(layer + "ffn_in", config.ffn, d), linear(layer + "ffn_out", d, config.ffn)};
  };
  for (std::size_t number = 0; number < config.encoder_layers; ++number) {
    const std::string layer = "encoder.layers." + std::to_string(number) + ".";
    encoder_.push_back(
        {norm(layer + "attention_norm"), linear(layer + "qkv", 3 * d, d), linear(layer + "out", d, d), feed(layer)});
  }
  for (std::size_t number = 0; number < config.decoder_layers; ++number) {
    const std::string layer = "decoder.layers." + std::to_string(number) + ".";
    decoder_.push_back({norm(layer + "attention_norm"), linear(layer + "qkv", 3 * d, d), linear(layer + "out", d, d),
                        norm(layer + "cross_norm"), linear(layer + "cross.query", d, d),
                        linear(layer + "cross.key_value", 2 * d, d), linear(layer + "cross.out", d, d), feed(layer)});
  }
  for (std::size_t row = 0; row < config.outputs.size(); ++row) {
    output_of_[static_cast<std::size_t>(config.outputs[row])] = static_cast<std::int32_t>(row);
  }
  positions_ = positions(config.max_tokens, d);
}

void ReverseNetwork::log_probability(const ReverseSources& sources, const std::int32_t* pieces, std::size_t count,
                                     double* result) const {
  check(sources, pieces, count);
  if (sources.count == 0) return;
  const auto workspace = workspaces_.take();
  Scratch& scratch = workspace->scratch;
  scratch.clear();
  const Question question = begin(pieces, count, scratch);
  std::size_t token = 0;
  for (std::size_t first = 0; first < sources.count;) {
    // As many sources as go through the network together, but one at least.
    ReverseSources part{sources.ids + token, sources.kinds + token, sources.tables + token, 0, sources.lengths + first, 0};
    for (; first + part.count < sources.count; ++part.count) {
      const auto tokens = static_cast<std::size_t>(part.lengths[part.count]);
      if (part.count > 0 && part.total + tokens + (part.count + 1) * count > kRowsAtOnce) break;
      part.total += tokens;
    }
    const Scratch::Scope scope(scratch);
    const Encoded encoded = encode(part, *workspace);
    const float* states = decode(question, encoded, part, *workspace);
    score(question, encoded, part, states, *workspace, result + first);
    first += part.count;
    token += part.total;
  }
}

void ReverseNetwork::check(const ReverseSources& sources, const std::int32_t* pieces, std::size_t count) const {
  const auto expect_length = [&](const char* what, std::int64_t tokens) {
    if (tokens < 1) throw ModelError(std::string(what) + " has " + std::to_string(tokens) + " tokens; it needs one at least");
    if (static_cast<std::uint64_t>(tokens) <= config_.max_tokens) return;
    throw LimitError(std::string(what) + " has " + std::to_string(tokens) + " tokens, more than the " +
                     std::to_string(config_.max_tokens) + " that the reverse model reads");
  };
  expect_length("a question", static_cast<std::int64_t>(count));
  for (std::size_t i = 0; i < count; ++i) words_.expect("a piece of a question", pieces[i]);
  std::size_t total = 0;
  for (std::size_t i = 0; i < sources.count; ++i) {
    expect_length("a program", sources.lengths[i]);
    total += static_cast<std::size_t>(sources.lengths[i]);
  }
  if (total != sources.total) {
    throw ModelError("programs of " + std::to_string(total) + " tokens in all were given with " + std::to_string(sources.total));
  }
  const std::size_t ids = config_.pieces + config_.symbols;
  for (std::size_t i = 0; i < total; ++i) {
    if (sources.ids[i] < 0 || static_cast<std::size_t>(sources.ids[i]) >= ids) {
      throw ModelError("a token's id is " + std::to_string(sources.ids[i]) + "; the model knows " + std::to_string(ids));
    }
    kinds_.expect("a token's kind", sources.kinds[i]);
    tables_.expect("a token's table", sources.tables[i]);
  }
}

// ---------------------------------------------------------------- encoder

ReverseNetwork::Encoded ReverseNetwork::encode(const ReverseSources& sources, Workspace& workspace) const {
  const std::size_t d = config_.d, rows = sources.total;
  Scratch& scratch = workspace.scratch;
  workspace.first.resize(sources.count + 1);
  workspace.first[0] = 0;
  for (std::size_t i = 0; i < sources.count; ++i) {
    workspace.first[i + 1] = workspace.first[i] + static_cast<std::size_t>(sources.lengths[i]);
  }
  const std::size_t* first = workspace.first.data();
  float* keys = scratch.take(rows * d);
  float* cross = scratch.take(decoder_.size() * rows * 2 * d);

  const Scratch::Scope scope(scratch);
  float* x = scratch.take(rows * d);
  embed(sources, first, x, scratch);
  for (const EncoderLayer& layer : encoder_) {
    attend_to_themselves(layer.attention_norm, layer.qkv, layer.out, first, sources.count, false, x, scratch);
    feed(layer.feed, rows, x, scratch);
  }
  encoder_norm_.apply(x, rows, x);
  copy_key_.apply(x, rows, keys, Then::kStore, workers_);
  for (std::size_t layer = 0; layer < decoder_.size(); ++layer) {
    decoder_[layer].cross_key_value.apply(x, rows, cross + layer * rows * 2 * d, Then::kStore, workers_);
  }
  return {first, keys, cross};
}

// First rows x [total, d].
void ReverseNetwork::embed(const ReverseSources& sources, const std::size_t* first, float* x, Scratch& scratch) const {
  const std::size_t d = config_.d;
  const Scratch::Scope scope(scratch);
  float* words = scratch.take(sources.total * config_.words);
  float* worded = scratch.take(sources.total * d);
  std::size_t count = 0;
  for (std::size_t source = 0; source < sources.count; ++source) {
    for (std::size_t token = first[source]; token < first[source + 1]; ++token) {
      float* row = x + token * d;
      std::copy_n(positions_.data() + (token - first[source]) * d, d, row);
      kinds_.add(static_cast<std::size_t>(sources.kinds[token]), row);
      tables_.add(static_cast<std::size_t>(sources.tables[token]), row);
      const auto id = static_cast<std::size_t>(sources.ids[token]);
      if (id >= config_.pieces) {
        symbols_.add(id - config_.pieces, row);
      } else {
        float* word = words + count++ * config_.words;
        std::fill_n(word, config_.words, 0.0f);
        words_.add(id, word);
      }
    }
  }
  source_words_.apply(words, count, worded, Then::kStore, workers_);
  for (std::size_t token = 0; token < sources.total; ++token) {
    if (static_cast<std::size_t>(sources.ids[token]) >= config_.pieces) continue;
    for (std::size_t i = 0; i < d; ++i) x[token * d + i] += worded[i];
    worded += d;
  }
}

// ---------------------------------------------------------------- decoder

ReverseNetwork::Question ReverseNetwork::begin(const std::int32_t* pieces, std::size_t count, Scratch& scratch) const {
  const std::size_t d = config_.d;
  float* x = scratch.take(count * d);
  float* query = scratch.take(count * d);
  const Scratch::Scope scope(scratch);
  float* words = scratch.take(count * config_.words);
  std::fill_n(words, count * config_.words, 0.0f);
  for (std::size_t row = 0; row < count; ++row) {
    words_.add(static_cast<std::size_t>(row == 0 ? config_.start : pieces[row - 1]), words + row * config_.words);
  }
  std::copy_n(positions_.data(), count * d, x);
  target_words_.apply(words, count, x, Then::kAdd, workers_);
  const DecoderLayer& layer = decoder_.front();
  const std::size_t first[] = {0, count};
  attend_to_themselves(layer.attention_norm, layer.qkv, layer.out, first, 1, true, x, scratch);
  float* normed = scratch.take(count * d);
  layer.cross_norm.apply(x, count, normed);
  layer.cross_query.apply(normed, count, query, Then::kStore, workers_);
  return {pieces, count, x, query};
}

// States [sources, pieces, d] before each piece of the question.
const float* ReverseNetwork::decode(const Question& question, const Encoded& encoded, const ReverseSources& sources,
                                    Workspace& workspace) const {
  const std::size_t d = config_.d, count = question.count, rows = sources.count * count;
  Scratch& scratch = workspace.scratch;
  float* x = scratch.take(rows * d);
  const Scratch::Scope scope(scratch);
  float* query = scratch.take(rows * d);
  float* mixed = scratch.take(rows * d);
  workspace.asked.resize(sources.count + 1);
  for (std::size_t source = 0; source <= sources.count; ++source) workspace.asked[source] = source * count;
  for (std::size_t source = 0; source < sources.count; ++source) {
    std::copy_n(question.x, count * d, x + source * count * d);
    std::copy_n(question.query, count * d, query + source * count * d);
  }
  for (std::size_t number = 0; number < decoder_.size(); ++number) {
    const DecoderLayer& layer = decoder_[number];
    if (number > 0) {
      attend_to_themselves(layer.attention_norm, layer.qkv, layer.out, workspace.asked.data(), sources.count, true, x, scratch);
      layer.cross_norm.apply(x, rows, mixed);
      layer.cross_query.apply(mixed, rows, query, Then::kStore, workers_);
    }
    const float* cross = encoded.cross + number * sources.total * 2 * d;
    const auto one_source = [&](std::size_t source) {
      RowAttention one;
      one.query = query + source * count * d;
      one.rows = count;
      one.query_stride = d;
      one.key = cross + encoded.first[source] * 2 * d;
      one.value = one.key + d;
      one.columns = encoded.first[source + 1] - encoded.first[source];
      one.stride = 2 * d;
      one.heads = config_.heads;
      one.head_size = config_.head_size();
      one.mixed = mixed + source * count * d;
      return one;
    };
    row_attention(sources.count, std::cref(one_source), scratch, workers_, set_);
    layer.cross_out.apply(mixed, rows, x, Then::kAdd, workers_);
    feed(layer.feed, rows, x, scratch);
  }
  decoder_norm_.apply(x, rows, x);
  return x;
}

// ---------------------------------------------------------------- layers

// x += attention of texts to themselves; text i has the rows from first[i] to, not including, first[i + 1].
void ReverseNetwork::attend_to_themselves(const LayerNorm& norm, const Linear& qkv, const Linear& out, const std::size_t* first,
                                          std::size_t count, bool causal, float* x, Scratch& scratch) const {
  const std::size_t d = config_.d, rows = first[count];
  const Scratch::Scope scope(scratch);
  float* projected = scratch.take(rows * 3 * d);
  float* mixed = scratch.take(rows * d);
  norm.apply(x, rows, mixed);
  qkv.apply(mixed, rows, projected, Then::kStore, workers_);
  const auto one_text = [&](std::size_t text) {
    RowAttention one;
    one.query = projected + first[text] * 3 * d;
    one.key = one.query + d;
    one.value = one.query + 2 * d;
    one.rows = one.columns = first[text + 1] - first[text];
    one.query_stride = one.stride = 3 * d;
    one.heads = config_.heads;
    one.head_size = config_.head_size();
    one.causal = causal;
    one.mixed = mixed + first[text] * d;
    return one;
  };
  row_attention(count, std::cref(one_text), scratch, workers_, set_);
  out.apply(mixed, rows, x, Then::kAdd, workers_);
}

void ReverseNetwork::feed(const Feed& feed, std::size_t rows, float* x, Scratch& scratch) const {
  const Scratch::Scope scope(scratch);
  float* normed = scratch.take(rows * config_.d);
  float* inner = scratch.take(rows * config_.ffn);
  feed.norm.apply(x, rows, normed);
  feed.in.apply(normed, rows, inner, Then::kRelu, workers_);
  feed.out.apply_to_sparse(inner, rows, x, Then::kAdd, workers_);
}

}  // namespace fastsql
