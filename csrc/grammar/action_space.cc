#include "grammar/action_space.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "grammar/bounded_arena.h"
#include "grammar/grounding.h"
#include "grammar/matching.h"
#include "grammar/state.h"

namespace fastsql::grammar {
namespace {

constexpr std::int32_t kMostCandidates = 1 << 16, kMostTokens = 1 << 20, kMostBudget = 1 << 20;
constexpr std::int32_t kMostCharacters = 1 << 30;
constexpr std::int32_t kMostTurns = 1 << 10, kMostEntries = 1 << 20, kTurnFlags = 31;

// Flags of a candidate: a date with a format, a whole number fit for LIMIT, a text; and of a token: it begins a word, it
// ends one.
constexpr std::int32_t kDated = 1, kWhole = 2, kLiteralText = 4, kCandidateFlags = 7;
constexpr std::int32_t kWordStart = 1, kWordEnd = 2, kTokenFlags = 3;

struct Candidate {
  CandidateKind kind;
  std::int32_t columns;           // that it meets; any where there are none
  std::int32_t barred_character;  // at which no span may begin where the candidate fits, or -1

  // Whether it may be compared with an expression of a type class that passes on no column.
  bool fits(TypeClass type) const {
    if (columns > 0) return false;
    if (type == TypeClass::kNumber) return kind == CandidateKind::kNumber;
    if (type == TypeClass::kTime) return kind != CandidateKind::kNumber;
    return true;
  }
};

// The arrays of a SpaceView while they grow.
class Reading {
 public:
  Reading(const Table& table, const SchemaItems& schema, SpaceView& view)
      : reader_("question table", table, ActionSpace::kVersion), view_(view) {
    view_.grammar = schema.grammar().view();
    view_.schema = schema.view();
    const std::size_t candidates = reader_.count("candidates", kMostCandidates, 4);
    const std::size_t columns = reader_.count("columns of candidates", 1 << 24, 1);
    const std::size_t tokens = reader_.count("tokens", kMostTokens, 2);
    const std::size_t turns = reader_.count("turns", kMostTurns, 7);
    const std::size_t entries = reader_.count("entries of turns", kMostEntries, 1);
    view_.budget = reader_.next("the step budget", 1, kMostBudget);
    view_.strict_grouping = reader_.next("whether grouping is strict", 0, 1) != 0;
    lay_out(candidates, tokens, turns, entries);
    candidates_.resize(candidates);
    barred_.resize(candidates);
    words_ = view_.words();
    for (auto* set : {&whole_numbers_, &dates_, &texts_, &word_ends_}) set->resize(words_);
    for (auto* sets : {&fitting_, &starts_}) sets->resize(kTypeClasses * words_);

    read_candidates(columns);
    read_tokens(tokens);
    read_grounds();
    read_turns(turns, entries);
    reader_.end();
    bar_starts();
    for (const Range& run : schema.constants()) {
      const std::int32_t first = view_.offset(Kind::kSchemaValue);
      all_of(fitting_, TypeClass::kNumber)
          .add_range(static_cast<std::size_t>(first + run.begin), static_cast<std::size_t>(first + run.end));
    }
  }

  Image image() const {
    return Image(
        Image::Array{whole_numbers_, view_.whole_numbers}, Image::Array{dates_, view_.dates}, Image::Array{texts_, view_.texts},
        Image::Array{word_ends_, view_.word_ends}, Image::Array{fitting_, view_.fitting}, Image::Array{starts_, view_.starts},
        Image::Array{of_columns_, view_.of_columns}, Image::Array{barred_, view_.barred},
        Image::Array{tokens_by_character_, view_.tokens_by_character}, Image::Array{grounds_, view_.grounds},
        Image::Array{held_, view_.held}, Image::Array{held_spans_, view_.held_spans}, Image::Array{matched_, view_.matched},
        Image::Array{patterns_, view_.patterns}, Image::Array{turns_, view_.turn}, Image::Array{turn_items_, view_.turn_items},
        Image::Array{turn_sources_, view_.turn_sources}, Image::Array{turn_keys_, view_.turn_keys});
  }

