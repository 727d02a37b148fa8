#include "linking/near_places.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>

#include "core/error.h"
#include "linking/nearness.h"

namespace fastsql::linking {
namespace {

constexpr double kSaid = 0.25;
constexpr std::size_t kShortest = 4, kShortestUnspaced = 3, kLongest = 128, kMore = 2, kShortestPart = 3;

bool is_in(const std::u32string& word, Words value) {
  return std::any_of(value.begin(), value.end(), [&word](const std::u32string& other) {
    return word == other || word + U's' == other || word == other + U's';
  });
}

bool is_telling(Words said) {
  const bool spaced = std::any_of(said.begin(), said.end(), [](const auto& word) { return word.size() > 1; });
  return letters_of(said) >= (spaced ? kShortest : kShortestUnspaced);
}

class Search {
 public:
  Search(const std::vector<std::u32string>& words, const std::vector<std::uint8_t>& idle, const std::vector<WordRun>& settled,
         const std::vector<WordRun>& runs)
      : words_(words), idle_(idle), settled_(settled), runs_(runs), known_(words.size(), false) {}

  void learn(Words value) {
    for (std::size_t place = 0; place < words_.size(); ++place) {
      if (!known_[place]) known_[place] = std::find(value.begin(), value.end(), words_[place]) != value.end();
    }
  }

  std::optional<NearPlace> best(Words value) {
    const std::size_t size = letters_of(value);
    if (size > kLongest) return std::nullopt;
    const std::u32string letters = initials(value);
    std::optional<NearPlace> best;
    std::vector<std::size_t> touched;
    for (const auto& [begin, end] : runs_) {
      touched.clear();
      for (std::size_t place = begin; place < end; ++place) {
        if (idle_[place] == 0 && (words_[place] == letters || touches(words_[place], value))) touched.push_back(place);
      }
      for (const std::size_t first : touched) {
        for (const std::size_t last : touched) {
          if (last < first || last - first + 1 > value.size() + kMore) continue;
          const Words said(words_.data() + first, last - first + 1);
          if (!is_telling(said) || is_settled(first, last + 1) || misreads(first, last, value)) continue;
          const std::size_t longest = std::max(size, letters_of(said));
          const double far = static_cast<double>(cost(said, value, letters)) / static_cast<double>(2 * longest);
          const NearPlace place{far, static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last + 1), 0};
          if (far <= kSaid && (!best || key(place) < key(*best))) best = place;
        }
      }
    }
    return best;
  }

 private:
  static std::tuple<double, std::uint32_t, std::uint32_t> key(const NearPlace& place) {
    return {place.distance, place.begin, place.end};
  }

  // Whether words [begin, end) are what says a value exactly, or hold a part of it.
  bool is_settled(std::size_t begin, std::size_t end) const {
    return std::any_of(settled_.begin(), settled_.end(), [begin, end](const WordRun& run) {
      if (run.first >= end || begin >= run.second) return false;
      return run.first < begin || run.second > end || end - begin == run.second - run.first;
    });
  }

  // Whether a word that is spelled well would have to be another.
  bool misreads(std::size_t first, std::size_t last, Words value) const {
    for (std::size_t place = first; place <= last; ++place) {
      if (known_[place] && !is_in(words_[place], value)) return true;
    }
    return false;
  }

  std::size_t cost(Words said, Words value, const std::u32string& letters) {
    if (said.size() > 1 || said[0] == letters) return nearness_.half_letters(said, value);
    const std::u32string whole = joined(value);
    const std::size_t most = 2 * (said[0].size() + whole.size());
    const bool inflected = said[0].starts_with(whole) && said[0] != whole + U's';
    if (inflected || (value.size() > 1 && whole.starts_with(said[0]))) return most;
    const auto cost = nearness_.pair_cost(said[0], whole);
    const std::size_t least = value.size() > 1 || said[0] != whole ? 1 : 0;
    return cost ? std::max(least, *cost) : most;
  }

  bool touches(const std::u32string& word, Words value) {
    return std::any_of(value.begin(), value.end(), [&](const std::u32string& other) {
      if (nearness_.pair_cost(word, other)) return true;
      const bool shorter = word.size() <= other.size();
      const std::u32string &brief = shorter ? word : other, &whole = shorter ? other : word;
      return brief.size() >= kShortestPart && whole.ends_with(brief);
    });
  }

  const std::vector<std::u32string>& words_;
  const std::vector<std::uint8_t>& idle_;
  const std::vector<WordRun>& settled_;
  const std::vector<WordRun>& runs_;
  std::vector<bool> known_;  // words of a proposed value
  Nearness nearness_{Nearness::kStrictly};
};

}  // namespace

std::vector<std::u32string> words_of(std::string_view key) {
  std::vector<std::u32string> words(1);
  for (std::size_t place = 0; place < key.size();) {
    const auto lead = static_cast<unsigned char>(key[place]);
    const std::size_t length = lead < 0x80 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if ((lead >= 0x80 && lead < 0xC0) || lead > 0xF4 || place + length > key.size()) damaged("a value is not text");
    char32_t letter = length == 1 ? lead : lead & (0x7FU >> length);
    for (std::size_t next = 1; next < length; ++next) {
      const auto byte = static_cast<unsigned char>(key[place + next]);
      if ((byte & 0xC0) != 0x80) damaged("a value is not text");
      letter = letter << 6 | (byte & 0x3F);
    }
    place += length;
    if (letter == U' ') {
      words.emplace_back();
    } else {
      words.back() += letter == 0 ? U' ' : letter;
    }
  }
  return words;
}

std::vector<NearPlace> find_near(const ValueTable& table, const GramTable& grams, const std::vector<std::u32string>& words,
                                 const std::vector<std::uint8_t>& idle, const std::vector<WordRun>& settled,
                                 const std::vector<std::uint8_t>& allowed) {
  if (idle.size() != words.size()) throw ModelError("linking: there is not one mark for each word");
  std::vector<WordRun> runs;
  std::vector<std::vector<std::u32string>> texts;
  for (std::size_t place = 0; place < words.size(); ++place) {
    const WordRun run{place, place + 1};
    if (words[place].empty()) continue;
    if (place == 0 || words[place - 1].empty()) {
      runs.push_back(run);
      texts.emplace_back();
    }
    runs.back().second = place + 1;
    if (idle[place] == 0) texts.back().push_back(words[place]);
  }
  const std::vector<std::uint32_t> proposed = grams.propose(texts, table, allowed);
  std::vector<std::vector<std::u32string>> values;
  values.reserve(proposed.size());
  Search search(words, idle, settled, runs);
  for (const std::uint32_t number : proposed) {
    values.push_back(words_of(table.key_of(number)));
    search.learn(values.back());
  }
  std::vector<NearPlace> found;
  for (std::size_t place = 0; place < proposed.size(); ++place) {
    if (auto best = search.best(values[place])) {
      best->value = proposed[place];
      found.push_back(*best);
    }
  }
  return found;
}

}  // namespace fastsql::linking
