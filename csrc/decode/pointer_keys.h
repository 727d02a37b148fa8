// The keys that pointers are compared with. Those of graph rows that a question has changed are made when a pointer first may go
// there: of a thousand columns, the queries of a beam can name those of a few tables.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "core/workers.h"
#include "decode/decoder_weights.h"
#include "decode/memory.h"

namespace fastsql::decode {

class PointerKeys {
 public:
  // Forgets the keys of the last question, but not their memory. The arguments must outlive the last call of `of`.
  void start(const DecoderWeights& weights, const Memory& memory);

  // Keys [n, d] of a kind that is neither production nor step; those at `places` [count] can be read until the next call.
  const float* of(grammar::Kind kind, const std::int32_t* places, std::size_t count, const Workers& workers);

  // Bytes held.
  std::size_t capacity() const;

 private:
  struct Made {
    std::vector<float> keys;     // [n, d]
    std::vector<char> is_there;  // [n]
  };

  const DecoderWeights* weights_ = nullptr;
  const Memory* memory_ = nullptr;
  std::array<Made, grammar::kKinds> made_;
  std::vector<std::int32_t> missing_;
  std::vector<float> rows_, keys_;  // [missing, d]
};

}  // namespace fastsql::decode
