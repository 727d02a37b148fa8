// Earlier turns of a conversation, as lists that states can point at. They are made once a search, in its memory.
#pragma once

#include <new>

#include "grammar/effects.h"

namespace fastsql::grammar {

// The items of a range, at steps from `step` on; null where there are none, or memory has none left.
template <class Memory>
FASTSQL_HOST_DEVICE const Item* offer_items(const SpaceView& space, Memory& memory, Range range, std::int32_t step) {
  const Item* items = nullptr;
  for (std::int32_t place = range.begin; place < range.end; ++place) {
    items = longer(memory, items, space.turn_items[place], 1, step++);
    if (items == nullptr) return nullptr;
  }
  return items;
}

// What all turns offer, [turns]; null where memory does not suffice.
template <class Memory>
FASTSQL_HOST_DEVICE const Offered* offer_turns(const SpaceView& space, Memory& memory) {
  Offered* offered = memory.template allocate<Offered>(static_cast<std::size_t>(space.turns));
  if (offered == nullptr) return nullptr;
  for (std::int32_t number = 0; number < space.turns; ++number) {
    const Turn& turn = space.turn[number];
    const Item* items = offer_items(space, memory, turn.items, turn.first_step);
    if (items == nullptr && turn.items.size() > 0) return nullptr;
    State state;  // of a query that selects from the same sources
    std::int32_t step = turn.first_step + turn.items.size();
    for (std::int32_t place = turn.sources.begin; place < turn.sources.end; ++place) {
      const TurnSource& source = space.turn_sources[place];
      const Item* columns = offer_items(space, memory, source.items, step + 1);
      if (columns == nullptr && source.items.size() > 0) return nullptr;
      state.decisions = step + 1;  // so that it is the source's step
      if (!add_source(space, memory, state, source.table, columns)) return nullptr;
      step += 1 + source.items.size();
    }
    const Key* keys = nullptr;
    for (std::int32_t place = turn.keys.begin; place < turn.keys.end; ++place) {
      const TurnKey& key = space.turn_keys[place];
      keys = memory.keep(Key{keys, key.column, turn.first_step + key.entry});
      if (keys == nullptr) return nullptr;
    }
    new (offered + number) Offered{items, state.scope.sources, keys};
  }
  return offered;
}

}  // namespace fastsql::grammar
