// The reranker's log-odds that a program is what a question asks for: layers of a BERT encoder over both. Mirrors
// python/fastsql/reranker/network.py.
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

// Sizes of the network; mirrors RerankerConfig of python/fastsql/reranker/config.py.
struct RerankerConfig {
  std::size_t pieces = 0, symbols = 0;  // word pieces, symbols behind them
  std::size_t hidden = 0, heads = 0, ffn = 0, layers = 0;
  std::size_t max_tokens = 0;  // of a row
};

// Rows, one behind the other, each a question with a program: what their tokens [total] are, and how many each has.
struct RerankerRows {
  const std::int32_t *ids = nullptr, *kinds = nullptr, *tables = nullptr, *shared = nullptr;
  std::size_t total = 0;
  const std::int32_t* lengths = nullptr;  // [count]
  std::size_t count = 0;
};

class RerankerNetwork {
 public:
  // Copies the weights; `threads` work on one call. Throws ModelError where a size cannot be, or a weight is missing or of another
  // shape.
  RerankerNetwork(const RerankerConfig& config, const model::Weights& weights, std::size_t threads,
                  InstructionSet set = best_instruction_set());

  // Writes the log-odds of each row to result[rows.count]. They depend neither on the other rows nor on the number of threads.
  // Thread-safe; asks the heap for nothing once a call of these sizes was made. Throws ModelError where a number is out of range or
  // lengths disagree, LimitError where a row has more than max_tokens.
  void log_odds(const RerankerRows& rows, double* result) const;

 private:
  struct Layer {
    Linear qkv, out;
    LayerNorm attention_norm;
    Linear ffn_in, ffn_out;
    LayerNorm ffn_norm;
  };
  struct Workspace {
    Scratch scratch;
    std::vector<std::size_t> first;  // [count + 1], each row's first token
  };

  void check(const RerankerRows& rows) const;
  void score(const RerankerRows& rows, Workspace& workspace, double* result) const;
  void embed(const RerankerRows& rows, const std::size_t* first, float* x) const;
  void attend(const Layer& layer, const std::size_t* first, std::size_t count, float* x, Scratch& scratch) const;

  RerankerConfig config_;
  InstructionSet set_;
  Workers workers_;
  model::Embedding words_, symbols_, positions_, kinds_, tables_, shared_;
  LayerNorm norm_;
  std::vector<Layer> layers_;
  Linear hidden_, log_odds_;
  mutable Pool<Workspace> workspaces_;
};

}  // namespace fastsql
