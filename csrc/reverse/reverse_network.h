// The reverse model's log P(question | program): an encoder reads a program, a decoder writes the question or copies from the
// program. Mirrors python/fastsql/reverse/network.py, whose functions have the same names.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/instruction_set.h"
#include "core/layer_norm.h"
#include "core/pool.h"
#include "core/scratch.h"
#include "core/workers.h"
#include "linear/linear.h"
#include "model/embedding.h"
#include "model/weights.h"

namespace fastsql {

// Sizes of the network; mirrors ReverseConfig of python/fastsql/reverse/config.py.
struct ReverseConfig {
  std::size_t pieces = 0, symbols = 0, words = 0;  // word pieces, symbols behind them, width of the pieces' embeddings
  std::size_t d = 0, heads = 0, ffn = 0, encoder_layers = 0, decoder_layers = 0;
  std::size_t max_tokens = 0;         // of a source, and pieces of a question
  std::vector<std::int32_t> outputs;  // pieces that can be written
  std::int32_t start = 0;             // the piece before a question

  std::size_t head_size() const { return d / heads; }
};

// The kind of a token that is no word piece: Kind.SYMBOL in python/fastsql/reverse/source.py. It is never copied.
constexpr std::int32_t kSymbol = 0;

// Programs, one behind the other: the ids, kinds and tables [total] of their tokens, and how many tokens each has.
struct ReverseSources {
  const std::int32_t *ids = nullptr, *kinds = nullptr, *tables = nullptr;
  std::size_t total = 0;
  const std::int32_t* lengths = nullptr;  // [count]
  std::size_t count = 0;
};

class ReverseNetwork {
 public:
  // Copies the weights; `threads` work on one call. Throws ModelError where a size cannot be, or a weight is missing or of another
  // shape.
  ReverseNetwork(const ReverseConfig& config, const model::Weights& weights, std::size_t threads,
                 InstructionSet set = best_instruction_set());

  // Writes log P(question | program) to result[sources.count]: the sum over the question's `count` pieces, its end among them.
  // A program's number depends neither on the other programs nor on the number of threads. Thread-safe; asks the heap for nothing
  // once a call of these sizes was made. Throws ModelError where a number is out of range or lengths disagree, LimitError where a
  // program or the question has more than max_tokens.
  void log_probability(const ReverseSources& sources, const std::int32_t* pieces, std::size_t count, double* result) const;

 private:
  struct Feed {
    LayerNorm norm;
    Linear in, out;
  };
  struct EncoderLayer {
    LayerNorm attention_norm;
    Linear qkv, out;
    Feed feed;
  };
  struct DecoderLayer {
    LayerNorm attention_norm;
    Linear qkv, out;
    LayerNorm cross_norm;
    Linear cross_query, cross_key_value, cross_out;
    Feed feed;
  };
  // What does not depend on a program: the question's rows behind the first layer's attention to themselves, and what they ask of a
  // program, [count, d] each.
  struct Question {
    const std::int32_t* pieces;
    std::size_t count;
    const float *x, *query;
  };
  // Sources as the decoder reads them: the first token of each and the end of the last, `first` [count + 1]; keys [total, d] of
  // copying; cross [layers][total, 2 d], keys and values of the decoder's layers.
  struct Encoded {
    const std::size_t* first;
    const float *keys, *cross;
  };
  // What can be copied from one source: the places [n] of those tokens in it.
  struct Copyable {
    const std::int32_t *ids, *kinds, *places;
    std::size_t n;
    const float* keys;
  };
  struct Workspace {
    Scratch scratch;
    std::vector<std::size_t> first, asked, first_place;  // each source's first token, row of its question, and place
    std::vector<std::int32_t> places;
  };

  void check(const ReverseSources& sources, const std::int32_t* pieces, std::size_t count) const;
  Question begin(const std::int32_t* pieces, std::size_t count, Scratch& scratch) const;
  Encoded encode(const ReverseSources& sources, Workspace& workspace) const;
  void embed(const ReverseSources& sources, const std::size_t* first, float* x, Scratch& scratch) const;
  const float* decode(const Question& question, const Encoded& encoded, const ReverseSources& sources,
                      Workspace& workspace) const;
  void attend_to_themselves(const LayerNorm& norm, const Linear& qkv, const Linear& out, const std::size_t* first,
                            std::size_t count, bool causal, float* x, Scratch& scratch) const;
  void feed(const Feed& feed, std::size_t rows, float* x, Scratch& scratch) const;

  // From states to probabilities (scores.cc).
  void score(const Question& question, const Encoded& encoded, const ReverseSources& sources, const float* states,
             Workspace& workspace, double* result) const;
  void list_places(const ReverseSources& sources, const std::size_t* first, Workspace& workspace) const;
  float score_piece(std::int32_t before, std::int32_t piece, const float* written, const float* query, const Copyable& copyable,
                    float* scores) const;

  ReverseConfig config_;
  InstructionSet set_;
  Workers workers_;
  model::Embedding words_, symbols_, kinds_, tables_;
  Linear source_words_, target_words_;
  std::vector<EncoderLayer> encoder_;
  LayerNorm encoder_norm_;
  std::vector<DecoderLayer> decoder_;
  LayerNorm decoder_norm_;
  Linear output_, copy_query_, copy_key_;
  std::vector<float> copy_kinds_, copy_follows_;
  std::vector<std::int32_t> output_of_;  // [pieces]: the row of the output that writes a piece; the last for those that none does
  std::vector<float> positions_;         // [max_tokens, d]
  float share_;                          // log of the number of pieces that none does
  mutable Pool<Workspace> workspaces_;
};

}  // namespace fastsql
