"""The action space of one parse: how productions and pointers are numbered for one question and schema."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import LimitError
from fastsql.grammar.actions import (
    CANDIDATE,
    COLUMN,
    END,
    KINDS,
    SCHEMA_VALUE,
    START,
    ActionLayout,
)
from fastsql.grammar.compile import Grammar, load_grammar
from fastsql.grammar.grounding import NO_GROUNDS, Grounds
from fastsql.grammar.schema_values import SchemaValue, schema_values
from fastsql.limits import DEFAULT, Limits

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastsql.grammar.state import Offered
    from fastsql.grammar.turns import Turn
    from fastsql.linking.candidate import Candidate
    from fastsql.schema import Schema

_JOINED = re.compile(r"[-/.]\w")
"""Behind the first part of a code."""


@dataclass(frozen=True, repr=False)
class ActionSpace:
    """The actions of one parse: how they are numbered (`ActionLayout`), and which literals fit where.

    `tokens`: int32[Q, 2], the characters that each question token covers.
    `length`: how much of `text` is the question; behind it stand values of earlier turns. None: all of it.
    """

    grammar: Grammar
    schema: Schema
    text: str
    tokens: NDArray[np.int32]
    candidates: tuple[Candidate, ...]
    schema_values: tuple[SchemaValue, ...]
    limits: Limits = DEFAULT
    strict_grouping: bool = False
    grounds: Grounds = NO_GROUNDS
    turns: tuple[Turn, ...] = ()
    length: int | None = None

    @classmethod
    def for_question(
        cls,
        schema: Schema,
        text: str,
        tokens: NDArray[np.int32],
        candidates: Sequence[Candidate] = (),
        *,
        grammar: Grammar | None = None,
        limits: Limits = DEFAULT,
        strict_grouping: bool = False,
        grounds: Grounds = NO_GROUNDS,
        turns: Sequence[Turn] = (),
    ) -> ActionSpace:
        """The space of a tokenised question over a schema.

        `strict_grouping`: beside aggregates only columns that the query groups by, as PostgreSQL demands.
        `grounds`: which literals exist, where that is known.
        `turns`: the earlier ones of a conversation, over the same schema.

        Raises LimitError if `limits` allow fewer actions than the shortest query takes, or fewer turns.
        """
        grammar = grammar or load_grammar()
        _check_turns(turns, limits)
        if limits.actions < grammar.cost[0]:
            raise LimitError(
                f"{limits.actions} actions write no query: the shortest takes {grammar.cost[0]}",
                where="Limits.actions",
                remedy=f"Give {grammar.cost[0]} or more.",
            )
        return cls(
            grammar,
            schema,
            text,
            tokens,
            tuple(candidates),
            schema_values(schema),
            limits,
            strict_grouping,
            grounds,
            tuple(turns),
        )

    def __repr__(self) -> str:
        sizes = ", ".join(f"{size} {kind}" for kind, size in zip(KINDS, self.sizes, strict=True))
        return f"<ActionSpace of {self.schema!r}: {sizes}>"

    @cached_property
    def layout(self) -> ActionLayout:
        """The numbering of the actions; what follows are its parts."""
        return ActionLayout.of(
            productions=len(self.grammar.productions),
            tables=len(self.schema.tables),
            columns=len(self.schema.columns),
            candidates=len(self.candidates),
            schema_values=len(self.schema_values),
            tokens=len(self.tokens),
            steps=self.limits.actions + sum(turn.entries for turn in self.turns),
            turns=len(self.turns),
        )

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """Number of actions of each kind."""
        return self.layout.sizes

    @cached_property
    def offsets(self) -> tuple[int, ...]:
        """First flat id of each kind, and the total size as the last entry."""
        return self.layout.offsets

    @property
    def size(self) -> int:
        """Number of flat ids."""
        return self.offsets[-1]

    def locate(self, action: int) -> tuple[int, int]:
        """Kind and index of a flat id. Raises IndexError for a number outside of them."""
        return self.layout.locate(action)

    def flat(self, kind: int, index: int) -> int:
        """Flat id of an action."""
        return self.offsets[kind] + index

    def span_text(self, start: int, end: int) -> str:
        """Text of the question from the first character of token `start` to the last of token `end`."""
        return self.text[int(self.tokens[start, 0]) : int(self.tokens[end, 1])]

    @cached_property
    def offered_by(self) -> tuple[Offered, ...]:
        """What each earlier turn offers, at the steps behind those of the query that is being written."""
        step = self.limits.actions
        found = []
        for turn in self.turns:
            found.append(turn.offered.behind(step))
            step += turn.entries
        return tuple(found)

    # ------------------------------------------------------- which literals fit which column

    @cached_property
    def column_types(self) -> tuple[str, ...]:
        """Type class of every column."""
        return tuple(column.type for column in self.schema.columns)

    @cached_property
    def columns_of_table(self) -> tuple[NDArray[np.int64], ...]:
        """Flat ids of every table's columns."""
        base = self.offsets[COLUMN]
        return tuple(np.asarray(table.columns, dtype=np.int64) + base for table in self.schema.tables)

    @cached_property
    def times_of_table(self) -> tuple[NDArray[np.int64], ...]:
        """Flat ids of those columns of every table that can hold a time."""
        base = self.offsets[COLUMN]
        return tuple(
            np.asarray([j for j in table.columns if can_hold_time(self.column_types[j])], dtype=np.int64)
            + base
            for table in self.schema.tables
        )

    @cached_property
    def date_ids(self) -> NDArray[np.int64]:
        """Flat ids of the date candidates."""
        return self._candidate_ids(lambda c: c.kind == "date" and bool(c.format))

    @cached_property
    def whole_number_ids(self) -> NDArray[np.int64]:
        """Flat ids of candidates that can stand behind LIMIT or count periods of time."""
        return self._candidate_ids(lambda c: isinstance(c.value, int) and 0 <= c.value < 100_000)

    @cached_property
    def text_ids(self) -> NDArray[np.int64]:
        """Flat ids of candidates that are text."""
        return self._candidate_ids(lambda c: c.kind == "text" and isinstance(c.value, str))

    def literal_ids(self, type_class: str, column: int | None) -> NDArray[np.int64]:
        """Flat ids of the candidates and schema values that may be compared with an expression.

        Types are a relation: a number may meet a text column, whose ids are often stored as text. A
        dictionary's or schema's value meets its own column only.
        """
        key = (type_class, column)
        if key not in self._literal_cache:
            fits = self._candidate_ids(lambda c: _fits(c, type_class, column))
            standing = [
                self.offsets[SCHEMA_VALUE] + w
                for w, v in enumerate(self.schema_values)
                if (v.column is not None and v.column == column)
                or (v.column is None and v.name and type_class == "number")
            ]
            self._literal_cache[key] = np.concatenate([fits, np.asarray(standing, dtype=np.int64)])
        return self._literal_cache[key]

    def span_starts(self, type_class: str, column: int | None, *, partial: bool) -> NDArray[np.int64]:
        """Flat ids of the tokens at which free text for a comparison may begin; `partial` if a part of a value will do.

        Spans begin at the beginning of words, and not where a text candidate begins: one literal has one derivation. A
        candidate that is but the beginning of a code, as 009 is of 009-1746, does not count.
        If the question names a value that the column is known to hold, whole values are not spelled out at all.
        """
        key = (type_class, column, partial)
        if key not in self._start_cache:
            actions = self.literal_ids(type_class, column)
            candidates = [
                self.candidates[a - self.offsets[CANDIDATE]]
                for a in actions
                if a < self.offsets[CANDIDATE + 1]
            ]
            taken = {self.barred_start(c) for c in candidates}
            known = not partial and any(c.columns for c in candidates)
            tokens = [] if known else [t for t in self.word_starts if int(self.tokens[t, 0]) not in taken]
            self._start_cache[key] = np.asarray(tokens, dtype=np.int64) + self.offsets[START]
        return self._start_cache[key]

    def barred_start(self, candidate: Candidate) -> int | None:
        """The character at which no span may begin where a candidate fits; None where it bars none."""
        spelled = candidate.kind == "text" and not _JOINED.match(self.text, candidate.span[1])
        return candidate.span[0] if spelled else None

    def span_ends(self, start: int, longest: int) -> NDArray[np.int64]:
        """Flat ids of the tokens at which a span from token `start` may end: the ends of words."""
        ends = [t for t in self.word_ends if start <= t < start + longest]
        # A word of more tokens than that ends where the limit is.
        ends = ends or [min(start + longest, len(self.tokens)) - 1]
        return np.asarray(ends, dtype=np.int64) + self.offsets[END]

    @property
    def offers_text(self) -> bool:
        """Whether there is a text candidate, or a word to spell one out."""
        return len(self.text_ids) > 0 or len(self.word_starts) > 0

    @cached_property
    def word_starts(self) -> tuple[int, ...]:
        """Tokens that begin a word."""
        return tuple(t for t, (start, _) in enumerate(self.tokens) if not _within_word(self.text, int(start)))

    @cached_property
    def word_ends(self) -> tuple[int, ...]:
        """Tokens that end a word."""
        return tuple(t for t, (_, end) in enumerate(self.tokens) if not _within_word(self.text, int(end)))

    @cached_property
    def _start_cache(self) -> dict[tuple[str, int | None, bool], NDArray[np.int64]]:
        return {}

    @cached_property
    def _literal_cache(self) -> dict[tuple[str, int | None], NDArray[np.int64]]:
        return {}

    def _candidate_ids(self, keep: object) -> NDArray[np.int64]:
        assert callable(keep)
        base = self.offsets[CANDIDATE]
        return np.asarray([base + i for i, c in enumerate(self.candidates) if keep(c)], dtype=np.int64)


