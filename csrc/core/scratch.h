// Memory for the intermediate results of one computation, taken piece by piece and given back in the opposite order.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

namespace fastsql {

class Scratch {
 public:
  // `size` floats, uninitialised and aligned to a cache line. They stay where they are until they are given back.
  float* take(std::size_t size) {
    const std::size_t padded = (size + kLine - 1) / kLine * kLine;
    while (blocks_.empty() || blocks_[current_].size - used_ < padded) next_block(padded);
    float* piece = blocks_[current_].start + used_;
    used_ += padded;
    return piece;
  }

  // Gives everything back. What needed several blocks gets one from then on, so that the same computation allocates nothing the
  // next time.
  void clear() {
    if (blocks_.size() > 1) {
      std::size_t total = 0;
      for (const Block& block : blocks_) total += block.size;
      blocks_.clear();
      blocks_.emplace_back(total);
    }
    current_ = used_ = 0;
  }

  // Gives back at its end what was taken in its lifetime.
  class Scope {
   public:
    explicit Scope(Scratch& scratch) : scratch_(scratch), block_(scratch.current_), used_(scratch.used_) {}
    ~Scope() {
      scratch_.current_ = block_;
      scratch_.used_ = used_;
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;

   private:
    Scratch& scratch_;
    std::size_t block_, used_;
  };

 private:
  static constexpr std::size_t kLine = 16;

  struct Block {
    explicit Block(std::size_t floats) : memory(new float[floats + kLine]), start(memory.get()), size(floats) {
      void* from = start;
      std::size_t room = (floats + kLine) * sizeof(float);
      start = static_cast<float*>(std::align(kLine * sizeof(float), floats * sizeof(float), from, room));
    }
    std::unique_ptr<float[]> memory;
    float* start;
    std::size_t size;
  };

  void next_block(std::size_t least) {
    if (current_ + 1 < blocks_.size()) {
      ++current_;
    } else {
      const std::size_t before = blocks_.empty() ? 0 : blocks_.back().size;
      blocks_.emplace_back(least > 2 * before ? least : 2 * before);
      current_ = blocks_.size() - 1;
    }
    used_ = 0;
  }

  std::vector<Block> blocks_;
  std::size_t current_ = 0, used_ = 0;  // the block that is being filled, and how much of it
};

}  // namespace fastsql