 private:
  void lay_out(std::size_t candidates, std::size_t tokens, std::size_t turns, std::size_t entries) {
    const SchemaView& schema = view_.schema;
    const std::int32_t sizes[kKinds] = {view_.grammar.productions,
                                        schema.tables,
                                        schema.columns,
                                        static_cast<std::int32_t>(candidates),
                                        schema.values,
                                        static_cast<std::int32_t>(tokens),
                                        static_cast<std::int32_t>(tokens),
                                        view_.budget + static_cast<std::int32_t>(entries),
                                        static_cast<std::int32_t>(turns)};
    for (std::size_t kind = 0; kind < kKinds; ++kind) view_.offsets[kind + 1] = view_.offsets[kind] + sizes[kind];
  }

  void read_candidates(std::size_t columns) {
    for (std::size_t number = 0; number < candidates_.size(); ++number) {
      Candidate& candidate = candidates_[number];
      const std::size_t id = place(Kind::kCandidate, number);
      const auto most = static_cast<std::int32_t>(kCandidateKinds) - 1;
      candidate.kind = static_cast<CandidateKind>(reader_.next("kind of a candidate", 0, most));
      const std::int32_t flags = reader_.next("flags of a candidate", 0, kCandidateFlags);
      candidate.barred_character = reader_.next("first character of a candidate", -1, kMostCharacters);
      candidate.columns = reader_.next("columns of a candidate", 0, view_.schema.columns);
      if (flags & kDated) set_bit(dates_.data(), id);
      if (flags & kWhole) set_bit(whole_numbers_.data(), id);
      if (flags & kLiteralText) set_bit(texts_.data(), id);
      view_.has_dates = view_.has_dates || (flags & kDated) != 0;
      view_.offers_text = view_.offers_text || (flags & kLiteralText) != 0;
      for (std::size_t type = 0; type < kTypeClasses; ++type) {
        if (candidate.fits(static_cast<TypeClass>(type))) all_of(fitting_, static_cast<TypeClass>(type)).add(id);
      }
    }
    for (std::size_t number = 0; number < candidates_.size(); ++number) {
      for (std::int32_t i = 0; i < candidates_[number].columns; ++i) {
        const std::int32_t column = reader_.next("column of a candidate", 0, view_.schema.columns - 1);
        of_columns_.push_back({column, static_cast<std::int32_t>(number)});
      }
    }
    if (of_columns_.size() != columns) {
      reader_.fail("has " + std::to_string(columns) + " columns of candidates; its candidates have " +
                   std::to_string(of_columns_.size()));
    }
    std::sort(of_columns_.begin(), of_columns_.end(), [](const OfColumn& one, const OfColumn& other) {
      return one.column != other.column ? one.column < other.column : one.candidate < other.candidate;
    });
    view_.pairs = static_cast<std::int32_t>(columns);
  }

  void read_tokens(std::size_t tokens) {
    std::vector<std::int32_t> character(tokens);
    for (std::size_t token = 0; token < tokens; ++token) {
      character[token] = reader_.next("first character of a token", 0, kMostCharacters);
      const std::int32_t flags = reader_.next("flags of a token", 0, kTokenFlags);
      if (flags & kWordEnd) set_bit(word_ends_.data(), place(Kind::kEnd, token));
      if ((flags & kWordStart) == 0) continue;
      view_.offers_text = true;
      for (std::size_t type = 0; type < kTypeClasses; ++type) {
        all_of(starts_, static_cast<TypeClass>(type)).add(place(Kind::kStart, token));
      }
    }
    tokens_by_character_.resize(tokens);
    for (std::size_t token = 0; token < tokens; ++token) tokens_by_character_[token] = static_cast<std::int32_t>(token);
    std::stable_sort(tokens_by_character_.begin(), tokens_by_character_.end(), [&](std::int32_t one, std::int32_t other) {
      return character[static_cast<std::size_t>(one)] < character[static_cast<std::size_t>(other)];
    });
    const auto before = [&](std::int32_t token, std::int32_t at) { return character[static_cast<std::size_t>(token)] < at; };
    const auto first = tokens_by_character_.begin(), last = tokens_by_character_.end();
    for (std::size_t number = 0; number < candidates_.size(); ++number) {
      const std::int32_t at = candidates_[number].barred_character;
      if (at < 0) continue;
      barred_[number].begin = static_cast<std::int32_t>(std::lower_bound(first, last, at, before) - first);
      barred_[number].end = static_cast<std::int32_t>(std::lower_bound(first, last, at + 1, before) - first);
    }
  }

