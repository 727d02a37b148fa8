"""The nodes of the relation graph: their kinds, and where those of each kind lie.

N nodes are [tokens][candidates][turns][tables][columns]: the question's, with the earlier turns of its conversation, then
the schema's. `csrc/linking/nodes.h` says the same to the native core, and `tests/native/test_numbering.py` compares the two.

To append a kind: its name in `QUESTION` or `SCHEMA`; its number and its slice in `NodeLayout`; its relations to the others
in `relations.py`; its first rows in the model, and what points at it in `fastsql.model.pointing`. In C++: its name, number
and place in `nodes.h`, its relations in `schema_links.cc`, its first rows in `engine/`.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsql.schema import Schema

QUESTION = ("token", "candidate", "turn")
SCHEMA = ("table", "column")
KINDS = (*QUESTION, *SCHEMA)
"""Kinds of node, in the order in which they are laid out."""


@dataclass(frozen=True)
class NodeLayout:
    """Where the nodes of a question and a schema lie; those of a schema alone where the question's numbers are 0."""

    n_tokens: int = 0
    n_candidates: int = 0
    n_turns: int = 0
    n_tables: int = 0
    n_columns: int = 0

    @classmethod
    def of_schema(cls, schema: Schema) -> NodeLayout:
        """The nodes of a schema alone."""
        return cls(n_tables=len(schema.tables), n_columns=len(schema.columns))

    @cached_property
    def size(self) -> int:
        """N, of all nodes."""
        return int(self.schema.stop)

    @cached_property
    def question(self) -> slice:
        """All nodes of the question."""
        return slice(0, self.turns.stop)

    @cached_property
    def schema(self) -> slice:
        """All nodes of the schema."""
        return slice(self.question.stop, self.columns.stop)

    @cached_property
    def tokens(self) -> slice:
        """The question's tokens."""
        return self._of("token")

    @cached_property
    def candidates(self) -> slice:
        """The value candidates."""
        return self._of("candidate")

    @cached_property
    def turns(self) -> slice:
        """The earlier turns."""
        return self._of("turn")

    @cached_property
    def tables(self) -> slice:
        """The tables."""
        return self._of("table")

    @cached_property
    def columns(self) -> slice:
        """The columns."""
        return self._of("column")

    def table(self, index: int) -> int:
        """The node of a table."""
        return int(self.tables.start) + index

    def column(self, index: int) -> int:
        """The node of a column."""
        return int(self.columns.start) + index

    def schema_of(self, size: int) -> slice:
        """All nodes of the schema among `size` nodes, of which the others are a question's."""
        return slice(size - self.n_tables - self.n_columns, size)

    def with_question(self, n_tokens: int, n_candidates: int, n_turns: int = 0) -> NodeLayout:
        """These nodes of a schema behind those of a question."""
        return replace(self, n_tokens=n_tokens, n_candidates=n_candidates, n_turns=n_turns)

    def _of(self, kind: str) -> slice:
        sizes = [getattr(self, f"n_{name}s") for name in KINDS]
        place = KINDS.index(kind)
        return slice(sum(sizes[:place]), sum(sizes[: place + 1]))
