// CRC-32 as in zlib and ISO 3309: polynomial 0xEDB88320, bits reversed, all ones at the start and inverted at the end.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace fastsql::linking {

namespace detail {

// Remainders of each byte followed by 0 to 7 bytes of zeros: eight bytes of input cost eight look-ups and no chain between them
// (Kounavis and Berry, "A Systematic Approach to Building High Performance Software-Based CRC Generators", ISCC 2005).
constexpr std::array<std::array<std::uint32_t, 256>, 8> crc32_tables() {
  std::array<std::array<std::uint32_t, 256>, 8> tables{};
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    std::uint32_t remainder = byte;
    for (int bit = 0; bit < 8; ++bit) remainder = (remainder >> 1) ^ (remainder & 1 ? 0xEDB88320U : 0U);
    tables[0][byte] = remainder;
  }
  for (std::uint32_t byte = 0; byte < 256; ++byte) {
    for (std::size_t zeros = 1; zeros < 8; ++zeros) {
      const std::uint32_t before = tables[zeros - 1][byte];
      tables[zeros][byte] = (before >> 8) ^ tables[0][before & 0xFF];
    }
  }
  return tables;
}

inline constexpr auto kCrc32Tables = crc32_tables();

}  // namespace detail

// The checksum of bytes behind others whose checksum is `before`: crc32(b, n, crc32(a, m)) is that of a followed by b.
inline std::uint32_t crc32(const std::uint8_t* data, std::size_t size, std::uint32_t before = 0) {
  const auto& table = detail::kCrc32Tables;
  std::uint32_t crc = ~before;
  for (; size >= 8; data += 8, size -= 8) {
    crc = table[7][(crc ^ data[0]) & 0xFF] ^ table[6][((crc >> 8) ^ data[1]) & 0xFF] ^ table[5][((crc >> 16) ^ data[2]) & 0xFF] ^
          table[4][(crc >> 24) ^ data[3]] ^ table[3][data[4]] ^ table[2][data[5]] ^ table[1][data[6]] ^ table[0][data[7]];
  }
  for (; size > 0; ++data, --size) crc = (crc >> 8) ^ table[0][(crc ^ *data) & 0xFF];
  return ~crc;
}

}  // namespace fastsql::linking