  // Which literals exist.
  void read_grounds() {
    const std::size_t bound = reader_.count("columns whose values are known", view_.schema.columns, 2);
    view_.has_grounds = bound > 0;
    if (bound > 0) grounds_.resize(static_cast<std::size_t>(view_.schema.columns));
    for (std::size_t number = 0; number < bound; ++number) {
      const auto column = static_cast<std::size_t>(next_column());
      grounds_[column] = static_cast<std::uint8_t>(reader_.next("what a column holds", 0, 7) << 1 | ground::kWhole);
    }
    const auto last = [](std::int32_t size) { return std::max(size - 1, 0); };
    const std::int32_t candidates = last(view_.end(Kind::kCandidate) - view_.offset(Kind::kCandidate));
    const std::int32_t tokens = last(view_.end(Kind::kStart) - view_.offset(Kind::kStart));
    held_.resize(reader_.count("candidates that are held", 1 << 24, 2));
    for (Held& held : held_) held = {next_column(), reader_.next("a candidate that is held", 0, candidates), 0};
    held_spans_.resize(reader_.count("spans that are held", 1 << 24, 3));
    for (Held& held : held_spans_) {
      const std::int32_t column = next_column(), first = reader_.next("first token of a span", 0, tokens);
      held = {column, first, reader_.next("last token of a span", first, tokens)};
    }
    for (auto* list : {&held_, &held_spans_}) std::sort(list->begin(), list->end(), is_before);
    view_.held_size = static_cast<std::int32_t>(held_.size());
    view_.held_spans_size = static_cast<std::int32_t>(held_spans_.size());
    note_operands();
    read_patterns(candidates, tokens);
  }

  // What of the question is a part of some value.
  void read_patterns(std::int32_t candidates, std::int32_t tokens) {
    if (reader_.next("whether it is known what matches", 0, 1) == 0) return;
    view_.has_patterns = view_.has_grounds;
    for (std::int32_t list = 0; list < pattern::kLists; ++list) {
      const bool offered = list == pattern::kCandidates;
      const std::int32_t least = list == pattern::kBegun ? 0 : pattern::kEvery;
      const std::size_t size = reader_.count("what matches", 1 << 24, 3), begin = patterns_.size();
      for (std::size_t number = 0; number < size; ++number) {
        const std::int32_t column = reader_.next("a column of what matches", least, view_.schema.columns - 1);
        const std::int32_t fixed = reader_.next("a candidate or token that matches", 0, offered ? candidates : tokens);
        patterns_.push_back({column, fixed, reader_.next("how far it matches", 0, offered ? 15 : tokens)});
      }
      std::sort(patterns_.begin() + static_cast<std::ptrdiff_t>(begin), patterns_.end(), is_before);
      view_.pattern_bounds[list + 1] = static_cast<std::int32_t>(patterns_.size());
    }
    matched_.resize(static_cast<std::size_t>(view_.schema.columns));
    note_matches();
  }

