#include "linking/nearness.h"

#include <algorithm>
#include <bit>
#include <tuple>
#include <utility>
#include <vector>

namespace fastsql::linking {
namespace {

constexpr std::size_t kShortest = 3, kOtherNumber = 8;

// European, Arabic, Persian and Devanagari digits.
bool is_digit(char32_t letter) {
  return (letter >= U'0' && letter <= U'9') || (letter >= 0x660 && letter <= 0x669) || (letter >= 0x6F0 && letter <= 0x6F9) ||
         (letter >= 0x966 && letter <= 0x96F);
}

bool has_digit(std::u32string_view text) { return std::any_of(text.begin(), text.end(), is_digit); }

std::u32string digits(std::u32string_view text) {
  std::u32string found;
  std::copy_if(text.begin(), text.end(), std::back_inserter(found), is_digit);
  return found;
}

std::size_t alone(std::u32string_view word) { return word.size() + (has_digit(word) ? kOtherNumber : 0); }

bool are_initials(Words one, Words other) { return one.size() == 1 && one[0] == initials(other); }

// A bit for each letter, several letters to a bit: two texts differ in at least half as many letters as here.
std::uint64_t signature(std::u32string_view text) {
  std::uint64_t bits = 0;
  for (const char32_t letter : text) bits |= std::uint64_t{1} << (letter & 63);
  return bits;
}

// The textbook's way, for texts of which both are long.
std::size_t edits_by_rows(std::u32string_view one, std::u32string_view other) {
  const std::size_t width = other.size() + 1;
  std::vector<std::size_t> before(width), last(width), row(width);
  for (std::size_t column = 0; column < width; ++column) last[column] = column;
  for (std::size_t i = 1; i <= one.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j < width; ++j) {
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (one[i - 1] != other[j - 1] ? 1 : 0)});
      if (i > 1 && j > 1 && one[i - 1] == other[j - 2] && one[i - 2] == other[j - 1])
        row[j] = std::min(row[j], before[j - 2] + 1);
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[width - 1];
}

}  // namespace

std::u32string initials(Words words) {
  const bool are_letters = std::all_of(words.begin(), words.end(), [](const auto& word) { return word.size() == 1; });
  std::u32string found;
  if (words.size() < kShortest || are_letters) return found;
  for (const std::u32string& word : words) found += word.substr(0, 1);
  return found;
}

std::size_t letters_of(Words words) {
  std::size_t letters = 0;
  for (const std::u32string& word : words) letters += word.size();
  return letters;
}

std::u32string joined(Words words) {
  std::u32string text;
  for (const std::u32string& word : words) text += word;
  return text;
}

std::size_t Nearness::half_letters(Words one, Words other) {
  if (std::equal(one.begin(), one.end(), other.begin(), other.end())) return 0;
  const std::u32string first = joined(one), second = joined(other);
  const std::size_t longest = std::max(first.size(), second.size()), most = 2 * longest;
  if (first.empty() || second.empty()) return most;
  std::size_t cost = std::min(by_words(one, other), most);
  if (are_initials(one, other) || are_initials(other, one)) cost = std::min(cost, most / 4);
  const std::size_t apart = longest - std::min(first.size(), second.size());
  const bool strictly = per_edit_ >= kStrictly;
  if (strictly && (!may_be(apart, longest) || first[0] != second[0])) return cost;
  if (2 * apart < cost && digits(first) == digits(second)) {
    const std::size_t count = edits(first, second);
    if (!strictly || may_be(count, longest)) cost = std::min(cost, std::max<std::size_t>(1, 2 * count));
  }
  return cost;
}

std::optional<std::size_t> Nearness::pair_cost(std::u32string_view one, std::u32string_view other) {
  if (one == other) return 0;
  if (per_edit_ >= kStrictly && one.substr(0, 1) != other.substr(0, 1)) return std::nullopt;
  if (one.size() > other.size()) std::swap(one, other);
  const std::size_t missing = other.size() - one.size();
  const bool begins = one.size() >= kShortest && other.starts_with(one);
  if (!begins && !may_be(missing, other.size())) return std::nullopt;
  if (has_digit(one) || has_digit(other)) return std::nullopt;
  if (begins) return missing;
  const auto differing = static_cast<std::size_t>(std::popcount(signature(one) ^ signature(other)));
  if (!may_be((differing + 1) / 2, other.size())) return std::nullopt;
  const std::size_t cost = edits(one, other);
  return may_be(cost, other.size()) ? std::optional(2 * cost) : std::nullopt;
}

