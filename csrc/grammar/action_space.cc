#include "grammar/action_space.h"

#include <algorithm>
#include <string>

namespace fastsql::grammar {
namespace {

constexpr std::int32_t kMostCandidates = 1 << 16, kMostTokens = 1 << 20, kMostBudget = 1 << 20;
constexpr std::int32_t kMostCharacters = 1 << 30;

// Kinds of candidate, in the order of KINDS in python/fastsql/linking/candidate.py.
enum CandidateKind : std::uint8_t { kNumber, kDate, kText };
constexpr std::int32_t kCandidateKinds = 3;

// Flags of a candidate: a date with a format, a whole number fit for LIMIT, a text; and of a token: it begins a word, it
// ends one.
constexpr std::int32_t kDated = 1, kWhole = 2, kLiteralText = 4, kCandidateFlags = 7;
constexpr std::int32_t kWordStart = 1, kWordEnd = 2, kTokenFlags = 3;

// Whether a candidate that belongs to no column may be compared with an expression of a type class.
bool fits(std::uint8_t kind, TypeClass type) {
  if (type == TypeClass::kNumber) return kind == kNumber;
  if (type == TypeClass::kTime) return kind != kNumber;
  return true;
}

}  // namespace

ActionSpace::ActionSpace(std::shared_ptr<const SchemaItems> schema, const Table& table) : schema_(std::move(schema)) {
  TableReader reader("question table", table, kVersion);
  const std::size_t candidates = reader.count("candidates", kMostCandidates, 4);
  const std::size_t columns = reader.count("columns of candidates", 1 << 24, 1);
  const std::size_t tokens = reader.count("tokens", kMostTokens, 2);
  budget_ = reader.next("the step budget", 1, kMostBudget);
  strict_grouping_ = reader.next("whether grouping is strict", 0, 1) != 0;

  const std::int32_t sizes[kKinds] = {schema_->first_table(),
                                      schema_->tables(),
                                      schema_->columns(),
                                      static_cast<std::int32_t>(candidates),
                                      schema_->values(),
                                      static_cast<std::int32_t>(tokens),
                                      static_cast<std::int32_t>(tokens),
                                      budget_};
  for (std::size_t kind = 0; kind < kKinds; ++kind) offsets_[kind + 1] = offsets_[kind] + sizes[kind];
  for (auto* set : {&whole_numbers_, &dates_, &texts_, &word_starts_, &word_ends_}) set->assign(words(), 0);
  for (auto& set : fitting_) set.assign(words(), 0);
  candidates_.resize(candidates);
  read_candidates(reader, columns);
  read_tokens(reader);
  reader.end();

  for (const Range& run : schema_->constants()) {
    Word* set = fitting_[static_cast<std::size_t>(TypeClass::kNumber)].data();
    const std::int32_t first = offset(Kind::kSchemaValue);
    set_range(set, static_cast<std::size_t>(first + run.begin), static_cast<std::size_t>(first + run.end));
  }
  bar_starts();
}

void ActionSpace::read_candidates(TableReader& reader, std::size_t columns) {
  std::vector<std::int32_t> counts(candidates_.size());
  for (std::size_t number = 0; number < candidates_.size(); ++number) {
    Candidate& candidate = candidates_[number];
    candidate.kind = static_cast<std::uint8_t>(reader.next("kind of a candidate", 0, kCandidateKinds - 1));
    const std::int32_t flags = reader.next("flags of a candidate", 0, kCandidateFlags);
    candidate.barred_character = reader.next("first character of a candidate", -1, kMostCharacters);
    counts[number] = reader.next("columns of a candidate", 0, schema_->columns());
    candidate.of_columns = counts[number] > 0;
    if (flags & kDated) add_candidate(dates_.data(), number);
    if (flags & kWhole) add_candidate(whole_numbers_.data(), number);
    if (flags & kLiteralText) add_candidate(texts_.data(), number);
    has_dates_ = has_dates_ || (flags & kDated) != 0;
    offers_text_ = offers_text_ || (flags & kLiteralText) != 0;
    for (std::size_t type = 0; type < kTypeClasses && !candidate.of_columns; ++type) {
      if (fits(candidate.kind, static_cast<TypeClass>(type))) add_candidate(fitting_[type].data(), number);
    }
  }
  for (std::size_t number = 0; number < candidates_.size(); ++number) {
    for (std::int32_t i = 0; i < counts[number]; ++i) {
      const std::int32_t column = reader.next("column of a candidate", 0, schema_->columns() - 1);
      of_columns_.push_back({column, static_cast<std::int32_t>(number)});
    }
  }
  if (of_columns_.size() != columns) {
    reader.fail("has " + std::to_string(columns) + " columns of candidates; its candidates have " +
                std::to_string(of_columns_.size()));
  }
  std::sort(of_columns_.begin(), of_columns_.end());
}

void ActionSpace::read_tokens(TableReader& reader) {
  const auto tokens = static_cast<std::size_t>(end(Kind::kStart) - offset(Kind::kStart));
  std::vector<std::int32_t> character(tokens);
  for (std::size_t token = 0; token < tokens; ++token) {
    character[token] = reader.next("first character of a token", 0, kMostCharacters);
    const std::int32_t flags = reader.next("flags of a token", 0, kTokenFlags);
    if (flags & kWordStart) set_bit(word_starts_.data(), static_cast<std::size_t>(offset(Kind::kStart)) + token);
    if (flags & kWordEnd) set_bit(word_ends_.data(), static_cast<std::size_t>(offset(Kind::kEnd)) + token);
    offers_text_ = offers_text_ || (flags & kWordStart) != 0;
  }
  tokens_by_character_.resize(tokens);
  for (std::size_t token = 0; token < tokens; ++token) tokens_by_character_[token] = static_cast<std::int32_t>(token);
  std::stable_sort(tokens_by_character_.begin(), tokens_by_character_.end(), [&](std::int32_t one, std::int32_t other) {
    return character[static_cast<std::size_t>(one)] < character[static_cast<std::size_t>(other)];
  });
  for (Candidate& candidate : candidates_) {
    const auto before = [&](std::int32_t token, std::int32_t at) {
      return character[static_cast<std::size_t>(token)] < at;
    };
    const auto first = tokens_by_character_.begin(), last = tokens_by_character_.end();
    const std::int32_t at = candidate.barred_character;
    if (at < 0) continue;
    candidate.barred.begin = static_cast<std::int32_t>(std::lower_bound(first, last, at, before) - first);
    candidate.barred.end = static_cast<std::int32_t>(std::lower_bound(first, last, at + 1, before) - first);
  }
}

void ActionSpace::bar_starts() {
  for (std::size_t type = 0; type < kTypeClasses; ++type) {
    starts_[type] = word_starts_;
    for (const Candidate& candidate : candidates_) {
      if (candidate.of_columns || !fits(candidate.kind, static_cast<TypeClass>(type))) continue;
      for (std::int32_t place = candidate.barred.begin; place < candidate.barred.end; ++place) {
        const std::int32_t token = tokens_by_character_[static_cast<std::size_t>(place)];
        clear_bit(starts_[type].data(), static_cast<std::size_t>(offset(Kind::kStart) + token));
      }
    }
  }
}

Action ActionSpace::locate(std::int32_t action) const {
  std::size_t kind = kKinds - 1;
  while (action < offsets_[kind]) --kind;
  return {static_cast<Kind>(kind), action - offsets_[kind]};
}

std::pair<const ActionSpace::OfColumn*, const ActionSpace::OfColumn*> ActionSpace::candidates_of(
    std::int32_t column) const {
  const OfColumn* first = of_columns_.data();
  const OfColumn* last = first + of_columns_.size();
  if (column < 0) return {last, last};
  return {std::lower_bound(first, last, OfColumn{column, 0}), std::lower_bound(first, last, OfColumn{column + 1, 0})};
}

void ActionSpace::add_candidate(Word* set, std::size_t number) const {
  set_bit(set, static_cast<std::size_t>(offset(Kind::kCandidate)) + number);
}

void ActionSpace::add_whole_numbers(Word* set) const {
  or_range(set, whole_numbers_.data(), static_cast<std::size_t>(offset(Kind::kCandidate)),
           static_cast<std::size_t>(end(Kind::kCandidate)));
}

void ActionSpace::add_dates(Word* set) const {
  or_range(set, dates_.data(), static_cast<std::size_t>(offset(Kind::kCandidate)),
           static_cast<std::size_t>(end(Kind::kCandidate)));
}

void ActionSpace::add_texts(Word* set) const {
  or_range(set, texts_.data(), static_cast<std::size_t>(offset(Kind::kCandidate)),
           static_cast<std::size_t>(end(Kind::kCandidate)));
}

void ActionSpace::add_literals(Typed left, Word* set) const {
  const Kind last = left.type == TypeClass::kNumber ? Kind::kSchemaValue : Kind::kCandidate;  // constants are numbers
  or_range(set, fitting_[static_cast<std::size_t>(left.type)].data(),
           static_cast<std::size_t>(offset(Kind::kCandidate)), static_cast<std::size_t>(end(last)));
  if (left.column < 0) return;
  const auto [first, behind] = candidates_of(left.column);
  for (const OfColumn* pair = first; pair != behind; ++pair) {
    add_candidate(set, static_cast<std::size_t>(pair->candidate));
  }
  const std::int32_t values = offset(Kind::kSchemaValue);
  for (const Range& run : schema_->values_of(left.column)) {
    set_range(set, static_cast<std::size_t>(values + run.begin), static_cast<std::size_t>(values + run.end));
  }
}

void ActionSpace::add_span_starts(Typed left, bool partial, Word* set) const {
  const auto [first, behind] = candidates_of(left.column);
  // If the question names a value that the column is known to hold, whole values are not spelled out.
  if (first != behind && !partial) return;
  or_range(set, starts_[static_cast<std::size_t>(left.type)].data(), static_cast<std::size_t>(offset(Kind::kStart)),
           static_cast<std::size_t>(end(Kind::kStart)));
  for (const OfColumn* pair = first; pair != behind; ++pair) {
    const Range& barred = candidates_[static_cast<std::size_t>(pair->candidate)].barred;
    for (std::int32_t place = barred.begin; place < barred.end; ++place) {
      const std::int32_t token = tokens_by_character_[static_cast<std::size_t>(place)];
      clear_bit(set, static_cast<std::size_t>(offset(Kind::kStart) + token));
    }
  }
}

void ActionSpace::add_span_ends(std::int32_t start, Word* set) const {
  if (start < 0) return;
  const std::int32_t behind = std::min(offset(Kind::kEnd) + start + grammar().bounds().span, end(Kind::kEnd));
  const auto first = static_cast<std::size_t>(offset(Kind::kEnd) + start), last = static_cast<std::size_t>(behind);
  if (any_in_range(word_ends_.data(), first, last)) {
    or_range(set, word_ends_.data(), first, last);
  } else {
    set_bit(set, last - 1);  // a word of more tokens than that ends where the limit is
  }
}

}  // namespace fastsql::grammar
