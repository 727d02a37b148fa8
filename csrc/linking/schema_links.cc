#include "linking/schema_links.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "core/error.h"

namespace fastsql::linking {
namespace {

constexpr std::size_t kLongestName = 6;
constexpr std::uint8_t kPart = 1, kWhole = 2, kHeld = 3;  // of a token and an item
constexpr std::uint8_t kFits = 1, kHolds = 2;             // of a candidate and a column
constexpr std::uint8_t kBeside = 1, kInside = 2;          // of a token and a candidate

using Bytes = std::vector<std::uint8_t>;

[[noreturn]] void fail(const std::string& why) { throw ModelError("relations: " + why); }

std::uint8_t plus(std::uint8_t number, std::uint8_t degree) { return static_cast<std::uint8_t>(number + degree); }

void raise_to(std::uint8_t& degree, std::uint8_t at_least) { degree = std::max(degree, at_least); }

// uint8[V, Q]: where each token stands to each candidate.
Bytes place_tokens(const QuestionParts& question) {
  const std::size_t tokens = question.offsets.shape[0], candidates = question.kinds.size();
  Bytes place(candidates * tokens, 0);
  for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
    std::uint8_t* row = place.data() + candidate * tokens;
    const std::int32_t begin = question.spans[2 * candidate], end = question.spans[2 * candidate + 1];
    for (std::size_t token = 0; token < tokens; ++token) {
      const std::int32_t* offsets = question.offsets.data + 2 * token;
      if (offsets[0] >= end || offsets[1] <= begin) continue;
      row[token] = kInside;
      if (token > 0) raise_to(row[token - 1], kBeside);
      if (token + 1 < tokens) raise_to(row[token + 1], kBeside);
    }
  }
  return place;
}

bool share_a_token(const std::uint8_t* one, const std::uint8_t* other, std::size_t tokens) {
  for (std::size_t token = 0; token < tokens; ++token) {
    if (one[token] == kInside && other[token] == kInside) return true;
  }
  return false;
}

}  // namespace

SchemaLinks::SchemaLinks(NameTable names, const RelationNumbers& numbers, const Tensor<const std::uint8_t, 2>& within,
                         const Integers& table_of, const Tensor<const std::uint8_t, 2>& fits)
    : names_(std::move(names)), numbers_(numbers), items_(within.shape[0]), kinds_(fits.shape[0]) {
  const std::size_t columns = table_of.shape[0];
  if (within.shape[1] != items_ || items_ < columns) fail("the schema's block has shape " + within.shape_text());
  if (items_ > (1U << 16)) fail("a schema of " + std::to_string(items_) + " tables and columns is too large");
  if (fits.shape[1] != columns) fail("the types have shape " + fits.shape_text());
  schema_ = {.tables = items_ - columns, .columns = columns};
  for (std::size_t column = 0; column < columns; ++column) {
    if (table_of.data[column] < 0 || static_cast<std::size_t>(table_of.data[column]) >= schema_.tables) {
      fail("column " + std::to_string(column) + " is in a table that is not there");
    }
  }
  within_.assign(within.data, within.data + items_ * items_);
  table_of_.assign(table_of.data, table_of.data + columns);
  fits_.assign(fits.data, fits.data + kinds_ * columns);
}

void SchemaLinks::validate(const QuestionParts& question, const Tensor<std::uint8_t, 2>& relations) const {
  const std::size_t words = question.words.size(), candidates = question.kinds.size();
  const std::size_t size = nodes(question.offsets.shape[0], candidates).size();
  if (question.offsets.shape[1] != 2) fail("offsets have shape " + question.offsets.shape_text());
  if (question.word_spans.size() != 2 * words) fail("there is not one span for each word");
  if (question.spans.size() != 2 * candidates || question.held.size() != candidates) {
    fail("there is not one span and one list of columns for each candidate");
  }
  if (question.shortened.size() % 3 != 0) fail("an abbreviation is no triple");
  for (std::size_t place = 0; place < question.shortened.size(); place += 3) {
    const std::int32_t begin = question.shortened[place], end = question.shortened[place + 1];
    if (begin < 0 || begin >= end || static_cast<std::size_t>(end) > words) fail("an abbreviation is of no words");
  }
  for (const std::int32_t kind : question.kinds) {
    if (kind < -1 || kind >= static_cast<std::int32_t>(kinds_)) fail("kind " + std::to_string(kind) + " is not known");
  }
  for (const auto& held : question.held) {
    for (const std::int32_t column : held) {
      if (column < 0 || static_cast<std::size_t>(column) >= schema_.columns) {
        fail("column " + std::to_string(column) + " is not there");
      }
    }
  }
  if (relations.shape[0] != size || relations.shape[1] != size) {
    fail("the result has shape " + relations.shape_text() + "; it needs " + std::to_string(size) + " rows");
  }
}

