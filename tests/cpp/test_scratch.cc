#include "core/scratch.h"

#include <catch2/catch.hpp>
#include <cstdint>
#include <vector>

#include "allocations.h"
#include "core/pool.h"

using namespace fastsql;

TEST_CASE("pieces of scratch memory do not overlap and begin at a cache line") {
  Scratch scratch;
  std::vector<std::pair<float*, std::size_t>> pieces;
  for (const std::size_t size : {1, 5000, 3, 64, 100000, 0, 17}) {
    float* piece = scratch.take(size);
    CHECK(reinterpret_cast<std::uintptr_t>(piece) % 64 == 0);
    for (std::size_t i = 0; i < size; ++i) piece[i] = static_cast<float>(pieces.size());
    pieces.emplace_back(piece, size);
  }
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    const auto& [piece, size] = pieces[index];
    bool whole = true;
    for (std::size_t i = 0; i < size; ++i) whole = whole && piece[i] == static_cast<float>(index);
    CHECK(whole);
  }
}

TEST_CASE("a scope gives back what was taken within it") {
  Scratch scratch;
  scratch.take(100);
  float* inside = nullptr;
  {
    const Scratch::Scope scope(scratch);
    inside = scratch.take(10);
    scratch.take(100000);  // another block
  }
  CHECK(scratch.take(10) == inside);
}

TEST_CASE("the same computation allocates nothing the second time") {
  Scratch scratch;
  const auto compute = [&] {
    scratch.clear();
    for (const std::size_t size : {10, 5000, 200, 40000}) scratch.take(size);
  };
  compute();
  compute();
  const std::size_t before = test::allocations();
  compute();
  const std::size_t after = test::allocations();
  CHECK(after == before);
}

TEST_CASE("a pool hands out an object again only once it has been given back") {
  Pool<int> pool;
  const int* first = nullptr;
  {
    const auto one = pool.take(), other = pool.take();
    CHECK(&*one != &*other);
    first = &*one;
    *one = 7;
  }
  const auto again = pool.take();
  CHECK(&*again == first);  // given back last
  CHECK(*again == 7);
}
