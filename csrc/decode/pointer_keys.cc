#include "decode/pointer_keys.h"

#include <algorithm>

namespace fastsql::decode {

void PointerKeys::start(const DecoderWeights& weights, const Memory& memory) {
  weights_ = &weights;
  memory_ = &memory;
  for (Made& made : made_) made.is_there.clear();
}

const float* PointerKeys::of(grammar::Kind kind, const std::int32_t* places, std::size_t count, const Workers& workers) {
  if (const float* ready = memory_->pointer_keys[static_cast<std::size_t>(kind)]) return ready;
  const RowRange pointed = memory_->pointed(kind);
  const std::size_t d = weights_->config.d, n = pointed.count;
  Made& made = made_[static_cast<std::size_t>(kind)];
  made.is_there.resize(n, 0);
  if (made.keys.size() < n * d) made.keys.resize(n * d);

  missing_.clear();
  for (std::size_t i = 0; i < count; ++i) {
    char& is_there = made.is_there[static_cast<std::size_t>(places[i])];
    if (!is_there) missing_.push_back(places[i]);
    is_there = 1;
  }
  if (missing_.empty()) return made.keys.data();
  if (rows_.size() < missing_.size() * d) rows_.resize(missing_.size() * d);
  if (keys_.size() < missing_.size() * d) keys_.resize(missing_.size() * d);
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    std::copy_n(memory_->row(pointed.first + static_cast<std::size_t>(missing_[i]), d), d, rows_.data() + i * d);
  }
  weights_->pointer_key(kind).apply(rows_.data(), missing_.size(), keys_.data(), Then::kStore, workers);
  for (std::size_t i = 0; i < missing_.size(); ++i) {
    std::copy_n(keys_.data() + i * d, d, made.keys.data() + static_cast<std::size_t>(missing_[i]) * d);
  }
  return made.keys.data();
}

std::size_t PointerKeys::capacity() const {
  std::size_t bytes = missing_.capacity() * sizeof(std::int32_t) + (rows_.capacity() + keys_.capacity()) * sizeof(float);
  for (const Made& made : made_) bytes += made.keys.capacity() * sizeof(float) + made.is_there.capacity();
  return bytes;
}

}  // namespace fastsql::decode