std::size_t Nearness::edits(std::u32string_view one, std::u32string_view other) {
  if (one.size() < other.size()) std::swap(one, other);
  if (other.empty()) return one.size();
  if (other.size() > 64) return edits_by_rows(one, other);
  // Hyyrö (2003), as in Python.
  std::vector<std::pair<char32_t, std::uint64_t>> rare;
  for (std::size_t place = 0; place < other.size(); ++place) {
    const std::uint64_t bit = std::uint64_t{1} << place;
    if (other[place] < masks_.size()) {
      masks_[other[place]] |= bit;
    } else {
      rare.emplace_back(other[place], bit);
    }
  }
  const std::uint64_t last = std::uint64_t{1} << (other.size() - 1);
  std::uint64_t up = ~std::uint64_t{0}, down = 0, diagonal = 0, before = 0;
  std::size_t count = other.size();
  for (const char32_t letter : one) {
    std::uint64_t equal = letter < masks_.size() ? masks_[letter] : 0;
    if (letter >= masks_.size()) {
      for (const auto& [known, bit] : rare) equal |= known == letter ? bit : 0;
    }
    const std::uint64_t swapped = ((~diagonal & equal) << 1) & before;
    diagonal = (((equal & up) + up) ^ up) | equal | down | swapped;
    std::uint64_t right = down | ~(diagonal | up), left = diagonal & up;
    count += (right & last) != 0 ? 1 : 0;
    count -= (left & last) != 0 ? 1 : 0;
    right = right << 1 | 1;
    left <<= 1;
    up = left | ~(diagonal | right);
    down = right & diagonal;
    before = equal;
  }
  for (const char32_t letter : other) {
    if (letter < masks_.size()) masks_[letter] = 0;
  }
  return count;
}

std::size_t Nearness::by_words(Words one, Words other) {
  struct Pair {
    std::size_t first, second;
  };
  std::vector<Pair> pairs;
  std::vector<bool> done(one.size(), false), taken(other.size(), false);
  for (std::size_t first = 0; first < one.size(); ++first) {
    for (std::size_t second = 0; second < other.size(); ++second) {
      if (taken[second] || one[first] != other[second]) continue;
      done[first] = taken[second] = true;
      pairs.push_back({first, second});
      break;
    }
  }
  using Found = std::tuple<std::size_t, const std::u32string*, const std::u32string*, std::size_t, std::size_t>;
  std::vector<Found> found;
  for (std::size_t first = 0; first < one.size(); ++first) {
    for (std::size_t second = 0; second < other.size() && !done[first]; ++second) {
      if (taken[second]) continue;
      if (const auto cost = pair_cost(one[first], other[second])) {
        const bool ordered = one[first] <= other[second];
        found.emplace_back(*cost, ordered ? &one[first] : &other[second], ordered ? &other[second] : &one[first], first, second);
      }
    }
  }
  std::sort(found.begin(), found.end(), [](const Found& a, const Found& b) {
    return std::tie(std::get<0>(a), *std::get<1>(a), *std::get<2>(a), std::get<3>(a), std::get<4>(a)) <
           std::tie(std::get<0>(b), *std::get<1>(b), *std::get<2>(b), std::get<3>(b), std::get<4>(b));
  });
  std::size_t cost = 0;
  for (const auto& [price, low, high, first, second] : found) {
    if (done[first] || taken[second]) continue;
    done[first] = taken[second] = true;
    pairs.push_back({first, second});
    cost += price;
  }
  for (std::size_t place = 0; place < one.size(); ++place) cost += done[place] ? 0 : alone(one[place]);
  for (std::size_t place = 0; place < other.size(); ++place) cost += taken[place] ? 0 : alone(other[place]);
  std::sort(pairs.begin(), pairs.end(), [](Pair a, Pair b) { return a.first < b.first; });
  const bool in_order = std::is_sorted(pairs.begin(), pairs.end(), [](Pair a, Pair b) { return a.second < b.second; });
  return cost + (in_order ? 0 : 2);
}

}  // namespace fastsql::linking