def can_hold_time(type_class: str) -> bool:
    """Whether a column of this class can hold a time: SQLite keeps times as text, and some schemas name no type."""
    return type_class in ("time", "text", "other")


def takes_span(type_class: str) -> bool:
    """Whether an expression of this class may be compared with free text of the question."""
    return type_class in ("text", "other")


_SPACED = 0x2E80
"""Characters from here on are of scripts that write words without spaces (CJK radicals and beyond)."""


def _within_word(text: str, position: int) -> bool:
    """Whether a position lies between two letters or digits of one word."""
    sides = text[position - 1 : position + 1] if position else ""
    return len(sides) == 2 and all(c.isalnum() and ord(c) < _SPACED for c in sides)


def _fits(candidate: Candidate, type_class: str, column: int | None) -> bool:
    if candidate.columns:
        return column in candidate.columns
    if type_class == "number":
        return candidate.kind == "number"
    if type_class == "time":
        return candidate.kind in ("date", "text")
    return True


def _check_turns(turns: Sequence[Turn], limits: Limits) -> None:
    for name, count in (("turns", len(turns)), ("turn_entries", sum(turn.entries for turn in turns))):
        if count > getattr(limits, name):
            raise LimitError.exceeded(name, count, getattr(limits, name), where="earlier turns")