std::vector<std::uint8_t> SchemaLinks::match_names(const QuestionParts& question) const {
  const std::size_t tokens = question.offsets.shape[0], words = question.words.size();
  const std::int32_t* offsets = question.offsets.data;
  Bytes matches(tokens * items_, 0);
  // First and last token (exclusive) of each word: those that end behind its start, and begin before its end.
  std::vector<std::size_t> first(words), last(words);
  std::vector<std::int32_t> starts(tokens), ends(tokens);
  for (std::size_t token = 0; token < tokens; ++token) {
    starts[token] = offsets[2 * token];
    ends[token] = offsets[2 * token + 1];
  }
  for (std::size_t word = 0; word < words; ++word) {
    const auto* span = question.word_spans.data() + 2 * word;
    first[word] = static_cast<std::size_t>(std::upper_bound(ends.begin(), ends.end(), span[0]) - ends.begin());
    last[word] = static_cast<std::size_t>(std::lower_bound(starts.begin(), starts.end(), span[1]) - starts.begin());
  }
  const auto mark = [&](std::size_t begin, std::size_t end, const std::vector<std::uint32_t>& items, std::uint8_t degree) {
    for (std::size_t token = first[begin]; token < last[end - 1]; ++token) {
      for (const std::uint32_t item : items) raise_to(matches[token * items_ + item], degree);
    }
  };
  for (std::size_t begin = 0; begin < words; ++begin) {
    NameTable::Node node = NameTable::kRoot;
    for (std::size_t end = begin; end < std::min(begin + kLongestName, words); ++end) {
      node = names_.next(node, question.words[end]);
      if (node == NameTable::kNone) break;
      mark(begin, end + 1, names_.parts(node), kPart);
      mark(begin, end + 1, names_.wholes(node), kWhole);
    }
  }
  for (std::size_t place = 0; place < question.shortened.size(); place += 3) {
    const NameTable::Node node = names_.next(NameTable::kRoot, question.shortened[place + 2]);
    if (node == NameTable::kNone) continue;
    mark(static_cast<std::size_t>(question.shortened[place]), static_cast<std::size_t>(question.shortened[place + 1]),
         names_.parts(node), kPart);
  }
  return matches;
}

void SchemaLinks::relations(const QuestionParts& question, const Tensor<std::uint8_t, 2>& relations) const {
  validate(question, relations);
  const NodeLayout nodes = this->nodes(question.offsets.shape[0], question.kinds.size());
  const std::size_t tokens = nodes.tokens, candidates = nodes.candidates, size = nodes.size();
  const std::size_t first_candidate = nodes.first(NodeKind::kCandidate), first_item = nodes.question();
  const std::size_t first_table = nodes.first(NodeKind::kTable), first_column = nodes.first(NodeKind::kColumn);
  const RelationNumbers& of = numbers_;

  const Bytes place = place_tokens(question);
  Bytes matches = match_names(question);
  Bytes links(candidates * nodes.columns, 0),
      owns(candidates * nodes.tables, 0);  // degrees of candidates and columns, and tables
  for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
    std::uint8_t* link = links.data() + candidate * nodes.columns;
    if (question.kinds[candidate] >= 0) {
      const std::uint8_t* fits = fits_.data() + static_cast<std::size_t>(question.kinds[candidate]) * nodes.columns;
      for (std::size_t column = 0; column < nodes.columns; ++column) link[column] = fits[column] ? kFits : 0;
    }
    for (const std::int32_t held : question.held[candidate]) {
      const auto column = static_cast<std::size_t>(held);
      link[column] = kHolds;
      owns[candidate * nodes.tables + static_cast<std::size_t>(table_of_[column])] = 1;
      // A value that the column holds outranks a word of its name.
      for (std::size_t token = 0; token < tokens; ++token) {
        if (place[candidate * tokens + token] == kInside)
          matches[token * items_ + schema_.first(NodeKind::kColumn) + column] = kHeld;
      }
    }
  }

  for (std::size_t token = 0; token < tokens; ++token) {
    std::uint8_t* row = relations.data + token * size;
    for (std::size_t other = 0; other < tokens; ++other) {
      const auto distance = static_cast<std::ptrdiff_t>(other) - static_cast<std::ptrdiff_t>(token);
      row[other] = static_cast<std::uint8_t>(of.token_self + std::clamp<std::ptrdiff_t>(distance, -3, 3));
    }
    for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
      row[first_candidate + candidate] = plus(of.token_candidate, place[candidate * tokens + token]);
    }
    const std::uint8_t* match = matches.data() + token * items_;
    const std::uint8_t* match_columns = match + schema_.first(NodeKind::kColumn);
    for (std::size_t table = 0; table < nodes.tables; ++table) row[first_table + table] = plus(of.token_table, match[table]);
    for (std::size_t column = 0; column < nodes.columns; ++column) {
      row[first_column + column] = plus(of.token_column, match_columns[column]);
    }
  }
  for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
    std::uint8_t* row = relations.data + (first_candidate + candidate) * size;
    const std::uint8_t* near = place.data() + candidate * tokens;
    for (std::size_t token = 0; token < tokens; ++token) row[token] = plus(of.candidate_token, near[token]);
    for (std::size_t other = 0; other < candidates; ++other) {
      row[first_candidate + other] =
          share_a_token(near, place.data() + other * tokens, tokens) ? of.candidate_overlap : of.candidate_candidate;
    }
    row[first_candidate + candidate] = of.candidate_self;
    for (std::size_t table = 0; table < nodes.tables; ++table) {
      row[first_table + table] = plus(of.candidate_table, owns[candidate * nodes.tables + table]);
    }
    for (std::size_t column = 0; column < nodes.columns; ++column) {
      row[first_column + column] = plus(of.candidate_column, links[candidate * nodes.columns + column]);
    }
  }
  for (std::size_t item = 0; item < items_; ++item) {
    std::uint8_t* row = relations.data + (first_item + item) * size;
    const bool is_table = first_item + item < first_column;
    const std::uint8_t token_number = is_table ? of.table_token : of.column_token;
    for (std::size_t token = 0; token < tokens; ++token) {
      row[token] = plus(token_number, matches[token * items_ + item]);
    }
    for (std::size_t candidate = 0; candidate < candidates; ++candidate) {
      row[first_candidate + candidate] =
          is_table ? plus(of.table_candidate, owns[candidate * nodes.tables + first_item + item - first_table])
                   : plus(of.column_candidate, links[candidate * nodes.columns + first_item + item - first_column]);
    }
    std::memcpy(row + first_item, within_.data() + item * items_, items_);
  }
}

}  // namespace fastsql::linking
