#include "linking/checked_bytes.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"
#include "linking/crc32.h"

namespace fastsql::linking {

void damaged(const char* why) { throw ModelError(std::string("the value dictionary is damaged: ") + why); }

CheckedBytes::CheckedBytes(const std::uint8_t* body, std::size_t size, std::vector<std::uint32_t> checksums)
    : body_(body), size_(size), checksums_(std::move(checksums)) {
  if (checksums_.empty()) return;
  if (checksums_.size() != (size + kBlock - 1) / kBlock) damaged("it has not one checksum for each block");
  checked_ = std::make_unique<std::atomic<bool>[]>(checksums_.size());
}

void CheckedBytes::expect(std::uint64_t begin, std::uint64_t end) const {
  if (checksums_.empty() || begin == end) return;
  const std::uint64_t last = (end - 1) / kBlock;
  for (std::uint64_t block = begin / kBlock; block <= last; ++block) {
    if (checked_[block].load(std::memory_order_relaxed)) continue;
    const std::size_t from = block * kBlock;
    if (crc32(body_ + from, std::min(kBlock, size_ - from)) != checksums_[block]) {
      throw ModelError("the value dictionary cannot be read further: its content is damaged");
    }
    checked_[block].store(true, std::memory_order_relaxed);
  }
}

}  // namespace fastsql::linking
