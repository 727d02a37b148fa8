// How far two texts are from each other, as python/fastsql/linking/nearness.py, which says what the distance is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace fastsql::linking {

using Words = std::span<const std::u32string>;

// Computes distances, with the memory that this takes. Not for two threads at once.
class Nearness {
 public:
  // Letters of a word for each that may be misspelled; from kStrictly on, of texts compared by letters, too.
  static constexpr std::size_t kPerEdit = 3, kStrictly = 8;

  explicit Nearness(std::size_t per_edit) : per_edit_(per_edit) {}

  // What it costs to get from one sequence of words to the other, in half letters.
  std::size_t half_letters(Words one, Words other);

  // What it costs to read one word for another, in half letters; none where they have nothing to do with each other.
  std::optional<std::size_t> pair_cost(std::u32string_view one, std::u32string_view other);

  // The optimal string alignment distance, in letters.
  std::size_t edits(std::u32string_view one, std::u32string_view other);

 private:
  std::size_t by_words(Words one, Words other);
  bool may_be(std::size_t count, std::size_t length) const { return per_edit_ * count <= length || (count < 2 && length > 4); }

  std::size_t per_edit_;
  std::array<std::uint64_t, 256> masks_{};  // of the pattern's letters below 256; zeros between calls
};

// The first letters of words; empty where they are too few to be said so, or letters alone.
std::u32string initials(Words words);

std::size_t letters_of(Words words);
std::u32string joined(Words words);

}  // namespace fastsql::linking
