#include <algorithm>
#include <array>
#include <catch2/catch.hpp>
#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "linking/checked_bytes.h"
#include "linking/crc32.h"
#include "linking/name_table.h"
#include "linking/schema_links.h"
#include "linking/value_match.h"
#include "linking/value_table.h"
#include "says.h"

using namespace fastsql;
using namespace fastsql::linking;
using fastsql::test::Says;

namespace {

std::uint32_t checksum_of(const std::string& text) {
  return crc32(reinterpret_cast<const std::uint8_t*>(text.data()), text.size());
}

// A table of values that are their own keys, all in one bucket.
struct Packed {
  explicit Packed(const std::vector<std::string>& values) {
    std::vector<std::uint32_t> records, keys, words, lengths;
    std::string texts;
    for (const std::string& value : values) {
      const auto begin = static_cast<std::uint32_t>(texts.size());
      const std::string first = value.substr(0, value.find(' '));
      texts += value;
      records.insert(records.end(), {begin, begin, static_cast<std::uint32_t>(texts.size()), 0});
      keys.insert(keys.end(), {checksum_of(value), static_cast<std::uint32_t>(keys.size() / 2)});
      words.insert(words.end(), {checksum_of(first), begin, static_cast<std::uint32_t>(first.size()),
                                 static_cast<std::uint32_t>(lengths.size()), 1});
      std::uint32_t length = 1;
      for (const char letter : value) length += letter == ' ';
      lengths.push_back(length);
    }
    const auto count = static_cast<std::uint32_t>(values.size());
    add(records);
    add({0, count});
    add(keys);
    add({0, count});
    add(words);
    add(lengths);
    body.insert(body.end(), texts.begin(), texts.end());
    bounds[ValueTable::kSections] = body.size();
  }

  void add(const std::vector<std::uint32_t>& section) {
    for (const std::uint32_t number : section) {
      for (int shift = 0; shift < 32; shift += 8) body.push_back(static_cast<std::uint8_t>(number >> shift));
    }
    bounds[++sections] = body.size();
  }

  std::vector<std::uint32_t> checksums() const {
    std::vector<std::uint32_t> found;
    for (std::size_t begin = 0; begin < body.size(); begin += CheckedBytes::kBlock) {
      found.push_back(crc32(body.data() + begin, std::min(CheckedBytes::kBlock, body.size() - begin)));
    }
    return found;
  }

  ValueTable table(std::vector<std::uint32_t> expected = {}) const {
    return ValueTable(body.data(), body.size(), bounds, std::move(expected));
  }

  std::vector<std::uint8_t> body;
  std::array<std::uint64_t, ValueTable::kSections + 1> bounds{};
  std::size_t sections = 0;
};

std::string told(const std::vector<ValueHit>& hits) {
  std::string text;
  for (const ValueHit& hit : hits) {
    text.append("[").append(std::to_string(hit.begin)).append(",").append(std::to_string(hit.end)).append(")");
    for (const std::uint32_t number : hit.values) text.append(" ").append(std::to_string(number));
    text += ";";
  }
  return text;
}

const std::vector<std::string> kDrugs = {"aspirin", "heparin sodium", "swab", "blood cell"};

}  // namespace

TEST_CASE("CRC-32 is that of zlib, whole or in parts") {
  CHECK(checksum_of("123456789") == 0xCBF43926U);
  CHECK(checksum_of("") == 0U);
  const std::string text = "heparin sodium 25,000 units";
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    CHECK(crc32(bytes + cut, text.size() - cut, crc32(bytes, cut)) == checksum_of(text));
  }
}

TEST_CASE("runs of words are looked up, the last word also without a plural s") {
  const Packed packed(kDrugs);
  const ValueTable table = packed.table(packed.checksums());
  CHECK(told(find_values(table, "give heparin sodium and aspirin")) == "[1,3) 1;[4,5) 0;");
  CHECK(told(find_values(table, "swabs of blood cells")) == "[0,1) 2;[2,4) 3;");
  CHECK(told(find_values(table, "heparin")).empty());
  CHECK(told(find_values(table, "")).empty());
}

TEST_CASE("a changed byte is noticed in the block that is read") {
  Packed packed(kDrugs);
  const auto checksums = packed.checksums();
  packed.body.back() ^= 1;
  CHECK_THROWS_MATCHES(find_values(packed.table(checksums), "aspirin"), ModelError, Says("damaged"));
}

TEST_CASE("no number in a table leads outside it") {
  for (std::size_t place = 0; place < Packed(kDrugs).bounds[ValueTable::kTexts]; place += 4) {
    for (const std::uint32_t number : {1U << 8, std::numeric_limits<std::uint32_t>::max()}) {
      Packed packed(kDrugs);
      for (std::size_t byte = 0; byte < 4; ++byte) {
        packed.body[place + byte] = static_cast<std::uint8_t>(number >> (8 * byte));
      }
      // Where the number is used, it is refused; where it only says less, fewer values are found.
      std::size_t found = 0;
      std::string said = "damaged";
      try {
        found = find_values(packed.table(), "heparin sodium swab blood cell or aspirin").size();
      } catch (const ModelError& error) {
        said = error.what();
      }
      CHECK(found <= kDrugs.size());
      CHECK(said.find("damaged") != std::string::npos);
    }
  }
}

