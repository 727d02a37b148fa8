"""How large the texts are that a query can make, bounded before it runs.

A database looks at its clock between rows or instructions, not within one function: a text that grows from a few characters
to megabytes, or a pattern that is matched against it, holds it beyond every limit of time. So what can grow is counted here,
in copies of a stored cell and in characters that the query itself writes, through subqueries and CTEs. What else is allowed
(`allowed`) does not grow.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from sqlglot import exp

from fastsql.errors import VerificationError
from fastsql.schema.names import fold
from fastsql.verification.naming import RULES
from fastsql.verification.resolve import Resolution, Shown, Source, shown
from fastsql.verification.text import REMEDY

MOST_CELLS = 16
"""Copies of cells in one text."""
MOST_CHARACTERS = 100_000
"""Characters in one text beside those of cells."""
MOST_REPEATED_CELLS = 1_024
"""Copies of cells in one row beyond one for each column that it shows. A query has 256 decisions at most, and a text that it
puts together four pieces."""
PATTERN_CHARACTERS = 256
"""Characters of a pattern, or of what replaces it. The longest value that a question can name has 200."""
PADDED_CHARACTERS = 4_000
"""Characters to which a type may pad."""
_EXPONENT = re.compile(r"\s*[+-]?[0-9.]+[eE][+-]?[0-9]{4,}\s*")
"""A number of tens of thousands of digits in few characters."""
_FEW = 5
_GROUP = re.compile(r"\\[0-9&]")
_PLAIN = 64
"""Characters of numbers, times, and whatever else functions make."""


@dataclass(frozen=True)
class Size:
    """An upper bound: copies of a stored cell, and characters beside them."""

    cells: int = 0
    characters: int = 0

    def __add__(self, other: Size) -> Size:
        return Size(self.cells + other.cells, self.characters + other.characters)

    def __mul__(self, times: int) -> Size:
        return Size(self.cells * times, self.characters * times)

    def __or__(self, other: Size) -> Size:
        return Size(max(self.cells, other.cells), max(self.characters, other.characters))


def check_form_sizes(nodes: Iterable[exp.Expr]) -> None:
    """Return if, in a query given by its nodes, patterns are short literals, and types and numbers have few digits.

    Raises:
        VerificationError: they are not.
    """
    for node in nodes:
        kind = type(node)
        if kind in _MATCHING:
            for part in _patterns(node):
                if not (isinstance(part, exp.Literal) and part.is_string):
                    raise _fault("has a pattern that is not a literal")
                if len(part.this) > PATTERN_CHARACTERS:
                    raise _fault(f"has a pattern of more than {PATTERN_CHARACTERS} characters")
        elif kind is exp.DataTypeParam:
            if not _is_small(node.this):
                raise _fault(f"pads to more than {PADDED_CHARACTERS:,} characters")
        elif kind is exp.Literal:
            if len(node.this) > _FEW and _EXPONENT.fullmatch(node.this) and _is_number(node):
                raise _fault("has a number with too many digits")
        elif kind is exp.ArrayAgg and not _is_element(node):
            raise _fault("keeps a whole array")


def check_sizes(nodes: Iterable[exp.Expr], resolution: Resolution, dialect: str) -> None:
    """Return if no text and no row of a resolved query, given by its nodes, is larger than the bounds of this module.

    Raises:
        VerificationError: one is.
    """
    sizes = _Sizes(resolution, dialect)
    for node in nodes:
        kind = type(node)
        if kind is exp.Select:
            _check_row(node, sizes)
        elif kind in _GROWING and not (kind is exp.DPipe and type(node.parent) is exp.DPipe):
            _check(sizes.of(node))  # a chain of || is counted as a whole


def _check(size: Size) -> None:
    if size.cells > MOST_CELLS or size.characters > MOST_CHARACTERS:
        raise _fault("makes a text that is too large")


def _check_row(select: exp.Expr, sizes: _Sizes) -> None:
    row = sum((sizes.of(item) for item in select.expressions), Size())
    if row.cells <= MOST_REPEATED_CELLS:
        return
    columns = (column for item in select.expressions for column in item.find_all(exp.Column))
    if row.cells > MOST_REPEATED_CELLS + len({(fold(column.table), fold(column.name)) for column in columns}):
        raise _fault("makes a row that is too large")


class _Sizes:
    def __init__(self, resolution: Resolution, dialect: str) -> None:
        self._resolution = resolution
        self._rules = RULES[dialect]
        self._outputs: dict[tuple[int, int], Size] = {}
        self._aliased: dict[int, Size] = {}
        self._shown: dict[int, list[Shown]] = {}

    def of(self, node: exp.Expr) -> Size:
        """The size of an expression's value. Of what is not known to be smaller, the sum of its parts."""
        if isinstance(node, exp.Literal):
            return Size(0, len(node.this))
        if isinstance(node, exp.Column):
            return self._column(node)
        if isinstance(node, exp.Query):
            return self._output(node, 0)
        if isinstance(node, _ONE_OF_ITS_PARTS):
            return self._largest(node)
        if _is_time(node):
            return Size(0, _PLAIN)
        if isinstance(node, exp.TimeToStr) and isinstance(node.args["format"], exp.Literal):
            return Size(0, _PLAIN * (1 + len(node.args["format"].this)))
        if isinstance(node, exp.Window) and isinstance(node.this, _OF_A_ROW):
            return self._largest(node.this)
        if isinstance(node, _PLAIN_NODES):
            return Size(0, _PLAIN)
        if isinstance(node, exp.RegexpReplace):
            replacement = node.args.get("replacement")
            return self.of(node.this) * (1 if replacement is None else 1 + _growth(replacement.this))
        if isinstance(node, exp.Cast) and node.to.this not in _TEXT_TYPES:
            return Size(0, _PLAIN)
        size = Size()
        stack: list[exp.Expr] = [node]
        while stack:  # chains of || are as deep as they are long
            part = stack.pop()
            for child in part.iter_expressions():
                if isinstance(child, exp.DPipe | exp.Paren):
                    stack.append(child)
                else:
                    size += self.of(child)
        padded = (
            [param.name for param in node.to.find_all(exp.DataTypeParam)]
            if isinstance(node, exp.Cast)
            else []
        )
        return size + Size(0, sum(int(digits) for digits in padded if digits.isdecimal()))

    def _largest(self, node: exp.Expr) -> Size:
        size = Size()
        for child in node.iter_expressions():
            size |= self.of(child)
        return size

    def _column(self, node: exp.Column) -> Size:
        found = self._resolution.columns.get(id(node))
        if found is not None:
            return self._bound(*found)
        item = self._resolution.aliases.get(id(node))
        if item is None:
            return Size(0, _PLAIN)
        if id(item) not in self._aliased:
            self._aliased[id(item)] = self.of(item)
        return self._aliased[id(item)]

    def _bound(self, source: Source, position: int) -> Size:
        return Size(1) if source.query is None else self._output(source.query, position)

    def _output(self, query: exp.Expr, position: int) -> Size:
        """The size of a query's column; of a set operation's, that of the larger side."""
        key = (id(query), position)
        if key not in self._outputs:
            if isinstance(query, exp.SetOperation):
                size = self._output(query.this, position) | self._output(query.expression, position)
            elif isinstance(query, exp.Select):
                size = self._item(query, position)
            else:
                size = self._output(query.this, position)
            self._outputs[key] = size
        return self._outputs[key]

    def _item(self, select: exp.Select, position: int) -> Size:
        if id(select) not in self._shown:
            self._shown[id(select)] = shown(select, self._resolution.sources[id(select)], self._rules)
        columns = self._shown[id(select)]
        if position >= len(columns):
            return Size(0, _PLAIN)
        column = columns[position]
        return self._bound(*column) if isinstance(column, tuple) else self.of(column)


