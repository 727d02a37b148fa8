// Which literals and tokens of a question fit what. Each function adds flat ids to a set of space.words() words.
#pragma once

#include "grammar/views.h"

namespace fastsql::grammar {

// The candidates that meet a column: [first, last).
struct Pairs {
  const OfColumn* first;
  const OfColumn* last;
};
FASTSQL_HOST_DEVICE Pairs candidates_of(const SpaceView& space, std::int32_t column) {
  const OfColumn* first = space.of_columns;
  const OfColumn* const end = first + space.pairs;
  if (column < 0) return {end, end};
  for (std::int32_t count = space.pairs; count > 0;) {
    const std::int32_t half = count / 2;
    if (first[half].column < column) {
      first += half + 1;
      count -= half + 1;
    } else {
      count = half;
    }
  }
  const OfColumn* last = first;
  while (last != end && last->column == column) ++last;
  return {first, last};
}

// Whether a candidate is one of those that meet a column.
FASTSQL_HOST_DEVICE bool names_column(const SpaceView& space, std::int32_t candidate, std::int32_t column) {
  const Pairs own = candidates_of(space, column);
  for (const OfColumn* pair = own.first; pair != own.last; ++pair) {
    if (pair->candidate == candidate) return true;
  }
  return false;
}

// Adds those candidates that are in a set.
template <class Writer>
FASTSQL_HOST_DEVICE void add_candidates(const SpaceView& space, const Word* from, SetPart<Writer>& set) {
  set.add_from(from, static_cast<std::size_t>(space.offset(Kind::kCandidate)),
               static_cast<std::size_t>(space.end(Kind::kCandidate)));
}

// Candidates and schema values that may be compared with an expression. Types are a relation: a number may meet a text
// column. A dictionary's or schema's value meets its own column only.
template <class Writer>
FASTSQL_HOST_DEVICE void add_literals(const SpaceView& space, Typed left, SetPart<Writer>& set) {
  const auto candidates = static_cast<std::size_t>(space.offset(Kind::kCandidate));
  const auto values = static_cast<std::size_t>(space.offset(Kind::kSchemaValue));
  const Kind last = left.type == TypeClass::kNumber ? Kind::kSchemaValue : Kind::kCandidate;  // constants are numbers
  set.add_from(space.fitting + static_cast<std::size_t>(left.type) * space.words(), candidates,
               static_cast<std::size_t>(space.end(last)));
  if (left.column < 0) return;
  const Pairs own = candidates_of(space, left.column);
  for (const OfColumn* pair = own.first; pair != own.last; ++pair) {
    set.add(candidates + static_cast<std::size_t>(pair->candidate));
  }
  const SchemaView& schema = space.schema;
  const std::int32_t behind = schema.first_run[left.column + 1];
  for (std::int32_t run = schema.first_run[left.column]; run < behind; ++run) {
    const Range range = schema.runs[run];
    set.add_range(values + static_cast<std::size_t>(range.begin), values + static_cast<std::size_t>(range.end));
  }
}

// Tokens at which free text for a comparison may begin; `partial` where a part of a value will do.
template <class Writer>
FASTSQL_HOST_DEVICE void add_span_starts(const SpaceView& space, Typed left, bool partial, SetPart<Writer>& set) {
  const Pairs own = candidates_of(space, left.column);
  // If the question names a value that the column is known to hold, whole values are not spelled out.
  if (own.first != own.last && !partial) return;
  const auto start = static_cast<std::size_t>(space.offset(Kind::kStart));
  set.add_from(space.starts + static_cast<std::size_t>(left.type) * space.words(), start,
               static_cast<std::size_t>(space.end(Kind::kStart)));
  for (const OfColumn* pair = own.first; pair != own.last; ++pair) {
    const Range barred = space.barred[pair->candidate];
    for (std::int32_t place = barred.begin; place < barred.end; ++place) {
      set.remove(start + static_cast<std::size_t>(space.tokens_by_character[place]));
    }
  }
}

// Tokens at which a span from token `start` may end.
template <class Writer>
FASTSQL_HOST_DEVICE void add_span_ends(const SpaceView& space, std::int32_t start, SetPart<Writer>& set) {
  if (start < 0) return;
  const std::int32_t longest = space.offset(Kind::kEnd) + start + space.grammar.bounds.span;
  const auto first = static_cast<std::size_t>(space.offset(Kind::kEnd) + start);
  const auto last = static_cast<std::size_t>(longest < space.end(Kind::kEnd) ? longest : space.end(Kind::kEnd));
  if (any_in_range(space.word_ends, first, last)) {
    set.add_from(space.word_ends, first, last);
  } else {
    set.add(last - 1);  // a word of more tokens than that ends where the limit is
  }
}

}  // namespace fastsql::grammar