  // For which columns something can be said that matches.
  void note_matches() {
    const auto note = [&](std::int32_t column, std::uint32_t ways) {
      for (std::size_t one = 0; one < matched_.size(); ++one) {
        if (column == pattern::kEvery || static_cast<std::size_t>(column) == one)
          matched_[one] |= static_cast<std::uint8_t>(ways);
      }
    };
    constexpr std::uint32_t kWays[] = {0, pattern::kContains, pattern::kBegins, pattern::kEnds};
    for (std::int32_t list = 0; list < pattern::kLists; ++list) {
      for (std::int32_t place = view_.pattern_bounds[list]; place < view_.pattern_bounds[list + 1]; ++place) {
        const Held& held = patterns_[static_cast<std::size_t>(place)];
        const bool everywhere = list == pattern::kWithin && held.column == pattern::kEvery;
        const auto ways = list == pattern::kCandidates ? static_cast<std::uint32_t>(held.last) : kWays[list];
        note(held.column, everywhere ? ways | pattern::kBegins : ways);
      }
    }
    for (const OfColumn& pair : of_columns_) note(pair.column, 15);
    for (const Held& held : held_spans_) note(held.column, pattern::kLike);
    const std::int32_t* first_run = view_.schema.first_run;
    for (std::int32_t column = 0; column < view_.schema.columns; ++column) {
      if (first_run[column] != first_run[column + 1]) note(column, 15 ^ pattern::kContains);
    }
  }

  // Earlier turns, whose entries lie behind the steps of this question.
  void read_turns(std::size_t turns, std::size_t entries) {
    turns_.resize(turns);
    std::int32_t step = view_.budget;
    std::size_t bytes = taken(turns_.size() * sizeof(Offered));
    for (Turn& turn : turns_) {
      turn.first_step = step;
      const std::int32_t flags = reader_.next("flags of a turn", 0, kTurnFlags);
      turn.usable = (flags & 1) != 0;
      turn.starred = (flags & 2) != 0;
      turn.grouped = (flags & 4) != 0;
      turn.aggregated = (flags & 8) != 0;
      turn.of_rows = (flags & 16) != 0;
      turn.nesting = reader_.next("nesting of a turn", 0, kMostBudget);
      turn.actions = reader_.next("actions of a turn", 0, kMostBudget);
      turn.spelled = reader_.next("actions of a turn that is spelled out", 0, kMostBudget);
      const std::size_t items = reader_.count("items of a turn", kMostEntries, 2);
      const std::size_t sources = reader_.count("sources of a turn", kMostEntries, 2);
      const std::size_t keys = reader_.count("keys of a turn", kMostEntries, 2);
      if (turn.usable && items == 0) reader_.fail("has a turn that selects nothing");
      turn.items = read_items(items);
      step += static_cast<std::int32_t>(items);
      turn.sources.begin = static_cast<std::int32_t>(turn_sources_.size());
      for (std::size_t source = 0; source < sources; ++source) {
        const std::int32_t table = reader_.next("table of a turn", -1, view_.schema.tables - 1);
        const std::size_t columns = reader_.count("items of a source", kMostEntries, 2);
        turn_sources_.push_back({table, read_items(columns)});
        step += 1 + static_cast<std::int32_t>(columns);
      }
      turn.sources.end = static_cast<std::int32_t>(turn_sources_.size());
      turn.keys.begin = static_cast<std::int32_t>(turn_keys_.size());
      for (std::size_t key = 0; key < keys; ++key) {
        const std::int32_t column = reader_.next("column of a key", -1, view_.schema.columns - 1);
        turn_keys_.push_back({column, reader_.next("entry of a key", 0, step - turn.first_step - 1)});
      }
      turn.keys.end = static_cast<std::int32_t>(turn_keys_.size());
    }
    if (step != view_.budget + static_cast<std::int32_t>(entries)) {
      reader_.fail("has " + std::to_string(entries) + " entries of turns; its turns have " + std::to_string(step - view_.budget));
    }
    view_.turns = static_cast<std::int32_t>(turns_.size());
    view_.turn_bytes =
        static_cast<std::int32_t>(bytes + turn_items_.size() * taken(sizeof(Item)) +
                                  turn_sources_.size() * taken(sizeof(Source)) + turn_keys_.size() * taken(sizeof(Key)));
  }

