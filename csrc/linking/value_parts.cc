#include "linking/value_parts.h"

#include <algorithm>
#include <string>
#include <unordered_map>
#include <utility>

#include "core/error.h"

namespace fastsql::linking {
namespace {

constexpr std::size_t kCommon = 512, kChecked = 4096;

// Small letters of ASCII; other bytes stay. Whether all were ASCII.
bool lower(std::string_view text, std::string& lowered) {
  lowered.assign(text);
  unsigned every = 0;
  for (char& letter : lowered) {
    every |= static_cast<unsigned char>(letter);
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return every < 0x80;
}

struct Run {
  std::string_view text, key;  // as it is written, empty where it is not ASCII
};

// A value that is being compared.
struct Value {
  std::string lowered;
  std::string_view key;
  bool plain = false;

  // What is compared with a run, and of the run with it.
  std::pair<std::string_view, std::string_view> sides(const Run& run) const {
    return plain && !run.text.empty() ? std::pair<std::string_view, std::string_view>{lowered, run.text}
                                      : std::pair<std::string_view, std::string_view>{key, run.key};
  }
  bool contains(const Run& run) const {
    const auto [text, part] = sides(run);
    return text.find(part) != std::string_view::npos;
  }
  bool begins(const Run& run) const {
    const auto [text, part] = sides(run);
    return text.substr(0, part.size()) == part;
  }
  bool ends(const Run& run) const {
    const auto [text, part] = sides(run);
    return text.size() >= part.size() && text.substr(text.size() - part.size()) == part;
  }
};

class Text {
 public:
  explicit Text(const Said& said) : said_(said), words_(words_of(said.key)) {
    if (said.key.empty()) words_.clear();
    if (words_.size() != said.places.size()) throw ModelError("linking: a text has not one place for each word");
    std::size_t begin = 0;
    for (const auto& [first, last] : said.places) {
      if (!said.plain.empty() && (first > last || last > said.plain.size()))
        throw ModelError("linking: a word lies outside its text");
      const std::size_t end = std::min(said.key.find(' ', begin), said.key.size());
      keys_.emplace_back(begin, end);
      begin = end + 1;
    }
  }

  std::size_t size() const { return words_.size(); }
  bool is_whole() const { return said_.whole && size() > 0; }
  std::string_view key(std::size_t word) const {
    return said_.key.substr(keys_[word].first, keys_[word].second - keys_[word].first);
  }
  std::u32string letters(std::size_t word) const {
    std::u32string found = words_[word];
    std::replace(found.begin(), found.end(), U' ', U'\0');
    return found;
  }
  Run run(std::size_t first, std::size_t last) const {
    const std::string_view key = said_.key.substr(keys_[first].first, keys_[last].second - keys_[first].first);
    if (said_.plain.empty() || said_.places[first].first > said_.places[last].second) return {{}, key};
    return {said_.plain.substr(said_.places[first].first, said_.places[last].second - said_.places[first].first), key};
  }

 private:
  const Said& said_;
  std::vector<std::u32string> words_;
  std::vector<WordRun> keys_;  // where they stand in the key
};

class Search {
 public:
  Search(const ValueTable& table, const GramTable& grams, const std::vector<std::uint8_t>& allowed)
      : table_(table), grams_(grams), allowed_(allowed), within_(allowed.size()), other_(allowed.size()) {}

  void add_rows(std::size_t number, const Text& text) {
    const std::size_t count = text.size(), starts = text.is_whole() ? 1 : count;
    for (std::size_t first = 0; first < starts; ++first) from(number, text, first);
    for (std::size_t last = text.is_whole() ? count - 1 : 0; last < count; ++last) to(number, text, last);
  }

  std::vector<ValuePart> take() { return std::move(found_); }

 private:
  struct Holding {
    bool known;
    std::vector<std::uint32_t> values;
  };

  const Holding& holding(const Text& text, std::size_t word) {
    const auto [entry, is_new] = holding_.try_emplace(std::string(text.key(word)));
    Holding& held = entry->second;
    if (is_new) {
      held.known = text.key(word).find('.') == std::string_view::npos && grams_.holding(text.letters(word), kCommon, held.values);
    }
    return held;
  }

  // The first of the words [place, end) in steps of `step` whose values are known; these, or none.
  const std::vector<std::uint32_t>* propose(const Text& text, std::int64_t& place, std::int64_t end, std::int64_t step) {
    for (; place != end; place += step) {
      const Holding& held = holding(text, static_cast<std::size_t>(place));
      if (!held.known) continue;
      if (held.values.size() > left_) break;
      left_ -= held.values.size();
      return &held.values;
    }
    return nullptr;
  }

  // Reads a value, unless no column that counts has it, or whatever it says is known of these already.
  template <typename Known>
  bool read(std::uint32_t number, Known is_known) {
    holders_ = table_.holders_of(number);
    if (holders_ >= allowed_.size()) damaged("a value is held by columns that it does not list");
    if (allowed_[holders_] == 0 || is_known()) return false;
    value_.key = table_.key_of(number);
    value_.plain = lower(table_.text_of(number), value_.lowered);
    return true;
  }

  // Runs that begin with a word: how far they go on within values, and at their beginning. Numbers of words from 1 on.
  void from(std::size_t number, const Text& text, std::size_t first) {
    const auto count = static_cast<std::int64_t>(text.size());
    std::int64_t place = static_cast<std::int64_t>(first);
    const std::vector<std::uint32_t>* values = propose(text, place, count, 1);
    const auto reached = static_cast<std::size_t>(values == nullptr ? count : place);  // words up to here are everywhere
    if (reached > first) found_.push_back({number, ValuePart::kWithin, first, reached - 1, ValuePart::kEvery});
    if (values == nullptr) return;
    within_.assign(allowed_.size(), reached), other_.assign(allowed_.size(), reached);
    for (const std::uint32_t one : *values) {
      if (!read(one, [&] { return within_[holders_] == text.size() && other_[holders_] == text.size(); })) continue;
      std::size_t& far = within_[holders_];
      while (far < text.size() && value_.contains(text.run(first, far))) ++far;
      std::size_t& begun = other_[holders_];
      while (begun < text.size() && value_.begins(text.run(first, begun))) ++begun;
    }
    for (const auto* kind : {&within_, &other_}) {
      for (std::size_t set = 0; set < kind->size(); ++set) {
        if ((*kind)[set] <= reached) continue;
        found_.push_back({number, kind == &within_ ? ValuePart::kWithin : ValuePart::kBegun, first, (*kind)[set] - 1,
                          static_cast<std::int32_t>(set)});
      }
    }
  }

  // Runs that end with a word: how far back they begin at the end of values.
  void to(std::size_t number, const Text& text, std::size_t last) {
    std::int64_t place = static_cast<std::int64_t>(last);
    const std::vector<std::uint32_t>* values = propose(text, place, -1, -1);
    const auto reached = static_cast<std::size_t>(values == nullptr ? 0 : place + 1);
    if (reached <= last) found_.push_back({number, ValuePart::kEnded, last, reached, ValuePart::kEvery});
    if (values == nullptr) return;
    other_.assign(allowed_.size(), reached);
    for (const std::uint32_t one : *values) {
      if (!read(one, [&] { return other_[holders_] == 0; })) continue;
      std::size_t& first = other_[holders_];
      while (first > 0 && value_.ends(text.run(first - 1, last))) --first;
    }
    for (std::size_t set = 0; set < other_.size(); ++set) {
      if (other_[set] < reached) {
        found_.push_back({number, ValuePart::kEnded, last, other_[set], static_cast<std::int32_t>(set)});
      }
    }
  }

  const ValueTable& table_;
  const GramTable& grams_;
  const std::vector<std::uint8_t>& allowed_;
  std::size_t left_ = kChecked;
  std::unordered_map<std::string, Holding> holding_;
  std::vector<std::size_t> within_, other_;  // [sets]
  Value value_;
  std::uint32_t holders_ = 0;
  std::vector<ValuePart> found_;
};

}  // namespace

std::vector<ValuePart> find_parts(const ValueTable& table, const GramTable& grams, const std::vector<Said>& texts,
                                  const std::vector<std::uint8_t>& allowed) {
  Search search(table, grams, allowed);
  for (std::size_t number = 0; number < texts.size(); ++number) search.add_rows(number, Text(texts[number]));
  return search.take();
}

}  // namespace fastsql::linking
