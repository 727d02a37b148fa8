// The automaton's steps where a GPU would take them: memory of a fixed size, tables at other addresses, masks written by a warp.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cstring>
#include <random>

#include "grammar/bounded_arena.h"
#include "grammar/step.h"
#include "toy_grammar.h"

using namespace fastsql;
using namespace fastsql::grammar;
using namespace fastsql::test;

namespace {

using Space = std::shared_ptr<const ActionSpace>;

constexpr std::byte kUntouched{0xA5};

// Memory of `capacity` bytes, and behind it some that must stay as it is.
class Piece {
 public:
  explicit Piece(std::size_t capacity) : capacity_(capacity), memory_(capacity + 4096, kUntouched) {}
  BoundedArena arena() { return {memory_.data(), static_cast<std::uint32_t>(capacity_), &used_}; }
  std::size_t used() const { return used_; }
  bool overrun() const {
    return std::any_of(memory_.begin() + static_cast<std::ptrdiff_t>(capacity_), memory_.end(),
                       [](std::byte byte) { return byte != kUntouched; });
  }

 private:
  std::size_t capacity_;
  std::vector<std::byte> memory_;
  std::uint32_t used_ = 0;
};

std::vector<Word> mask_of(const SpaceView& space, const State& state) {
  std::vector<Word> set(space.words(), ~Word{0});
  mask(space, state, set.data());
  return set;
}

// As the threads of a warp write it, in any order.
std::vector<Word> mask_of_warp(const SpaceView& space, const State& state, std::mt19937& random) {
  std::vector<std::size_t> ranks(OneOfWarp::kThreads);
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) ranks[rank] = rank;
  std::shuffle(ranks.begin(), ranks.end(), random);
  std::vector<Word> set(space.words(), ~Word{0});
  for (const std::size_t rank : ranks) mask(space, state, set.data(), OneOfWarp{rank});
  return set;
}

std::int32_t any_of_set(const std::vector<Word>& set, std::mt19937& random) {
  Integers ids;
  for (std::size_t word = 0; word < set.size(); ++word) {
    for (Word rest = set[word]; rest != 0; rest &= rest - 1) {
      ids.push_back(static_cast<std::int32_t>(word * kWordBits + lowest_bit(rest)));
    }
  }
  return ids.empty() ? kNone : ids[random() % ids.size()];
}

// Random legal actions until the end or a dead end.
Integers random_actions(const SpaceView& space, std::mt19937& random) {
  Arena arena;
  State state = start(space, arena);
  Integers actions;
  while (!state.finished()) {
    const std::int32_t action = any_of_set(mask_of(space, state), random);
    if (action == kNone || !advance(space, arena, state, action, true)) break;
    actions.push_back(action);
  }
  return actions;
}

void expect_same(const State& one, const State& other) {
  REQUIRE(one.finished() == other.finished());
  CHECK(one.used == other.used);
  CHECK(one.decisions == other.decisions);
  CHECK(one.cost == other.cost);
  CHECK(one.in_query == other.in_query);
  CHECK(count_of(one.scope.sources) == count_of(other.scope.sources));
  CHECK(count_of(one.scope.items) == count_of(other.scope.items));
  if (one.finished()) return;
  CHECK(one.symbol() == other.symbol());
  CHECK(one.parent() == other.parent());
}

std::vector<Space> spaces() {
  return {toy_space(40), rich_space(false), rich_space(true), rich_space(false, 12), rich_space(true, 300)};
}

}  // namespace

TEST_CASE("a state is the same wherever its memory is") {
  std::mt19937 random(0);
  std::size_t longest = 0;
  for (const Space& owner : spaces()) {
    const SpaceView& space = owner->view();
    for (int walk = 0; walk < 200; ++walk) {
      Arena arena;
      Piece piece(1 << 20);
      BoundedArena bounded = piece.arena();
      State one = start(space, arena), other = start(space, bounded);
      std::size_t actions = 0;
      while (!one.finished()) {
        const std::vector<Word> legal = mask_of(space, one);
        REQUIRE(mask_of(space, other) == legal);
        const std::int32_t action = any_of_set(legal, random);
        if (action == kNone) break;
        const bool taken = advance(space, arena, one, action, actions % 3 != 0);
        REQUIRE(advance(space, bounded, other, action, actions % 3 != 0) == taken);
        expect_same(one, other);
        if (!taken) break;
        ++actions;
      }
      longest = std::max(longest, actions);
      CHECK(!bounded.full());
      CHECK(piece.used() <= (actions + 1) * static_cast<std::size_t>(space.grammar.most_bytes));
    }
  }
  CHECK(longest > 40);
}

