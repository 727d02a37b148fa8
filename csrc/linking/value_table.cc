#include "linking/value_table.h"

#include <cstring>
#include <utility>

#include "linking/crc32.h"

namespace fastsql::linking {
namespace {

// Integers in a row of each section.
constexpr std::size_t kRecord = 4, kKeyRow = 2, kWordRow = 5;

bool is_power_of_two(std::uint64_t number) { return number != 0 && (number & (number - 1)) == 0; }

}  // namespace

ValueTable::ValueTable(const std::uint8_t* body, std::size_t size, const std::array<std::uint64_t, kSections + 1>& bounds,
                       std::vector<std::uint32_t> checksums)
    : bytes_(body, size, std::move(checksums)), bounds_(bounds) {
  if (bounds.front() != 0 || bounds.back() != size) damaged("its sections do not fill it");
  for (std::size_t section = 0; section < kSections; ++section) {
    if (bounds[section + 1] < bounds[section] || bounds[section] % 4 != 0) {
      damaged("its sections overlap or are out of line");
    }
  }
  if (count(kRecords) % kRecord != 0 || count(kKeyRows) % kKeyRow != 0 || count(kWordRows) % kWordRow != 0) {
    damaged("a section ends within a row");
  }
  for (const Section section : {kKeyBuckets, kWordBuckets}) {
    if (count(section) < 2 || !is_power_of_two(count(section) - 1)) damaged("a section is no table of buckets");
  }
}

void ValueTable::find(std::string_view key, std::uint32_t checksum, std::vector<std::uint32_t>& numbers) const {
  const Rows rows = bucket(kKeyBuckets, kKeyRows, kKeyRow, checksum);
  for (std::uint64_t row = rows.first; row < rows.last; row += kKeyRow) {
    if (integer(kKeyRows, row) != checksum) continue;
    const std::uint32_t number = integer(kKeyRows, row + 1);
    const std::uint64_t record = record_of(number);
    if (text_is(integer(kRecords, record + 1), integer(kRecords, record + 2), key)) numbers.push_back(number);
  }
}

std::string_view ValueTable::key_of(std::uint32_t number) const {
  const std::uint64_t record = record_of(number);
  return text(integer(kRecords, record + 1), integer(kRecords, record + 2));
}

std::string_view ValueTable::text_of(std::uint32_t number) const {
  const std::uint64_t record = record_of(number);
  const std::uint64_t begin = integer(kRecords, record), key = integer(kRecords, record + 1);
  return text(begin, key == begin ? integer(kRecords, record + 2) : key);
}

std::uint32_t ValueTable::holders_of(std::uint32_t number) const { return integer(kRecords, record_of(number) + 3); }

std::uint64_t ValueTable::record_of(std::uint32_t number) const {
  const std::uint64_t record = std::uint64_t{number} * kRecord;
  if (record >= count(kRecords)) damaged("it refers to a value that it does not have");
  expect(kRecords, record * 4, (record + kRecord) * 4);
  return record;
}

void ValueTable::lengths_of(std::string_view word, std::vector<std::uint32_t>& lengths) const {
  lengths.clear();
  const std::uint32_t checksum = crc32(reinterpret_cast<const std::uint8_t*>(word.data()), word.size());
  const Rows rows = bucket(kWordBuckets, kWordRows, kWordRow, checksum);
  for (std::uint64_t row = rows.first; row < rows.last; row += kWordRow) {
    const std::uint64_t begin = integer(kWordRows, row + 1);
    if (integer(kWordRows, row) != checksum || !text_is(begin, begin + integer(kWordRows, row + 2), word)) continue;
    const std::uint64_t first = integer(kWordRows, row + 3), last = first + integer(kWordRows, row + 4);
    if (last > count(kLengths)) damaged("it refers to lengths that it does not have");
    expect(kLengths, first * 4, last * 4);
    for (std::uint64_t place = first; place < last; ++place) lengths.push_back(integer(kLengths, place));
    return;
  }
}

// Where the rows of a checksum's bucket begin and end, in integers.
ValueTable::Rows ValueTable::bucket(Section buckets, Section rows, std::size_t width, std::uint32_t checksum) const {
  const std::uint64_t place = checksum & (count(buckets) - 2);
  expect(buckets, place * 4, (place + 2) * 4);
  const Rows found{std::uint64_t{integer(buckets, place)} * width, std::uint64_t{integer(buckets, place + 1)} * width};
  if (found.first > found.last || found.last > count(rows)) damaged("it refers to rows that it does not have");
  expect(rows, found.first * 4, found.last * 4);
  return found;
}

std::string_view ValueTable::text(std::uint64_t begin, std::uint64_t end) const {
  if (begin > end || end > bounds_[kSections] - bounds_[kTexts]) damaged("it refers to text that it does not have");
  expect(kTexts, begin, end);
  return {reinterpret_cast<const char*>(bytes_.at(bounds_[kTexts] + begin)), end - begin};
}

bool ValueTable::text_is(std::uint64_t begin, std::uint64_t end, std::string_view text) const {
  if (begin > end || end > bounds_[kSections] - bounds_[kTexts]) damaged("it refers to text that it does not have");
  if (end - begin != text.size()) return false;
  expect(kTexts, begin, end);
  return text.empty() || std::memcmp(bytes_.at(bounds_[kTexts] + begin), text.data(), text.size()) == 0;
}

std::uint32_t ValueTable::integer(Section section, std::uint64_t place) const {
  return bytes_.integer(bounds_[section] + place * 4);
}

void ValueTable::expect(Section section, std::uint64_t begin, std::uint64_t end) const {
  if (begin != end) bytes_.expect(bounds_[section] + begin, bounds_[section] + end);
}

}  // namespace fastsql::linking
