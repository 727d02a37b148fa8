// The action decoder: one step scores the legal actions of every hypothesis of a beam. Mirrors python/fastsql/model/decoder.py.
//
// A Decoder is immutable and may be shared by threads. What a search needs beside it is in DecoderState.
#pragma once

#include <cstddef>
#include <memory>

#include "core/instruction_set.h"
#include "core/pool.h"
#include "core/workers.h"
#include "decode/memory.h"
#include "grammar/grammar.h"
#include "model/config.h"
#include "model/weights.h"

namespace fastsql::decode {

struct DecoderWeights;
struct Workspace;

class Decoder {
 public:
  // Copies the weights whose names begin with "decoder.". Throws ModelError where one is missing or of another shape.
  Decoder(const model::Config& config, const model::Weights& weights, InstructionSet set = best_instruction_set());
  ~Decoder();
  Decoder(Decoder&&) noexcept;
  Decoder& operator=(Decoder&&) noexcept;

  const model::Config& config() const;

  // How many floats `read_rows` writes for n rows.
  std::size_t keyed_size(std::size_t n) const;

  // Reads final graph rows [n, d] for every layer: keys and values go to `storage`, keyed_size(n) floats. The result points
  // into both. Allocates nothing.
  Keyed read_rows(const float* rows, std::size_t n, float* storage, const Workers& workers = {}) const;

  // The keys [n, d] that pointers of a kind are compared with: of rows [n, d] of tables, columns, candidates, schema values,
  // or of tokens at which spans start or end. Allocates nothing. Throws ModelError for another kind.
  void pointer_keys(grammar::Kind kind, const float* rows, std::size_t n, float* keys, const Workers& workers = {}) const;

  const DecoderWeights& weights() const { return *weights_; }
  // Memory that searches leave for those after them.
  Pool<Workspace>& workspaces() const { return *workspaces_; }

 private:
  std::unique_ptr<const DecoderWeights> weights_;
  std::unique_ptr<Pool<Workspace>> workspaces_;
};

}  // namespace fastsql::decode
