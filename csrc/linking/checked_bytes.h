// Bytes that are read in place, each block of which is compared with its checksum when it is first read.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace fastsql::linking {

class CheckedBytes {
 public:
  static constexpr std::size_t kBlock = 4096;

  // `body` [size] belongs to the caller and must not change. `checksums` are the CRC-32 of each block of the body, or empty:
  // then what it holds is what was written, though it may still be nonsense. Throws ModelError where there is not one for each.
  CheckedBytes(const std::uint8_t* body, std::size_t size, std::vector<std::uint32_t> checksums);

  // Compares the blocks of bytes [begin, end) with their checksums, those that were not compared before. Thread-safe; throws
  // ModelError where one is damaged.
  void expect(std::uint64_t begin, std::uint64_t end) const;

  const std::uint8_t* at(std::uint64_t place) const { return body_ + place; }
  std::size_t size() const { return size_; }

  // The little-endian integer at a byte, unchecked.
  std::uint32_t integer(std::uint64_t place) const {
    const std::uint8_t* byte = body_ + place;
    return std::uint32_t{byte[0]} | std::uint32_t{byte[1]} << 8 | std::uint32_t{byte[2]} << 16 | std::uint32_t{byte[3]} << 24;
  }

 private:
  const std::uint8_t* body_;
  std::size_t size_;
  std::vector<std::uint32_t> checksums_;
  std::unique_ptr<std::atomic<bool>[]> checked_;  // [blocks]
};

// Throws the ModelError of a dictionary that is not as it was written.
[[noreturn]] void damaged(const char* why);

}  // namespace fastsql::linking
