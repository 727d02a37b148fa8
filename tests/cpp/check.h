// The whole test framework: TEST_CASE registers a function under a group, CHECK records a failure and goes on.
#pragma once

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace fastsql::test {

struct Case {
  std::string group, name;
  std::function<void()> body;
};

inline std::vector<Case>& cases() {
  static std::vector<Case> all;
  return all;
}

inline int& failures() {
  static int count = 0;
  return count;
}

struct Register {
  Register(const char* group, const char* name, std::function<void()> body) {
    cases().push_back({group, name, std::move(body)});
  }
};

inline void report(const char* file, int line, const std::string& what) {
  ++failures();
  std::cerr << file << ":" << line << ": " << what << "\n";
}

// The message of the exception of type E that `body` throws, or "" with a failure reported.
template <typename E>
std::string message_of(const char* file, int line, const std::function<void()>& body) {
  try {
    body();
  } catch (const E& error) {
    return error.what();
  }
  report(file, line, "no exception was thrown");
  return "";
}

}  // namespace fastsql::test

#define FASTSQL_JOIN_(a, b) a##b
#define FASTSQL_JOIN(a, b) FASTSQL_JOIN_(a, b)
#define TEST_CASE(group, name)                                                                            \
  static void FASTSQL_JOIN(test_body_, __LINE__)();                                                       \
  static const ::fastsql::test::Register FASTSQL_JOIN(test_registration_, __LINE__)(                      \
      group, name, FASTSQL_JOIN(test_body_, __LINE__));                                                   \
  static void FASTSQL_JOIN(test_body_, __LINE__)()

#define CHECK(condition) \
  do {                   \
    if (!(condition)) ::fastsql::test::report(__FILE__, __LINE__, "not true: " #condition); \
  } while (false)

#define CHECK_THROWS_SAYING(type, part, ...)                                                              \
  do {                                                                                                    \
    const std::string said = ::fastsql::test::message_of<type>(__FILE__, __LINE__, [&] { __VA_ARGS__; }); \
    if (said.find(part) == std::string::npos) ::fastsql::test::report(__FILE__, __LINE__, "said: " + said); \
  } while (false)
