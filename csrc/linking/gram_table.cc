#include "linking/gram_table.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace fastsql::linking {
namespace {

constexpr unsigned kMostBits = 20;
constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15U;
// Values whose scores are added up together, so that these lie near.
constexpr std::uint32_t kRange = 1U << 15;
constexpr std::int64_t kFine = 1 << 16;
// Postings that are read to spare looking at one value.
constexpr std::size_t kWorth = 16;

// Chinese characters and Japanese syllables.
bool is_unspaced(char32_t letter) {
  return letter == 0x3007 || (letter >= 0x3400 && letter <= 0x9FFF) || (letter >= 0xF900 && letter <= 0xFAFF) ||
         (letter >= 0x20000 && letter <= 0x3FFFF) || (letter >= 0x3040 && letter <= 0x30FF);
}

// The hashes of all grams of a text between blanks.
void add_grams(const std::u32string& text, unsigned bits, std::vector<std::uint32_t>& hashes) {
  for (std::size_t middle = 1; middle + 1 < text.size(); ++middle) {
    const char32_t before = text[middle - 1], behind = text[middle + 1];
    if (text[middle] == U' ' && !(is_unspaced(before) && is_unspaced(behind))) continue;
    const std::uint64_t gram = std::uint64_t{before} << 42 | std::uint64_t{text[middle]} << 21 | std::uint64_t{behind};
    hashes.push_back(static_cast<std::uint32_t>(gram * kFactor >> (64 - bits)));
  }
}

struct Scored {
  std::int64_t score;
  std::uint32_t number;
  bool operator<(const Scored& other) const { return score != other.score ? score > other.score : number < other.number; }
};

// Those that come first of many.
class Best {
 public:
  explicit Best(std::size_t most) : most_(most) {}
  // Whether sum * kFine / scale is a score that may come among the first.
  bool takes(std::int64_t sum, std::int64_t scale) const { return sum * kFine >= (least_ + 1) * scale; }
  void add(Scored one) {
    kept_.push_back(one);
    if (kept_.size() < 2 * most_) return;
    std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(most_) - 1, kept_.end());
    kept_.resize(most_);
    // Numbers rise, so that of equal ones the first stay.
    least_ = kept_.back().score;
  }
  std::vector<std::uint32_t> numbers() {
    std::sort(kept_.begin(), kept_.end());
    kept_.resize(std::min(kept_.size(), most_));
    std::vector<std::uint32_t> found;
    found.reserve(kept_.size());
    for (const Scored& one : kept_) found.push_back(one.number);
    return found;
  }

 private:
  std::size_t most_;
  std::int64_t least_ = -1;
  std::vector<Scored> kept_;
};

}  // namespace

GramTable::GramTable(const std::uint8_t* body, std::size_t size, const std::array<std::uint64_t, kSections + 1>& bounds,
                     std::vector<std::uint32_t> checksums, std::size_t count)
    : bytes_(body, size, std::move(checksums)), bounds_(bounds), count_(count) {
  if (bounds.front() != 0 || bounds.back() != size) damaged("its sections do not fill it");
  for (std::size_t section = 0; section < kSections; ++section) {
    if (bounds[section + 1] < bounds[section] || bounds[section] % 4 != 0) damaged("its sections do not fill it");
  }
  const std::uint64_t integers = (bounds[kPostings] - bounds[kBuckets]) / 4;
  if (integers < 2 || !std::has_single_bit(integers - 1) || integers - 1 > std::uint64_t{1} << kMostBits) {
    damaged("a section is no table of buckets");
  }
  if (bounds[kSections] - bounds[kSizes] != (count + 3) / 4 * 4) damaged("there is not one number of grams for each value");
  bits_ = static_cast<unsigned>(std::bit_width(integers - 1) - 1);
}

std::vector<GramTable::Row> GramTable::rows_of(std::vector<std::uint32_t> hashes) const {
  std::sort(hashes.begin(), hashes.end());
  hashes.erase(std::unique(hashes.begin(), hashes.end()), hashes.end());
  std::vector<Row> rows;
  for (const std::uint32_t hash : hashes) {
    const std::uint64_t place = bounds_[kBuckets] + std::uint64_t{hash} * 4;
    bytes_.expect(place, place + 8);
    const Row row{bytes_.integer(place), bytes_.integer(place + 4), 0};
    if (row.next > row.last || row.last > (bounds_[kSizes] - bounds_[kPostings]) / 4) {
      damaged("it refers to postings that it does not have");
    }
    if (row.next < row.last) rows.push_back(row);
  }
  std::stable_sort(rows.begin(), rows.end(),
                   [](const Row& one, const Row& other) { return one.last - one.next < other.last - other.next; });
  return rows;
}

