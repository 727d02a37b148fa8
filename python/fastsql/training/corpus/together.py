"""Turns of a conversation read together with those that they go on from: one text, and a query that stands by itself.

"Patients with pneumonia this year; only the women" is what a question and the turn after it ask. Whoever reads both as one
question links the words of either to the schema, where a turn by itself knows the earlier query alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from fastsql.grammar.compile import load_grammar
from fastsql.grammar.inlining import inline, turns_of
from fastsql.grammar.program import Program
from fastsql.linking.turns import asked_together
from fastsql.schema import Schema
from fastsql.training.batches.conversations import earlier_turns
from fastsql.training.corpus.sample import Sample


def together(samples: Sequence[Sample], schemas: Mapping[str, Schema], share: float) -> Iterator[Sample]:
    """The samples that go on from earlier turns, as one question with these; an epoch shows them `share` times as often.

    The text begins with the first turn that a sample goes on from, be it by way of others. It has all that was asked since:
    what a turn in between said is known to whoever asks, whether or not its query is pointed at.
    """
    grammar = load_grammar()
    for sample in samples:
        programs = [program for _, program in sample.earlier]
        first = _first_gone_on_from(sample.program, programs)
        if first is None:
            continue
        schema = schemas[sample.pair.db_id]
        turns = [one.turn for one in earlier_turns(programs, schema)]
        asked = (*(question for question, _ in sample.earlier[first:]), sample.pair.question)
        pair = replace(
            sample.pair, id=f"{sample.pair.id} together", question=asked_together(asked), earlier=()
        )
        program = inline(sample.program, turns, schema, grammar)
        yield replace(sample, pair=pair, program=program, earlier=(), weight=share * sample.weight)


def _first_gone_on_from(program: Program, earlier: Sequence[Program]) -> int | None:
    """The first turn that a program goes on from, directly or by way of others; None where it stands alone."""
    found = ((number, _first_gone_on_from(earlier[number], earlier)) for number in turns_of(program))
    return min((number if further is None else further for number, further in found), default=None)