TEST_CASE("what earlier turns offer is made once, in memory that is counted") {
  const Space owner = assemble(toy_grammar(), toy_schema(), turn_question());
  const SpaceView& space = owner->view();
  CHECK(space.end(Kind::kStep) - space.offset(Kind::kStep) == 6 + 6);
  CHECK(space.end(Kind::kTurn) - space.offset(Kind::kTurn) == 2);
  Piece piece(1 << 12);
  BoundedArena bounded = piece.arena();
  const State state = start(space, bounded);
  REQUIRE(state.offered != nullptr);
  CHECK(piece.used() <= static_cast<std::size_t>(space.turn_bytes + space.grammar.most_bytes));
  const Offered& first = state.offered[0];
  CHECK(first.items->step == 6);
  CHECK(first.items->typed.column == 0);
  CHECK(first.sources->table == 0);
  CHECK(first.sources->step == 7);
  CHECK(first.sources->width == 2);
  const Offered& second = state.offered[1];
  CHECK(count_of(second.items) == 2);
  CHECK(second.items->step == 9);
  CHECK(second.items->typed.type == TypeClass::kNumber);
  CHECK(second.sources->step == 10);
  CHECK(second.sources->items->step == 11);
  CHECK(second.sources->any_time);
  CHECK(second.keys->step == 11);
  Piece small(static_cast<std::size_t>(space.turn_bytes) / 2);
  BoundedArena full = small.arena();
  CHECK(start(space, full).finished());
  CHECK(full.full());
  CHECK(!small.overrun());
}

TEST_CASE("a warp writes the mask that one thread writes") {
  std::mt19937 random(1);
  for (const Space& owner : spaces()) {
    const SpaceView& space = owner->view();
    for (int walk = 0; walk < 50; ++walk) {
      Arena arena;
      State state = start(space, arena);
      REQUIRE(mask_of_warp(space, state, random) == mask_of(space, state));
      for (const std::int32_t action : random_actions(space, random)) {
        REQUIRE(advance(space, arena, state, action, true));
        REQUIRE(mask_of_warp(space, state, random) == mask_of(space, state));
      }
    }
  }
}

TEST_CASE("memory that is full says so and is never overrun") {
  std::mt19937 random(2);
  int filled = 0;
  for (const Space& owner : spaces()) {
    const SpaceView& space = owner->view();
    for (int walk = 0; walk < 5; ++walk) {
      const Integers actions = random_actions(space, random);
      const auto take_all = [&](BoundedArena& arena) {
        State state = start(space, arena);
        for (const std::int32_t action : actions) {
          if (!advance(space, arena, state, action, true)) return false;
        }
        return true;
      };
      Piece whole(1 << 20);
      BoundedArena roomy = whole.arena();
      REQUIRE(take_all(roomy));
      const std::size_t needed = whole.used();
      for (std::size_t capacity = 0; capacity < needed; capacity += 1 + needed / 97) {
        Piece piece(capacity);
        BoundedArena arena = piece.arena();
        CHECK(!take_all(arena));
        CHECK(arena.full());
        CHECK(arena.allocate<Cell>(1) == nullptr);
        CHECK(!piece.overrun());
        ++filled;
      }
      Piece exact(needed);
      BoundedArena enough = exact.arena();
      CHECK(take_all(enough));
      CHECK(!enough.full());
      CHECK(!exact.overrun());
    }
  }
  CHECK(filled > 100);
}

TEST_CASE("memory that is full leaves the states that it holds") {
  const Space owner = toy_space();
  const SpaceView& space = owner->view();
  Piece piece(1 << 10);
  BoundedArena arena = piece.arena();
  State state = start(space, arena);
  REQUIRE(advance(space, arena, state, 1, true));
  const State fork = state;
  const std::vector<Word> before = mask_of(space, fork);
  while (arena.allocate<Cell>(1) != nullptr) {
  }
  CHECK(arena.full());
  CHECK(mask_of(space, fork) == before);
  CHECK(!advance(space, arena, state, 3, true));
}

TEST_CASE("a copy of the tables at another address serves alone") {
  std::mt19937 random(3);
  const std::vector<Space> originals = spaces(), copied = spaces();
  for (std::size_t i = 0; i < originals.size(); ++i) {
    const ActionSpace& space = *copied[i];
    const SchemaItems& schema = space.schema();
    const Grammar& grammar = space.grammar();
    const auto taken_away = [](const std::byte* image, std::size_t bytes) {
      std::vector<std::byte> copy(image, image + bytes);
      std::memset(const_cast<std::byte*>(image), 0xFF,
                  bytes);  // NOLINT(cppcoreguidelines-pro-type-const-cast): so that it is missed
      return copy;
    };
    const std::vector<std::byte> of_grammar = taken_away(grammar.image(), grammar.image_bytes());
    const std::vector<std::byte> of_schema = taken_away(schema.image(), schema.image_bytes());
    const std::vector<std::byte> of_space = taken_away(space.image(), space.image_bytes());
    const SpaceView view = space.view(grammar.view(of_grammar.data()), schema.view(of_schema.data()), of_space.data());
    for (int walk = 0; walk < 50; ++walk) {
      const Integers actions = random_actions(originals[i]->view(), random);
      Arena arena, arena_of_copy;
      State state = start(originals[i]->view(), arena), of_copy = start(view, arena_of_copy);
      for (const std::int32_t action : actions) {
        REQUIRE(mask_of(view, of_copy) == mask_of(originals[i]->view(), state));
        REQUIRE(advance(originals[i]->view(), arena, state, action, true));
        REQUIRE(advance(view, arena_of_copy, of_copy, action, true));
        expect_same(state, of_copy);
      }
    }
  }
}
