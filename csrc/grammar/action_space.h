// The action space of one question over one schema: how actions are numbered, and which literals fit what.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "grammar/schema_items.h"

namespace fastsql::grammar {

// The type class of an expression, and the schema column that it passes on unchanged (-1: none).
struct Typed {
  TypeClass type = TypeClass::kOther;
  std::int32_t column = -1;
};

struct Action {
  Kind kind;
  std::int32_t index;  // within the kind
};

class ActionSpace {
 public:
  static constexpr std::int32_t kVersion = 1;

  // Reads what `question_table` of python/fastsql/grammar/tables.py writes; the layout is described there.
  // Throws ModelError where a size or a number is out of range.
  ActionSpace(std::shared_ptr<const SchemaItems> schema, const Table& table);

  const SchemaItems& schema() const { return *schema_; }
  const Grammar& grammar() const { return schema_->grammar(); }
  std::int32_t budget() const { return budget_; }  // actions of one query
  bool strict_grouping() const { return strict_grouping_; }

  // Number of flat ids, and of the words of a set of them.
  std::int32_t size() const { return offsets_[kKinds]; }
  std::size_t words() const { return words_for(static_cast<std::size_t>(size())); }
  std::int32_t offset(Kind kind) const { return offsets_[static_cast<std::size_t>(kind)]; }
  // First flat id behind a kind.
  std::int32_t end(Kind kind) const { return offsets_[static_cast<std::size_t>(kind) + 1]; }
  // Kind and index of a flat id, which must be one.
  Action locate(std::int32_t action) const;

  bool has_tokens() const { return end(Kind::kStart) > offset(Kind::kStart); }
  bool has_dates() const { return has_dates_; }
  bool offers_text() const { return offers_text_; }

  // Each adds flat ids to a set of words() words.
  void add_whole_numbers(Word* set) const;  // candidates that can stand behind LIMIT or count periods of time
  void add_dates(Word* set) const;
  void add_texts(Word* set) const;
  // Candidates and schema values that may be compared with an expression. Types are a relation: a number may meet a text
  // column. A dictionary's or schema's value meets its own column only.
  void add_literals(Typed left, Word* set) const;
  // Tokens at which free text for a comparison may begin; `partial` where a part of a value will do.
  void add_span_starts(Typed left, bool partial, Word* set) const;
  // Tokens at which a span from token `start` may end.
  void add_span_ends(std::int32_t start, Word* set) const;

 private:
  struct Candidate {
    std::uint8_t kind;              // number, date, text
    bool of_columns;                // meets its own columns only
    std::int32_t barred_character;  // at which no span may begin where the candidate fits, or -1
    Range barred;                   // places in tokens_by_character_ of the tokens that begin there
  };
  struct OfColumn {
    std::int32_t column, candidate;
    bool operator<(const OfColumn& other) const {
      return column != other.column ? column < other.column : candidate < other.candidate;
    }
  };

  void read_candidates(TableReader& reader, std::size_t columns);
  void read_tokens(TableReader& reader);
  void bar_starts();
  std::pair<const OfColumn*, const OfColumn*> candidates_of(std::int32_t column) const;
  void add_candidate(Word* set, std::size_t number) const;

  std::shared_ptr<const SchemaItems> schema_;
  std::int32_t offsets_[kKinds + 1] = {};
  std::int32_t budget_ = 0;
  bool strict_grouping_ = false, has_dates_ = false, offers_text_ = false;
  // Sets of flat ids.
  std::vector<Word> whole_numbers_, dates_, texts_, word_starts_, word_ends_;
  // By type class: literals that fit an expression of no column, and where spans may begin beside them.
  std::vector<Word> fitting_[kTypeClasses], starts_[kTypeClasses];
  std::vector<Candidate> candidates_;
  std::vector<OfColumn> of_columns_;  // sorted
  std::vector<std::int32_t> tokens_by_character_;
};

}  // namespace fastsql::grammar
