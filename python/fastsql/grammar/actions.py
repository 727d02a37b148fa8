"""How actions are numbered: their kinds, and the flat ids of one question's actions.

`csrc/grammar/numbering.h` says the same to the native core, and `tests/native/test_numbering.py` compares the two.

To append a kind: its name in `KINDS` and its constant; its size in `ActionLayout.of`, and where that is called; the rows
that it points at in `pointed_nodes` of `fastsql.model.pointing`, which training's scores go by, and its keys in
`Decoder.read` of the model; the pointers of the grammar that it answers in `POINTERS_OF`. In C++: `Kind` and its name in
`numbering.h`, its size in `action_space.cc`, its rows and keys in `decode/`, its pointers in `grammar.cc`. Older models
have no weights for it.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass
from functools import cached_property

KINDS = ("production", "table", "column", "candidate", "schema_value", "start", "end", "step", "turn")
"""Kinds of action, in the order in which they are laid out."""
PRODUCTION, TABLE, COLUMN, CANDIDATE, SCHEMA_VALUE, START, END, STEP, TURN = range(len(KINDS))
WEIGHT_NAMES = tuple(kind.removeprefix("schema_") for kind in KINDS[:TURN])
"""What the weights of a bundle call each kind. Those of turns lie apart: a model may lack them (`fastsql.model.turns`)."""
POINTER_KINDS = tuple(range(TABLE, len(WEIGHT_NAMES)))
"""The kinds that point at something, and that all models have weights for."""

_COLUMN_POINTERS = ("column", "time", "earlier", "newest")
POINTERS_OF: dict[int, tuple[str, ...]] = {
    TABLE: ("table",),
    COLUMN: _COLUMN_POINTERS,
    STEP: (*_COLUMN_POINTERS, "which"),
    CANDIDATE: ("value", "number", "date", "text", "pattern"),
    SCHEMA_VALUE: ("value", "pattern"),
    START: ("start",),
    END: ("end",),
    TURN: ("turn", "member", "extended"),
}
"""The pointers of the grammar that an action of a kind may stand for. A symbol that knows several takes the first."""

NO_ACTION = -1
"""What stands for the last action before there is one."""


@dataclass(frozen=True)
class ActionLayout:
    """Flat ids of the actions of one question over one schema: `offsets[kind]` + index within the kind.

    `sizes`: how many actions of each kind there are, in the order of `KINDS`.
    """

    sizes: tuple[int, ...]

    @classmethod
    def of(
        cls,
        *,
        productions: int,
        tables: int,
        columns: int,
        candidates: int,
        schema_values: int,
        tokens: int,
        steps: int,
        turns: int = 0,
    ) -> ActionLayout:
        """The layout of so many things to point at. A span starts and ends at tokens.

        `steps`: the decisions of a query, and behind them what earlier turns offer (`Turn.entries`).
        """
        return cls((productions, tables, columns, candidates, schema_values, tokens, tokens, steps, turns))

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """First flat id of each kind, and the total size as the last entry."""
        bounds = [0]
        for size in self.sizes:
            bounds.append(bounds[-1] + size)
        return tuple(bounds)

    @property
    def size(self) -> int:
        """Number of flat ids."""
        return self.offsets[-1]

    def locate(self, action: int) -> tuple[int, int]:
        """Kind and index of a flat id. Raises IndexError for a number outside of them."""
        offsets = self.offsets
        if not 0 <= action < offsets[-1]:
            raise IndexError(f"{action} is not one of {self.size} actions")
        kind = bisect_right(offsets, action) - 1  # of kinds with one offset all but the last are empty
        return kind, action - offsets[kind]

    def flat(self, kind: int, index: int) -> int:
        """Flat id of an action."""
        return self.offsets[kind] + index