  Range read_items(std::size_t count) {
    const auto begin = static_cast<std::int32_t>(turn_items_.size());
    for (std::size_t item = 0; item < count; ++item) {
      const auto type =
          static_cast<TypeClass>(reader_.next("type class of an item", 0, static_cast<std::int32_t>(kTypeClasses) - 1));
      turn_items_.push_back({type, reader_.next("column of an item", -1, view_.schema.columns - 1)});
    }
    return {begin, static_cast<std::int32_t>(turn_items_.size())};
  }

  // Bytes that a thing takes of the memory of states.
  static constexpr std::size_t taken(std::size_t bytes) {
    return (bytes + BoundedArena::kAlignment - 1) / BoundedArena::kAlignment * BoundedArena::kAlignment;
  }

  std::int32_t next_column() { return reader_.next("a column of a literal that is held", 0, view_.schema.columns - 1); }

  // Which columns hold something that can be said.
  void note_operands() {
    if (grounds_.empty()) return;
    const auto note = [&](std::int32_t column) { grounds_[static_cast<std::size_t>(column)] |= ground::kOperand; };
    for (const OfColumn& pair : of_columns_) note(pair.column);
    for (const auto* list : {&held_, &held_spans_}) {
      for (const Held& held : *list) note(held.column);
    }
    const std::int32_t* first_run = view_.schema.first_run;
    for (std::int32_t column = 0; column < view_.schema.columns; ++column) {
      const bool small = (grounds_[static_cast<std::size_t>(column)] & (ground::kZero | ground::kOne | ground::kTwo)) != 0;
      if (small || first_run[column] != first_run[column + 1]) note(column);
    }
  }

  // No span may begin where a candidate that fits stands already.
  void bar_starts() {
    for (std::size_t number = 0; number < candidates_.size(); ++number) {
      for (std::size_t type = 0; type < kTypeClasses; ++type) {
        if (!candidates_[number].fits(static_cast<TypeClass>(type))) continue;
        for (std::int32_t at = barred_[number].begin; at < barred_[number].end; ++at) {
          const std::int32_t token = tokens_by_character_[static_cast<std::size_t>(at)];
          all_of(starts_, static_cast<TypeClass>(type)).remove(place(Kind::kStart, static_cast<std::size_t>(token)));
        }
      }
    }
  }

  // A flat id.
  std::size_t place(Kind kind, std::size_t index) const { return static_cast<std::size_t>(view_.offset(kind)) + index; }

  // The set of a type class, of [type classes, words].
  SetPart<Alone> all_of(std::vector<Word>& sets, TypeClass type) const {
    return {sets.data() + static_cast<std::size_t>(type) * words_, {}};
  }

  TableReader reader_;
  SpaceView& view_;
  std::size_t words_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<Word> whole_numbers_, dates_, texts_, word_ends_;
  std::vector<Word> fitting_, starts_;
  std::vector<OfColumn> of_columns_;
  std::vector<Range> barred_;
  std::vector<std::int32_t> tokens_by_character_;
  std::vector<std::uint8_t> grounds_;
  std::vector<Held> held_, held_spans_;
  std::vector<Turn> turns_;
  std::vector<Typed> turn_items_;
  std::vector<TurnSource> turn_sources_;
  std::vector<TurnKey> turn_keys_;
  std::vector<std::uint8_t> matched_;
  std::vector<Held> patterns_;
};

}  // namespace

ActionSpace::ActionSpace(std::shared_ptr<const SchemaItems> schema, const Table& table)
    : schema_(std::move(schema)), image_(Reading(table, *schema_, view_).image()) {}

SpaceView ActionSpace::view(const GrammarView& grammar, const SchemaView& schema, const std::byte* base) const {
  SpaceView view = image_.rebased(view_, base);
  view.grammar = grammar;
  view.schema = schema;
  return view;
}

}  // namespace fastsql::grammar
