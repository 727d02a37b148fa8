#include "core/workers.h"

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <catch2/catch.hpp>
#include <thread>
#include <vector>

using namespace fastsql;

namespace {

// How often each part was done.
std::vector<int> counts(const Workers& workers, std::size_t parts) {
  std::vector<std::atomic<int>> done(parts);
  workers.run(parts, [&](std::size_t part) { done[part].fetch_add(1); });
  return {done.begin(), done.end()};
}

}  // namespace

TEST_CASE("every part is done once, by any number of threads") {
  for (const std::size_t threads : {1, 2, 3, 8}) {
    const Workers workers(threads);
    CHECK(workers.threads() == threads);
    for (const std::size_t parts : {0, 1, 2, 7, 1000, 70000}) {
      INFO(threads << " threads, " << parts << " parts");
      CHECK(counts(workers, parts) == std::vector<int>(parts, 1));
    }
  }
}

TEST_CASE("without threads of its own the caller does everything") {
  CHECK(Workers().threads() == 1);
  CHECK(Workers(0).threads() == 1);
  const auto self = std::this_thread::get_id();
  std::vector<std::thread::id> by(5);
  Workers().run(by.size(), [&](std::size_t part) { by[part] = std::this_thread::get_id(); });
  CHECK(by == std::vector<std::thread::id>(5, self));
}

TEST_CASE("many short runs in a row are all completed") {
  const Workers workers(3);
  std::vector<std::size_t> sums(4);
  for (std::size_t run = 0; run < 20000; ++run) {
    workers.run(sums.size(), [&](std::size_t part) { sums[part] += run; });
  }
  CHECK(sums == std::vector<std::size_t>(4, std::size_t{20000} * 19999 / 2));
}

TEST_CASE("callers on several threads share one pool and each gets all of its own parts") {
  const Workers workers(2);
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller) {
    callers.emplace_back([&] {
      for (int run = 0; run < 300; ++run) {
        if (counts(workers, 9) != std::vector<int>(9, 1)) wrong.fetch_add(1);
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  CHECK(wrong.load() == 0);
}

TEST_CASE("a run within a run is done by whoever asks for it") {
  const Workers workers(2);
  std::vector<std::atomic<int>> done(6);
  workers.run(2, [&](std::size_t outer) { workers.run(3, [&](std::size_t inner) { done[outer * 3 + inner].fetch_add(1); }); });
  for (const auto& count : done) CHECK(count.load() == 1);
}

TEST_CASE("a forked process gets threads of its own") {
  const Workers workers(2);
  CHECK(counts(workers, 5) == std::vector<int>(5, 1));
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) _exit(counts(workers, 50) == std::vector<int>(50, 1) ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == 0);
  CHECK(counts(workers, 5) == std::vector<int>(5, 1));
}
