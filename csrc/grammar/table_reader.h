// Reads a table of 32-bit integers from front to back. Nothing beyond its end is ever read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/tensor.h"

namespace fastsql::grammar {

using Table = Tensor<const std::int32_t, 1>;

class TableReader {
 public:
  // `what` names the table in messages, such as "schema table". Throws ModelError unless it begins with `version`.
  TableReader(const char* what, const Table& table, std::int32_t version) : what_(what), table_(table) {
    const std::int32_t found = next("the version");
    if (found != version) {
      fail("is of version " + std::to_string(found) + "; this build reads version " + std::to_string(version));
    }
  }

  std::int32_t next(const char* name) {
    if (position_ >= table_.shape[0]) fail("ends before " + std::string(name));
    return table_.data[position_++];
  }

  // The next integer, which must lie in [least, most].
  std::int32_t next(const char* name, std::int32_t least, std::int32_t most) {
    const std::int32_t value = next(name);
    if (value < least || value > most) {
      fail(std::string(name) + " is " + std::to_string(value) + " at " + std::to_string(position_ - 1) + "; it must be from " +
           std::to_string(least) + " to " + std::to_string(most));
    }
    return value;
  }

  // A number of records that follow, each at least `size` integers long: so no table makes the core allocate much more
  // than the table itself takes.
  std::size_t count(const char* name, std::int32_t most, std::size_t size) {
    const auto records = static_cast<std::size_t>(next(name, 0, most));
    if (records * size > table_.shape[0]) fail("has no room for " + std::to_string(records) + " " + name);
    return records;
  }

  // Throws ModelError unless everything has been read.
  void end() const {
    if (position_ != table_.shape[0]) {
      fail("has " + std::to_string(table_.shape[0]) + " entries; its sizes ask for " + std::to_string(position_));
    }
  }

  [[noreturn]] void fail(const std::string& why) const { throw ModelError(std::string(what_) + " " + why); }

 private:
  const char* what_;
  Table table_;
  std::size_t position_ = 0;
};

}  // namespace fastsql::grammar
