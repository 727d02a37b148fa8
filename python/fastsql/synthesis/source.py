"""What makes pairs: a source draws queries, each with ways to ask for it, and names databases to try them on."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from sqlglot import exp

from fastsql.errors import FastSQLError
from fastsql.execution.rows import Cell
from fastsql.schema import Schema


class SynthesisError(FastSQLError):
    """No pairs can be made."""


Run = Callable[[str], list[tuple[Cell, ...]]]
"""The rows of a query on a database. Raises ExecutionError where it does not run, DatabaseGoneError where all is gone."""


@dataclass(frozen=True)
class Draft:
    """A query as it was drawn, not yet checked; `ask` puts it into words, with other seeds into others.

    `ask` raises SynthesisError where it finds none this time.
    `family` is the kind of question. `seed` is the one that it was drawn by. `tree` is the query as sqlglot reads it, where
    the source knows that.
    """

    family: str
    sql: str
    seed: str
    ask: Callable[[random.Random], str]
    tree: exp.Expr | None = field(default=None, repr=False, compare=False)


@dataclass(frozen=True)
class Trial:
    """A query of a draft's form, and the database that it is tried on."""

    sql: str
    run: Run


@dataclass(frozen=True)
class Contrast:
    """Two queries that differ in one thing, and questions that differ in the one phrase for it.

    `kind`: the kind of difference. Each pair is a question and its SQL.
    """

    kind: str
    family: str
    pairs: tuple[tuple[str, str], tuple[str, str]]


@dataclass(frozen=True)
class Refusal:
    """A question that no query answers; `kind`: why."""

    question: str
    kind: str


class Source(Protocol):
    """A kind of pairs over one schema."""

    @property
    def db_id(self) -> str:
        """The database's name in what is written."""

    @property
    def schema(self) -> Schema:
        """What queries are converted with; with the values that questions mean without writing them."""

    def draw(self, seed: str) -> Draft:
        """The draft of a seed: the same seed draws the same. Raises SynthesisError where none is found."""

    def trials(self, draft: Draft) -> Iterator[Trial]:
        """Queries of the draft's form to try, until one returns something: of other values, where its own may not occur."""


class VariedSource(Source, Protocol):
    """A source that also makes contrasts, and questions to refuse."""

    def contrast(self, seed: str) -> Contrast:
        """The contrast of a seed. Raises SynthesisError where none is found."""

    def refusal(self, seed: str) -> Refusal:
        """The unanswerable question of a seed. Raises SynthesisError where none is found."""
