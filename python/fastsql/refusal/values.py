"""Values that a question says and no dictionary holds, with those that are written alike.

A search passes over literals that do not exist, so its hypotheses hold none. What the model would rather have said is in the
hypothesis of a search that may say anything: there a column that is known whole equals what it does not hold.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from fastsql.grammar.grounding import EQUATES
from fastsql.grammar.program import ColumnRef, Literal, Production, Program
from fastsql.linking.canonical import compared_columns
from fastsql.linking.dictionary import SMALL
from fastsql.linking.relations import split_words
from fastsql.refusal.suggestions import NearValue, Span, UnknownValue
from fastsql.refusal.texts import listed, quoted, sentence

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema

_SAID = ("span", "quoted")
"""Provenances of words that were taken for a value; numbers and dates are compared with more than values."""
_LIKE, _SLIP = 0.34, 0.15
"""The distance (`fastsql.linking.nearness`) of values that are like what a column was to hold, and of slips of the pen: what
may be in any column has to be nearer, as among all values something is always a little like it."""
_SHORTEST = 6
"""Characters of the shortest words that are taken for misspelt: of shorter ones something is a slip away."""
_MOST_NEAR = 3
_MOST_COLUMNS = 2
"""Columns that are named for one value."""


@dataclass(frozen=True)
class Absent:
    """Words that a hypothesis compares with a column of the schema which does not hold them."""

    words: str
    span: Span
    column: int


@dataclass(frozen=True)
class Values:
    """The values of a dictionary, as sentences about a schema quote them."""

    dictionary: ValueDictionary
    schema: Schema
    language: str

    def unknown(self, absent: Absent, *, sure: bool) -> UnknownValue | None:
        """What there is like `absent`, in its column or else anywhere; None where there is nothing to say.

        `sure` tells whether that column, of all, was to hold it.
        """
        column = self.schema.qualified_name(absent.column)
        near = self._nearest(absent.words, absent.column, _LIKE if sure else _SLIP)
        if near:
            return self._told("near value", absent, near, column)
        held = self._holders(absent.words)
        if held:
            return self._told("held elsewhere", absent, held, column) if sure else None
        return self.misspelt(absent.words, absent.span)

    def misspelt(self, words: str, span: Span) -> UnknownValue | None:
        """Values of any column that a slip of the pen makes of `words`; None where there are none."""
        count = len(split_words(words))
        near = tuple(
            one
            for one in (self._nearest(words, None, _SLIP) if len(words) >= _SHORTEST else ())
            if len(split_words(one.value)) == count
        )
        return self._told("near elsewhere", Absent(words, span, -1), near, "") if near else None

    def known(self, words: str) -> bool:
        """Whether a value is what `words` say, in the singular or the plural."""
        return bool(self._holders(words)) or bool(self._holders(words.removesuffix("s")))

    def _holders(self, words: str) -> tuple[NearValue, ...]:
        """Values that `words` say, but for letter case and punctuation."""
        whole = [match for match in self.dictionary.match(words) if match.end - match.start == len(words)]
        return tuple(self._near(value, columns) for match in whole for value, columns in match.values)

    def _nearest(self, words: str, column: int | None, farthest: float) -> tuple[NearValue, ...]:
        """The nearest values, nearest first; of one column, or of all."""
        if len(self.dictionary) > SMALL and not self.dictionary.has_near:
            return ()  # nobody waits for an index of so many values to hear why a question is refused
        found = self.dictionary.nearest(words, column, _MOST_NEAR)
        return tuple(self._near(one.value, one.columns) for one in found if one.distance <= farthest)

    def _near(self, value: str, columns: tuple[int, ...]) -> NearValue:
        return NearValue(value, tuple(map(self.schema.qualified_name, columns)))

    def _told(self, key: str, absent: Absent, near: tuple[NearValue, ...], column: str) -> UnknownValue:
        text = sentence(
            self.language,
            f"{key}, one" if len(near) == 1 and key != "held elsewhere" else key,
            words=quoted(self.language, absent.words),
            column=column,
            nearest=listed(self.language, [self._shown(one, column) for one in near]),
            where=near[0].columns[0],
        )
        return UnknownValue(text, absent.words, absent.span, column, near)

    def _shown(self, near: NearValue, column: str) -> str:
        """A value in quotation marks, with columns that hold it unless the sentence says in which one."""
        told = quoted(self.language, near.value)
        if column:
            return told
        where = listed(self.language, near.columns[:_MOST_COLUMNS])
        return sentence(self.language, "value in column", value=told, column=where)


def absent_values(program: Program, dictionary: ValueDictionary) -> tuple[Absent, ...]:
    """The literals of a program that do not exist, those of each place once; of columns that are known whole."""
    found: dict[Span, Absent] = {}
    for literal, column in equated(program):
        if literal.span is None or literal.provenance not in _SAID or column not in dictionary.whole:
            continue
        words = str(literal.value)
        if dictionary.canonical(column, words) is None:
            found.setdefault(literal.span, Absent(words, literal.span, column))
    return tuple(found.values())


def is_misspelt(value: UnknownValue) -> bool:
    """Whether the nearest value of the column has as many words, so that it may well have been meant."""
    nearest = value.nearest[0]
    as_many = len(split_words(nearest.value)) == len(split_words(value.words))
    return as_many and value.column in nearest.columns


def mended(program: Program, values: tuple[UnknownValue, ...]) -> Program:
    """The program with the nearest value in the place of each that is unknown."""
    nearest = {value.span: value.nearest[0].value for value in values}
    return tuple(
        replace(one, value=nearest[one.span]) if isinstance(one, Literal) and one.span in nearest else one
        for one in program
    )


def equated(program: Program, comparisons: Collection[str] = EQUATES) -> Iterator[tuple[Literal, int]]:
    """The literals of a program that a column is to equal, with it; those of some productions."""
    comparison = ""
    for before, terminal, column in zip((None, *program), program, compared_columns(program), strict=False):
        if isinstance(before, Production) and isinstance(terminal, ColumnRef):
            comparison = before.name
        if isinstance(terminal, Literal) and column is not None and comparison in comparisons:
            yield terminal, column
