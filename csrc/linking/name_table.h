// The n-grams of a schema's names, labels and synonyms, and the tables and columns that each is the whole or a part of.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "core/tensor.h"

namespace fastsql::linking {

using Integers = Tensor<const std::int32_t, 1>;

// Lists of integers, one behind the other: list i is items[starts[i]] to items[starts[i + 1]], exclusive.
struct Lists {
  Integers starts;  // [lists + 1]
  Integers items;
};

// A trie over words, which are numbers. Immutable once built.
class NameTable {
 public:
  using Node = std::uint32_t;
  static constexpr Node kRoot = 0, kNone = UINT32_MAX;

  // Gram i is the words `grams`[i]; it is part of a name of the items `parts`[i] and a whole name of the items `wholes`[i], all
  // below `items`. Throws ModelError where the lists do not fit together.
  NameTable(const Lists& grams, const Lists& parts, const Lists& wholes, std::size_t items);

  // The gram of a node with one more word; kNone where no gram begins so.
  Node next(Node node, std::int32_t word) const;

  const std::vector<std::uint32_t>& parts(Node node) const { return entries_[node].parts; }
  const std::vector<std::uint32_t>& wholes(Node node) const { return entries_[node].wholes; }

 private:
  struct Entry {
    std::vector<std::uint32_t> parts, wholes;
  };
  std::unordered_map<std::uint64_t, Node> next_;  // by node and word
  std::vector<Entry> entries_;
};

}  // namespace fastsql::linking