bool GramTable::holding(const std::u32string& word, std::size_t most, std::vector<std::uint32_t>& found) const {
  found.clear();
  std::vector<std::uint32_t> hashes;
  add_grams(word.size() == 1 && is_unspaced(word[0]) ? U' ' + word + U' ' : word, bits_, hashes);
  if (hashes.empty()) return false;
  std::sort(hashes.begin(), hashes.end());
  const auto different = static_cast<std::size_t>(std::unique(hashes.begin(), hashes.end()) - hashes.begin());
  hashes.resize(different);
  const std::vector<Row> rows = rows_of(std::move(hashes));
  if (rows.size() < different) return true;  // a gram that no value has
  if (rows[0].last - rows[0].next > most) return false;
  std::vector<std::uint32_t> both;
  for (const Row& row : rows) {
    const bool first = &row == rows.data();
    if (!first && row.last - row.next > kWorth * found.size()) break;
    bytes_.expect(bounds_[kPostings] + row.next * 4, bounds_[kPostings] + row.last * 4);
    both.clear();
    auto known = found.begin();
    for (std::uint64_t place = row.next; place < row.last; ++place) {
      const std::uint32_t number = bytes_.integer(bounds_[kPostings] + place * 4);
      if (number >= count_) damaged("it refers to a value that it does not have");
      while (!first && known != found.end() && *known < number) ++known;
      if (first || (known != found.end() && *known == number)) both.push_back(number);
    }
    found.swap(both);
  }
  return true;
}

std::vector<GramTable::Row> GramTable::rows_of(const std::vector<std::vector<std::u32string>>& texts) const {
  std::vector<std::uint32_t> hashes;
  for (const auto& words : texts) {
    std::u32string text = U" ";
    for (const std::u32string& word : words) text += word + U' ';
    add_grams(text, bits_, hashes);
  }
  std::vector<Row> rows = rows_of(std::move(hashes));
  std::uint64_t left = kRead;
  std::size_t kept = 0;
  for (; kept < rows.size() && rows[kept].last - rows[kept].next <= left; ++kept) {
    const std::uint64_t size = rows[kept].last - rows[kept].next;
    left -= size;
    rows[kept].weight = static_cast<std::uint32_t>(std::bit_width(count_ / size));
    bytes_.expect(bounds_[kPostings] + rows[kept].next * 4, bounds_[kPostings] + rows[kept].last * 4);
  }
  rows.resize(kept);
  return rows;
}

std::vector<std::uint32_t> GramTable::propose(const std::vector<std::vector<std::u32string>>& texts, const ValueTable& table,
                                              const std::vector<std::uint8_t>& allowed) const {
  std::vector<Row> rows = rows_of(texts);
  if (rows.empty()) return {};
  std::int64_t weights = 0;
  for (const Row& row : rows) weights += row.weight;
  const std::int64_t mean = std::max<std::int64_t>(1, weights / static_cast<std::int64_t>(rows.size())), base = 4 * mean;
  Best best(kProposed);
  std::vector<std::uint32_t> shared(kRange, 0);
  std::vector<std::uint64_t> touched(kRange / 64, 0);  // a bit for each of them
  for (std::uint64_t first = 0; first < count_; first += kRange) {
    const std::uint64_t end = std::min<std::uint64_t>(first + kRange, count_);
    bool any = false;
    for (Row& row : rows) {
      const std::uint64_t begin = row.next, postings = bounds_[kPostings];
      std::uint64_t next = begin;
      for (; next < row.last; ++next) {
        const std::uint32_t number = bytes_.integer(postings + next * 4);
        if (number >= end) break;
        if (number < first) damaged("its postings are out of order");
        const std::uint64_t place = number - first;
        shared[place] += row.weight;
        touched[place / 64] |= std::uint64_t{1} << place % 64;
      }
      row.next = next;
      any = any || next > begin;
    }
    if (!any) continue;
    bytes_.expect(bounds_[kSizes] + first, bounds_[kSizes] + end);
    for (std::uint64_t word = 0; word < touched.size(); ++word) {
      for (std::uint64_t bits = std::exchange(touched[word], 0); bits != 0; bits &= bits - 1) {
        const std::uint64_t place = word * 64 + static_cast<std::uint64_t>(std::countr_zero(bits));
        const std::int64_t sum = std::exchange(shared[place], 0);
        if (!best.takes(sum, base)) continue;  // whatever its size
        const std::int64_t scale = base + mean * *bytes_.at(bounds_[kSizes] + first + place);
        if (!best.takes(sum, scale)) continue;
        const auto number = static_cast<std::uint32_t>(first + place);
        const std::uint32_t holders = table.holders_of(number);
        if (holders >= allowed.size()) damaged("a value is held by columns that it does not list");
        if (allowed[holders] != 0) best.add({sum * kFine / scale, number});
      }
    }
  }
  for (const Row& row : rows) {
    if (row.next < row.last) damaged("it refers to a value that it does not have");
  }
  return best.numbers();
}

}  // namespace fastsql::linking
