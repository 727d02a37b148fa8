"""A remembered pair, and its query with the literals that another question has in the places of its own."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import islice, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.actions import CANDIDATE, END, START
from fastsql.grammar.grounding import is_grounded
from fastsql.grammar.matching import matches
from fastsql.grammar.program import Literal, Program, Terminal
from fastsql.grammar.readback import read_path
from fastsql.grammar.trace import trace_program
from fastsql.grammar.transitions import GroundingError, fill_in, transitions
from fastsql.linking.canonical import compared_columns
from fastsql.memory.wording import Gaps, Span, Word, Wording, covered, words_of

if TYPE_CHECKING:
    from fastsql.grammar.space import ActionSpace
    from fastsql.linking.candidate import Candidate

_MOST_CHOICES = 32
"""Of literals to stand in the gaps: more than one that can is unclear already."""
_OF_COLUMN = ("dictionary", "schema")
"""Sources of literals that are known to be values of their column."""
_PLAIN = re.compile(r"[^\s\u2e80-\u9fff\uf900-\ufaff]+")
"""What may be a literal though nothing says so: text without blanks, of a script that has them."""


@dataclass(frozen=True, repr=False, eq=False)
class Example:
    """A remembered pair. It holds the question's literals: neither its `repr` nor any error shows them.

    Attributes:
        question: as it was asked.
        sql: as it was confirmed.
        program: the query of `sql`; its literals have the spans of the question that they were read from.
        spans: these spans, each once.
        wording: the question with a gap for each of them, in order; None where the question does not say all literals, or
            it is unclear where. Then the pair speaks for a query that the model finds, and supplies none.
        vector: float32[d], the direction of the question's vector, literals masked.
    """

    question: str
    sql: str
    program: Program
    spans: tuple[Span, ...]
    wording: Wording | None
    vector: NDArray[np.float32]

    @classmethod
    def of(cls, question: str, sql: str, program: Program, space: ActionSpace) -> Example:
        """A pair whose question has this action space, its vector still to be made."""
        vector = np.zeros(0, np.float32)
        try:
            program = read_path(path_of(program, space), space)
        except GroundingError:
            return cls(question, sql, program, (), None, vector)
        literals = [item for item in program if isinstance(item, Literal)]
        spans = tuple(dict.fromkeys(one.span for one in literals if one.span is not None))
        return cls(question, sql, program, spans, Wording.of(space.text, spans), vector)

    @cached_property
    def asked(self) -> str:
        """What tells whether another pair has the same question."""
        return asked_as(self.question)

    def paths(self, space: ActionSpace, named: Sequence[bool]) -> Iterator[tuple[int, ...]]:
        """Its query for another question, as all its actions: none unless that says the same but for literals; several
        if it is unclear which these are.

        `space` is that of the question, `named` tells which of its tokens name something of the schema.
        """
        words = words_of(space.text)
        for gaps in () if self.wording is None else self.wording.ways(words):
            choices = product(*self._choices(gaps, words, space, named))
            for program in islice(choices, _MOST_CHOICES):
                try:
                    path = path_of(program, space)
                except GroundingError:  # not of the column's type, or no literal of this question
                    continue
                if _exists(path, space):
                    yield path

    def _choices(
        self, gaps: Gaps, words: Sequence[Word], space: ActionSpace, named: Sequence[bool]
    ) -> list[list[Terminal]]:
        """For each terminal of the program, those that may stand in its place: itself, or literals of the other question."""
        found: list[list[Terminal]] = []
        for item, column in zip(self.program, compared_columns(self.program), strict=True):
            if not isinstance(item, Literal) or item.span is None:
                found.append([item])
                continue
            first, last = gaps[self.spans.index(item.span)]
            span = (words[first].start, words[last - 1].end)
            said = space.text[slice(*span)]
            if said == self.question[slice(*item.span)]:
                found.append([item])
                continue
            fitting = [
                one
                for one in space.candidates
                if covered(words, one.span) == (first, last) and _takes_the_place(one, item, column)
            ]
            of_column = [one for one in fitting if one.columns]
            values = {str(one.value): one.value for one in of_column or fitting}
            if item.provenance == "span" and not values and _PLAIN.fullmatch(said):
                values = {} if _names(span, space, named) else {said: said}
            found.append([Literal(value, item.format) for value in values.values()])
        return found


def asked_as(question: str) -> str:
    """The same for questions that differ in white space and the case of letters alone."""
    return " ".join(question.casefold().split())


def path_of(program: Program, space: ActionSpace) -> tuple[int, ...]:
    """All actions that write a program. Raises GroundingError where the space cannot express it."""
    return fill_in(trace_program(program, space).actions.tolist(), space)


def _takes_the_place(candidate: Candidate, literal: Literal, column: int | None) -> bool:
    """Whether a candidate is no guess, and of the form and column of a literal; for a value of the column, another."""
    if candidate.distance or candidate.format != literal.format:
        return False
    return column in candidate.columns or (not candidate.columns and literal.provenance not in _OF_COLUMN)


def _names(span: Span, space: ActionSpace, named: Sequence[bool]) -> bool:
    """Whether a token within a span names something of the schema."""
    return any(
        names and start < span[1] and span[0] < end
        for names, (start, end) in zip(named, space.tokens.tolist(), strict=True)
    )


def _exists(path: Sequence[int], space: ActionSpace) -> bool:
    """Whether the literals of a path exist, as far as that is known."""
    return all(
        is_grounded(state, action) and matches(state, action)
        for state, action, _, _ in transitions(path, space)
        if space.locate(action)[0] in (CANDIDATE, START, END)
    )


def plain(program: Program) -> Program:
    """A program without the provenance of its literals, numbers as text: equal where the query is."""
    return tuple(
        Literal(str(item.value), item.format, item.name) if isinstance(item, Literal) else item
        for item in program
    )