_MATCHING = frozenset((exp.Like, exp.ILike, exp.RegexpReplace))
_GROWING = _MATCHING | {exp.DPipe, exp.Cast, exp.TryCast}
_PLAIN_NODES = (
    exp.Predicate,
    exp.Connector,
    exp.Not,
    exp.Count,
    exp.Sum,
    exp.Avg,
    exp.Length,
    exp.Window,
    exp.Extract,
    exp.Add,
    exp.Sub,
    exp.Mul,
    exp.Div,
    exp.Mod,
    exp.Neg,
    exp.Abs,
    exp.Round,
    exp.StrPosition,
)
"""Nodes whose values are numbers or truth values."""


_ONE_OF_ITS_PARTS = (
    exp.Case,
    exp.If,
    exp.Coalesce,
    exp.Nullif,
    exp.Max,
    exp.Min,
    exp.Greatest,
    exp.Least,
)
_OF_A_ROW = (exp.Max, exp.Min, exp.Lag, exp.Lead)
"""What gives, over a window, a value of one row."""
_TIMES = frozenset(("date", "datetime", "julianday", "time"))
_TEXT_TYPES = frozenset((exp.DType.TEXT, exp.DType.VARCHAR, exp.DType.CHAR))


def _is_time(node: exp.Expr) -> bool:
    """Whether a function of SQLite gives a time, which is short, whatever it is given."""
    return isinstance(node, exp.Date) or (isinstance(node, exp.Anonymous) and fold(node.name) in _TIMES)


def _growth(replacement: str) -> int:
    """How much a character that a pattern finds can become: what is written, and what each group refers to."""
    return len(_GROUP.sub("-", replacement))


def _patterns(node: exp.Expr) -> list[exp.Expr]:
    parts = [node.args.get(key) for key in ("expression", "replacement", "modifiers")]
    return [part for part in parts if isinstance(part, exp.Expr)]


def _is_small(param: exp.Expr) -> bool:
    name: str = param.name
    return (name.isdecimal() and int(name) <= PADDED_CHARACTERS) or name.upper() == "MAX"


def _is_number(literal: exp.Expr) -> bool:
    """Whether a literal is a number, or a text that becomes one."""
    return not literal.args.get("is_string") or isinstance(literal.parent, exp.Cast)


def _is_element(array: exp.Expr) -> bool:
    """Whether one element of an array is all that is taken of it."""
    parent = array.parent
    while isinstance(parent, exp.Paren):
        parent = parent.parent
    return isinstance(parent, exp.Bracket)


def _fault(what: str) -> VerificationError:
    return VerificationError(what, where="SQL", remedy=REMEDY)
