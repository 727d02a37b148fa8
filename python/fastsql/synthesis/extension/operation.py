"""What an operation on a schema is: a site where it applies, and what comes of it there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.reading import Query
from fastsql.synthesis.source import SynthesisError


class UnrewritableError(SynthesisError):
    """A query that cannot be carried over exactly."""


Rewrite = Callable[[Query, Facts], None]
"""Rewrites the tree of a query for the new schema. Raises UnrewritableError."""


@dataclass(frozen=True)
class Extended:
    """What an operation made of a schema.

    Attributes:
        site: where it was applied.
        schema: the new one.
        rows: for each table of the new schema the query that selects its rows from the old database, attached as ``old``.
        changed: the tables of the old schema that are no more as they were; the others are carried over whole.
        view: gives columns of a changed table as a query over the new database, every row of it.
        rewrite: rewrites queries.
    """

    site: Site
    schema: Schema
    rows: tuple[str, ...]
    changed: frozenset[int]
    view: Callable[[int, Sequence[int]], exp.Query]
    rewrite: Rewrite


class Site(Protocol):
    """A place of a schema where an operation applies."""

    @property
    def operation(self) -> str:
        """The operation's name: relation, merge or split."""

    def describe(self, schema: Schema) -> str:
        """The site in one line, by the names of tables and columns."""

    def tables(self, schema: Schema) -> frozenset[int]:
        """The tables that are no more as they were."""

    def apply(self, schema: Schema) -> Extended:
        """The extended schema. Raises SynthesisError where it would be beyond the limits."""
