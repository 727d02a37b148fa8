// The relation graph of a question over a schema, as `SchemaLinks` in python/fastsql/linking/relations.py builds it: the types
// are those of RAT-SQL (Wang et al., ACL 2020, section 4) and LGESQL (Cao et al., ACL 2021, appendix A). Nodes are those of
// linking/nodes.h: Q tokens, V candidates, T tables, C columns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "linking/name_table.h"
#include "linking/nodes.h"

namespace fastsql::linking {

// The numbers of relations that the model was trained with. Where a link has degrees, this is that of the weakest; the
// stronger ones follow: part of a name, whole name, value held; fitting type, value held; beside, inside.
struct RelationNumbers {
  std::uint8_t token_self;  // of tokens 3, 2, 1 places before it, the numbers before; behind it, those that follow
  std::uint8_t token_candidate, candidate_token;
  std::uint8_t candidate_self, candidate_candidate, candidate_overlap;
  std::uint8_t token_table, table_token, token_column, column_token;
  std::uint8_t candidate_table, table_candidate, candidate_column, column_candidate;
};

// What Python cut a question into. All spans are half open.
struct QuestionParts {
  std::vector<std::int32_t> words;              // [W], numbers in the NameTable, -1 for words of no name
  std::vector<std::int32_t> word_spans;         // [W, 2], characters
  std::vector<std::int32_t> shortened;          // [A, 3], words [begin, end) that stand for word `number` of a name, in part
  Tensor<const std::int32_t, 2> offsets;        // [Q, 2], characters of each token, ascending
  std::vector<std::int32_t> spans;              // [V, 2], characters of each candidate
  std::vector<std::int32_t> kinds;              // [V], rows of `fits`, -1 for one that fits no type
  std::vector<std::vector<std::int32_t>> held;  // [V], columns that hold the candidate's value
};

class SchemaLinks {
 public:
  // `within` [T + C, T + C] are the relations of the schema's own nodes, `table_of` [C] the table of each column, `fits` [kinds,
  // C] whether a column's type fits a kind of candidate. All are copied. Throws ModelError where shapes disagree, a table is
  // not there, or T + C is more than 65,536.
  SchemaLinks(NameTable names, const RelationNumbers& numbers, const Tensor<const std::uint8_t, 2>& within,
              const Integers& table_of, const Tensor<const std::uint8_t, 2>& fits);

  // Of a question with so many tokens and candidates.
  NodeLayout nodes(std::size_t tokens, std::size_t candidates) const { return schema_.with_question(tokens, candidates); }

  // Writes relations [N, N]. Thread-safe. Throws ModelError where the parts do not fit together or name columns or words that
  // are not there; `relations` is then untouched.
  void relations(const QuestionParts& question, const Tensor<std::uint8_t, 2>& relations) const;

 private:
  void validate(const QuestionParts& question, const Tensor<std::uint8_t, 2>& relations) const;
  // uint8[Q, T + C]: 2 where a token is in a whole name of the item, 1 in a part of one, else 0.
  std::vector<std::uint8_t> match_names(const QuestionParts& question) const;

  NameTable names_;
  RelationNumbers numbers_;
  NodeLayout schema_;  // its nodes alone
  std::size_t items_ = 0, kinds_ = 0;
  std::vector<std::uint8_t> within_;    // [items, items]
  std::vector<std::int32_t> table_of_;  // [columns]
  std::vector<std::uint8_t> fits_;      // [kinds, columns]
};

}  // namespace fastsql::linking
