"""Conversations of a data set, whose turns come as queries that stand alone, in the language of turns."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field

from fastsql.datasets import Example
from fastsql.datasets.interactions import Interaction as Recorded
from fastsql.grammar import (
    ConversionError,
    GroundingError,
    IllegalActionError,
    load_grammar,
    render,
    sql_to_program,
)
from fastsql.grammar import Turn as GrammarTurn
from fastsql.grammar.program import Program
from fastsql.grammar.turn_kinds import kinds_of
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.synthesis.interactions.canonical import canonical
from fastsql.synthesis.interactions.checks import Checker
from fastsql.synthesis.interactions.interaction import Interaction, Turn
from fastsql.synthesis.interactions.referring import INDEPENDENT, Referrer

_NOTES = 10
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Converted:
    """What came of a set.

    Attributes:
        interactions: those that have a turn left.
        first: turns that nothing comes before.
        ways: how the others are said (`referring.WAYS`).
        skipped: turns that were left out, by reason.
        held_out: interactions over databases that are held out.
    """

    interactions: tuple[Interaction, ...]
    first: int = 0
    ways: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    held_out: int = 0


def convert_conversations(
    recorded: Sequence[Recorded],
    schemas: Mapping[str, Schema],
    *,
    held_out: Collection[str] = (),
    report: Report = logger.info,
) -> Converted:
    """The conversations with every turn said by what it shares with those before it, if that is shorter.

    A turn without SQL, or with SQL that the grammar cannot say, is counted and left out; those behind it do not refer to it.
    `held_out`: databases whose conversations are left out.
    """
    made: list[Interaction] = []
    ways: Counter[str] = Counter()
    skipped: Counter[str] = Counter()
    first = left_out = 0
    for number, one in enumerate(recorded):
        if one.db_id in held_out:
            left_out += 1
            continue
        checker = Checker(schemas[one.db_id])
        conversation = _Conversation(checker)
        for example in one.turns:
            way = conversation.add(example, skipped)
            if way is not None and len(conversation.turns) > 1:
                ways[way] += 1
        if conversation.turns:
            first += 1
            made.append(Interaction(one.id, one.db_id, tuple(conversation.turns)))
        if (number + 1) % -(-len(recorded) // _NOTES) == 0:
            report(f"{number + 1} of {len(recorded)} conversations read")
    return Converted(tuple(made), first, ways, skipped, left_out)


class _Conversation:
    """The turns of one conversation so far."""

    def __init__(self, checker: Checker) -> None:
        self.turns: list[Turn] = []
        self._checker = checker
        self._referrer = Referrer(load_grammar())
        self._earlier: list[GrammarTurn] = []

    def add(self, example: Example, skipped: Counter[str]) -> str | None:
        """Adds a turn; how it is said, or None where it is left out."""
        if example.sql is None:
            skipped["no SQL"] += 1
            return None
        schema = self._checker.schema
        try:
            plain = sql_to_program(example.sql, schema)
        except ConversionError:
            skipped["its query is beyond the grammar"] += 1
            return None
        for way, program in self._referrer.ways(plain):
            try:
                turn = self._checker.fits(program, self._earlier)
            except (GroundingError, IllegalActionError):
                continue
            grammar = load_grammar()
            if way != INDEPENDENT and canonical(turn.program, grammar) != canonical(plain, grammar):
                continue  # `*` of other tables, say
            self._referrer.add(plain)
            self._take(example.question, program, turn)
            return way
        skipped["its query cannot be written"] += 1
        return None

    def _take(self, question: str, program: Program, turn: GrammarTurn) -> None:
        kinds = kinds_of(program, [one.program for one in self.turns])
        self.turns.append(Turn(question, program, render(turn.program, self._checker.schema), kinds))
        self._earlier.append(turn)
