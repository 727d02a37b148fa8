#include "linking/name_table.h"

#include <string>

#include "core/error.h"

namespace fastsql::linking {
namespace {

std::uint64_t step(NameTable::Node node, std::int32_t word) {
  return std::uint64_t{node} << 32 | static_cast<std::uint32_t>(word);
}

void expect_lists(const char* name, const Lists& lists, std::size_t count, std::int32_t below) {
  const auto fail = [name](const char* why) { throw ModelError(std::string("names: ") + name + " " + why); };
  if (lists.starts.shape[0] != count + 1) fail("has another number of lists");
  if (lists.starts.data[0] != 0 || static_cast<std::size_t>(lists.starts.data[count]) != lists.items.shape[0]) {
    fail("does not use all its entries");
  }
  for (std::size_t list = 0; list < count; ++list) {
    if (lists.starts.data[list + 1] < lists.starts.data[list]) fail("has a list that ends before it begins");
  }
  for (std::size_t place = 0; place < lists.items.shape[0]; ++place) {
    if (lists.items.data[place] < 0 || lists.items.data[place] >= below) fail("has an entry that is out of range");
  }
}

std::vector<std::uint32_t> list(const Lists& lists, std::size_t index) {
  return {lists.items.data + lists.starts.data[index], lists.items.data + lists.starts.data[index + 1]};
}

}  // namespace

NameTable::NameTable(const Lists& grams, const Lists& parts, const Lists& wholes, std::size_t items) : entries_(1) {
  if (grams.starts.shape[0] == 0) throw ModelError("names: grams has no end");
  if (items > INT32_MAX) throw ModelError("names: there are too many items");
  const std::size_t count = grams.starts.shape[0] - 1;
  expect_lists("grams", grams, count, INT32_MAX);
  expect_lists("parts", parts, count, static_cast<std::int32_t>(items));
  expect_lists("wholes", wholes, count, static_cast<std::int32_t>(items));
  for (std::size_t gram = 0; gram < count; ++gram) {
    Node node = kRoot;
    for (std::int32_t place = grams.starts.data[gram]; place < grams.starts.data[gram + 1]; ++place) {
      const auto [found, is_new] = next_.try_emplace(step(node, grams.items.data[place]), static_cast<Node>(entries_.size()));
      if (is_new) entries_.emplace_back();
      node = found->second;
    }
    entries_[node] = {list(parts, gram), list(wholes, gram)};
  }
}

NameTable::Node NameTable::next(Node node, std::int32_t word) const {
  const auto found = next_.find(step(node, word));
  return found == next_.end() ? kNone : found->second;
}

}  // namespace fastsql::linking
