"""What asking for a query comes to in every language: which kind of question it is, and what is no question at all."""

from __future__ import annotations

import random
from abc import ABC, abstractmethod

from sqlglot import exp

from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.clauses import keys_of
from fastsql.synthesis.schema.meaning import Meaning
from fastsql.synthesis.schema.rows import Rows
from fastsql.synthesis.schema.words import UnsayableError, Words

MOST_ITEMS = 6
"""Things that one question asks for."""


class Asker(ABC):
    """Asks for what queries over one schema return; a language says how. Raises UnsayableError where it has no words."""

    def __init__(self, words: Words, rng: random.Random) -> None:
        self._words = words
        self._rng = rng
        self._rows = self._make_rows()
        self._items = self._rows.items
        self._meaning = Meaning(words, self._items.counted)

    def _make_rows(self) -> Rows:
        return Rows(self._words, self._rng)

    def describe(self, select: exp.Select, subject: int) -> str:
        """The rows of a table that a query is about."""
        return self._rows.say(select, subject)

    def ask(self, query: exp.Expr) -> str:
        """A question."""
        if isinstance(query, exp.SetOperation):
            return self._ask_set(query)
        if not isinstance(query, exp.Select) or query.args.get("from_") is None:
            raise UnsayableError("no FROM")
        if isinstance(query.args["from_"].this, exp.Subquery):
            return self._ask_derived(query)
        if query.args.get("distinct"):
            _check_distinct(query)
        first, *others = query.expressions
        if not others and not keys_of(query) and self._meaning.counts(first, query):
            return self._ask_count(query)
        return self._ask_rows(query)

    @abstractmethod
    def _ask_set(self, query: exp.SetOperation) -> str:
        """A question for rows of two queries put together."""

    @abstractmethod
    def _ask_count(self, select: exp.Select) -> str:
        """A question for how many there are."""

    @abstractmethod
    def _ask_rows(self, select: exp.Select) -> str:
        """A question for anything else."""

    def _ask_derived(self, select: exp.Select) -> str:
        """A question for rows of a derived table."""
        raise UnsayableError("derived table")

    def _any(self, pattern: str) -> str:
        return expand(pattern, self._rng)


def _check_distinct(select: exp.Select) -> None:
    """Raises UnsayableError where different rows are aggregates, or ordered by what they do not show: each has several."""
    if any(isinstance(item, exp.AggFunc) for item in select.expressions):
        raise UnsayableError("different aggregates")
    order = select.args.get("order")
    if order is not None and any(key.this not in select.expressions for key in order.expressions):
        raise UnsayableError("different rows in the order of something else")
