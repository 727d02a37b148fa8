// CHECK_THROWS_MATCHES(expression, ModelError, Says("part of its message")).
#pragma once

#include <catch2/catch.hpp>
#include <exception>
#include <string>

namespace fastsql::test {

class Says : public Catch::MatcherBase<std::exception> {
 public:
  explicit Says(std::string part) : part_(std::move(part)) {}
  bool match(const std::exception& error) const override { return std::string(error.what()).find(part_) != std::string::npos; }
  std::string describe() const override { return "says \"" + part_ + "\""; }

 private:
  std::string part_;
};

}  // namespace fastsql::test
