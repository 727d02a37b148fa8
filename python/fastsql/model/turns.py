"""What the model reads of earlier turns: the first state of each turn's node, and a state for each thing that it offers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import ModelError
from fastsql.linking.nodes import NodeLayout
from fastsql.linking.turns import EarlierTurn
from fastsql.model.attention import Array, Part
from fastsql.model.config import AGES, ENTRY_KINDS, ENTRY_PLACES
from fastsql.schema.sqltypes import TYPE_CLASSES

TURN_FEATURES = ("age", "usable")
"""Weights that say what a turn is to the question, in the order in which `TurnInputs.features` indexes them."""
ENTRY_FEATURES = ("entry_kind", "entry_type", "entry_place")
"""Weights that say what an entry is, in the order in which `TurnInputs.entries` indexes them."""
ENTRY_NUMBERS = 2 + len(ENTRY_FEATURES)
"""Of an entry in `TurnInputs.entries`: its turn, its features, its item."""
_ITEM, _SOURCE, _COLUMN = range(len(ENTRY_KINDS))
_UNTYPED = TYPE_CLASSES.index("other")


@dataclass(frozen=True, eq=False)
class TurnInputs:
    """K earlier turns and the E entries that they offer, in the order of the steps that point at these.

    `pooled` float32[K, d]; `features` int64[K, 2]: age (0: the turn before the question), and 0 where it may not be pointed
    at, 1 where it may, 2 where the question calls it by its number; `entries` int64[E, 5]: its turn, kind, type class, place
    among its likes, and the schema item (tables, then columns) that it is or passes on, or -1.
    """

    pooled: Array
    features: NDArray[np.int64]
    entries: NDArray[np.int64]

    @classmethod
    def of(cls, turns: Sequence[EarlierTurn], nodes: NodeLayout, d: int, *, named: bool) -> TurnInputs:
        """Arrays of turns over the schema of these `nodes`, for a model of width `d`.

        `named` tells whether it knows turns that a question calls by their numbers.

        Raises ModelError where a turn was pooled by a model of another width, or is not finite.
        """
        for turn in turns:
            if turn.pooled.shape != (d,) or not np.isfinite(turn.pooled).all():
                raise ModelError(
                    f"an earlier turn was read by another model: it is no ({d},) of finite numbers",
                    where="earlier turns",
                    remedy="Begin the conversation again with this model.",
                )
        features = [
            (min(age, AGES - 1), turn.turn.usable * (1 + (named and turn.named)))
            for age, turn in enumerate(reversed(turns))
        ]
        entries = [row for number, turn in enumerate(turns) for row in _entries(number, turn, nodes)]
        return cls(
            np.array([turn.pooled for turn in turns], dtype=np.float32).reshape(-1, d),
            np.array(features[::-1], dtype=np.int64).reshape(-1, len(TURN_FEATURES)),
            np.array(entries, dtype=np.int64).reshape(-1, ENTRY_NUMBERS),
        )


def _entries(number: int, turn: EarlierTurn, nodes: NodeLayout) -> list[tuple[int, ...]]:
    """What a turn offers, by its steps."""
    rows: dict[int, tuple[int, ...]] = {}
    offered = turn.turn.offered
    # Columns are counted through all derived tables: two of them may begin alike.
    columns = [item for source in offered.sources for item in source.items]
    groups = ((_ITEM, offered.items), (_COLUMN, columns))
    for kind, items in groups:
        for place, item in enumerate(items):
            column = item.typed.column
            passed_on = -1 if column is None else nodes.column(column)
            rows[item.step] = (number, kind, TYPE_CLASSES.index(item.typed.type), _shared(place), passed_on)
    for place, source in enumerate(offered.sources):
        rows[source.step] = (number, _SOURCE, _UNTYPED, _shared(place), source.table)
    return [rows[step] for step in range(turn.turn.entries)]


def _shared(place: int) -> int:
    return min(place, ENTRY_PLACES - 1)


def first_states(weights: Part, inputs: TurnInputs) -> Array:
    """First states of the turns' nodes, [K, d]: what was asked, how long ago, whether it may be pointed at or is called."""
    states = weights.linear("question", inputs.pooled)
    for name, feature in zip(TURN_FEATURES, inputs.features.T, strict=True):
        states = states + weights[f"{name}.weight"][feature]
    return states


def entry_states(weights: Part, inputs: TurnInputs, turns: Array, items: Array) -> Array:
    """States of what the turns offer, [E, d], from final states of the turns [K, d] and of the schema's items [T + C, d]."""
    turn, *features, item = inputs.entries.T
    states = turns[turn]
    for name, feature in zip(ENTRY_FEATURES, features, strict=True):
        states = states + weights[f"{name}.weight"][feature]
    known = item >= 0
    states[known] += items[item[known]]
    return weights.norm("entry_norm", states)
