"""A program: a query as the terminals of the action grammar, free of any question.

A program refers to tables and columns of a schema and holds its literals as values. `convert/` makes one from SQL,
`render/` turns one into SQL, and `trace.py` grounds one in a question's action space and reads one back.
"""

from __future__ import annotations

from dataclasses import dataclass

EARLIER = "turn"
"""The provenance of a literal that an earlier turn of the conversation says."""


@dataclass(frozen=True)
class Production:
    """A production, by name."""

    name: str


@dataclass(frozen=True)
class TableRef:
    """A table of the schema."""

    table: int


@dataclass(frozen=True)
class ColumnRef:
    """A column of the schema, of the `source`-th entry of the innermost FROM."""

    column: int
    source: int


@dataclass(frozen=True)
class DerivedRef:
    """The `item`-th select item of the derived table that is the `source`-th entry of the innermost FROM."""

    source: int
    item: int


@dataclass(frozen=True)
class Literal:
    """A literal. `format` is set for dates (strftime form), `name` for named constants.

    `provenance` says where a decoded literal comes from: a candidate's source, "schema", "constant", "span", or "turn" for
    one of an earlier turn.
    """

    value: str | int | float
    format: str = ""
    name: str = ""
    provenance: str = ""
    span: tuple[int, int] | None = None


@dataclass(frozen=True)
class TurnRef:
    """An earlier turn of the conversation, the first being 0."""

    turn: int


Terminal = Production | TableRef | ColumnRef | DerivedRef | Literal | TurnRef
Program = tuple[Terminal, ...]

SMALL = {
    "zero": 0,
    "one": 1,
    "two": 2,
    "three": 3,
    "four": 4,
    "five": 5,
    "six": 6,
    "seven": 7,
    "eight": 8,
    "nine": 9,
    "ten": 10,
}
"""The closed set of literals: the first three for every query, the others for positions in a text."""
SIGNS = {
    "eq": "=",
    "ne": "<>",
    "lt": "<",
    "le": "<=",
    "gt": ">",
    "ge": ">=",
    "in_list": "IN",
    "not_in_list": "NOT IN",
    "between": "BETWEEN",
    "not_between": "NOT BETWEEN",
}
"""How the grammar's comparisons of a column with literals are written."""


@dataclass(frozen=True)
class Node:
    """A terminal with what its symbol expanded to; None stands for a symbol that was left out."""

    terminal: Terminal
    children: tuple[Node | None, ...]

    @property
    def name(self) -> str:
        """The production's name; empty for a pointer."""
        return self.terminal.name if isinstance(self.terminal, Production) else ""


def masked(program: Program) -> Program:
    """The program without its literals: its template. Date formats, too, are masked; named constants stay."""
    return tuple(Literal("", name=item.name) if isinstance(item, Literal) else item for item in program)


def sql_literal(value: str | int | float) -> str:
    """A literal as it stands in SQL."""
    return "'" + value.replace("'", "''") + "'" if isinstance(value, str) else str(value)