TEST_CASE("sections that do not fit are refused") {
  Packed packed(kDrugs);
  packed.bounds[2] += 1;
  CHECK_THROWS_MATCHES(packed.table(), ModelError, Says("out of line"));
  packed.bounds[2] += 3;
  CHECK_THROWS_MATCHES(packed.table(), ModelError, Says("damaged"));
  packed = Packed(kDrugs);
  packed.bounds.back() -= 1;
  CHECK_THROWS_MATCHES(packed.table(), ModelError, Says("do not fill it"));
  CHECK_THROWS_MATCHES(Packed(kDrugs).table({1, 2}), ModelError, Says("one checksum for each block"));
}

namespace {

// One table, "heart rate" with one column, "rate"; words: 0 heart, 1 rate.
struct Ward {
  std::vector<std::int32_t> gram_starts{0, 2, 3, 4}, grams{0, 1, 0, 1};
  std::vector<std::int32_t> part_starts{0, 1, 2, 4}, parts{0, 0, 0, 1};
  std::vector<std::int32_t> whole_starts{0, 1, 1, 2}, wholes{0, 1};
  std::vector<std::uint8_t> within{90, 91, 92, 93}, fits{1};
  std::vector<std::int32_t> table_of{0};

  SchemaLinks links() const {
    NameTable names({view(gram_starts), view(grams)}, {view(part_starts), view(parts)}, {view(whole_starts), view(wholes)}, 2);
    return SchemaLinks(std::move(names), RelationNumbers{4, 10, 13, 20, 21, 22, 30, 33, 40, 44, 50, 52, 60, 63},
                       {within.data(), {2, 2}}, view(table_of), {fits.data(), {1, 1}});
  }

  static Integers view(const std::vector<std::int32_t>& numbers) { return {numbers.data(), {numbers.size()}}; }
};

}  // namespace

TEST_CASE("relations are those of names, values and distance") {
  const std::vector<std::int32_t> offsets{0, 5, 6, 10, 11, 13};  // heart rate 80
  const QuestionParts question{{0, 1, -1}, {0, 5, 6, 10, 11, 13}, {}, {offsets.data(), {3, 2}}, {11, 13}, {0}, {{0}}};
  std::vector<std::uint8_t> relations(36);
  Ward().links().relations(question, {relations.data(), {6, 6}});
  const std::vector<std::uint8_t> expected{
      4,  5,  6,  10, 32, 40,  // heart: part of a whole table name, not of the column's
      3,  4,  5,  11, 32, 42,  // rate: beside the value, the column's whole name
      2,  3,  4,  12, 30, 43,  // 80: the value, which the column holds
      13, 14, 15, 20, 51, 62,  // the value, of the table and held by the column
      35, 35, 33, 53, 90, 91,  // the table
      44, 46, 47, 65, 92, 93,  // the column
  };
  CHECK(relations == expected);
}

TEST_CASE("parts of a question that do not fit together are refused, and nothing is written") {
  const std::vector<std::int32_t> offsets{0, 5};
  const QuestionParts good{{0}, {0, 5}, {}, {offsets.data(), {1, 2}}, {}, {}, {}};
  const SchemaLinks links = Ward().links();
  std::vector<std::uint8_t> relations(9, 7);
  QuestionParts bad = good;
  bad.word_spans.pop_back();
  CHECK_THROWS_MATCHES(links.relations(bad, {relations.data(), {3, 3}}), ModelError, Says("one span for each word"));
  bad = good;
  bad.shortened = {0, 2, 0};
  CHECK_THROWS_MATCHES(links.relations(bad, {relations.data(), {3, 3}}), ModelError, Says("of no words"));
  CHECK_THROWS_MATCHES(links.relations(good, {relations.data(), {4, 2}}), ModelError, Says("it needs 3 rows"));
  CHECK(relations == std::vector<std::uint8_t>(9, 7));
}

TEST_CASE("names that do not fit together are refused") {
  Ward ward;
  ward.parts.back() = 2;
  CHECK_THROWS_MATCHES(ward.links(), ModelError, Says("parts has an entry that is out of range"));
  ward = Ward();
  ward.gram_starts[1] = 9;
  CHECK_THROWS_MATCHES(ward.links(), ModelError, Says("grams has a list that ends before it begins"));
  ward = Ward();
  ward.table_of[0] = 1;
  CHECK_THROWS_MATCHES(ward.links(), ModelError, Says("in a table that is not there"));
}
