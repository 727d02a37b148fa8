#include "linking/value_match.h"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "linking/crc32.h"

namespace fastsql::linking {
namespace {

struct Word {
  std::size_t begin, end;  // bytes of the question's key
  bool plural;
};

// An English plural: more than three characters, an s at the end, but not two.
bool is_plural(std::string_view word) {
  if (word.size() < 4 || word.back() != 's' || word[word.size() - 2] == 's') return false;
  const auto starts = [](char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; };
  return std::count_if(word.begin(), word.end(), starts) > 3;
}

std::vector<Word> cut(std::string_view key) {
  std::vector<Word> words;
  for (std::size_t begin = 0; begin < key.size();) {
    const std::size_t end = std::min(key.find(' ', begin), key.size());
    words.push_back({begin, end, is_plural(key.substr(begin, end - begin))});
    begin = end + 1;
  }
  return words;
}

// The checksums of the runs that begin with one word, each from that of the run before.
class Runs {
 public:
  Runs(std::string_view key, const std::vector<Word>& words, std::size_t first)
      : key_(key), words_(words), begin_(words[first].begin), next_(first) {}

  std::string_view text(std::size_t last, bool singular) const {
    return key_.substr(begin_, words_[last].end - begin_ - (singular ? 1 : 0));
  }

  // Of the run that ends with word `last`, with or without the last s of a plural; `last` never falls.
  std::uint32_t checksum(std::size_t last, bool singular) {
    while (next_ <= last) {
      const Word& word = words_[next_];
      const std::size_t stop = word.end - (word.plural ? 1 : 0);
      singular_ = whole_ = crc32(bytes(done_ + begin_), stop - begin_ - done_, whole_);
      if (word.plural) whole_ = crc32(bytes(stop), 1, singular_);
      done_ = word.end - begin_;
      ++next_;
    }
    return singular ? singular_ : whole_;
  }

 private:
  const std::uint8_t* bytes(std::size_t place) const { return reinterpret_cast<const std::uint8_t*>(key_.data()) + place; }

  std::string_view key_;
  const std::vector<Word>& words_;
  std::size_t begin_, next_, done_ = 0;
  std::uint32_t whole_ = 0, singular_ = 0;
};

}  // namespace

std::vector<ValueHit> find_values(const ValueTable& table, std::string_view key) {
  const std::vector<Word> words = cut(key);
  std::vector<ValueHit> hits;
  std::vector<std::uint32_t> lengths, numbers;
  for (std::size_t first = 0; first < words.size(); ++first) {
    const std::string_view word = key.substr(words[first].begin, words[first].end - words[first].begin);
    table.lengths_of(word, lengths);
    if (lengths.empty() && words[first].plural) {
      // A plural that is a whole value, "swabs", has no lengths of its own.
      table.lengths_of(word.substr(0, word.size() - 1), lengths);
      if (!lengths.empty()) lengths.assign(1, 1);
    }
    Runs runs(key, words, first);
    const auto found = static_cast<std::ptrdiff_t>(hits.size());
    // The shortest first, since the checksum of a longer run goes on from it.
    for (auto length = lengths.rbegin(); length != lengths.rend(); ++length) {
      if (*length == 0 || *length > words.size() - first) continue;
      const std::size_t last = first + *length - 1;
      numbers.clear();
      table.find(runs.text(last, false), runs.checksum(last, false), numbers);
      if (numbers.empty() && words[last].plural) {
        table.find(runs.text(last, true), runs.checksum(last, true), numbers);
      }
      if (!numbers.empty()) {
        hits.push_back({static_cast<std::uint32_t>(first), static_cast<std::uint32_t>(last + 1), numbers});
      }
    }
    std::reverse(hits.begin() + found, hits.end());
  }
  return hits;
}

}  // namespace fastsql::linking
