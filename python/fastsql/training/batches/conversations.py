"""A conversation as examples: every question with its gold query, the gold ones before it being its earlier turns."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from fastsql.grammar import ActionSpace, Program, read_turn, trace_program
from fastsql.grammar.walking import open_space
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.linking.turns import EarlierTurn
from fastsql.model.bundle import Bundle
from fastsql.model.tokenizer import Tokenizer
from fastsql.schema import Schema, names_digest
from fastsql.session.turn import Turn, TurnState
from fastsql.training.batches.batch import Instance

_UNREAD = np.zeros(0, dtype=np.float32)
"""What a question is pooled to before the network has read it."""


def earlier_turns(programs: Sequence[Program], schema: Schema) -> tuple[EarlierTurn, ...]:
    """What the programs of earlier turns are to a question after them, each of which may refer to those before it.

    Raises IllegalActionError or ProgramError where one is no program of the grammar.
    """
    turns: tuple[EarlierTurn, ...] = ()
    for program in programs:
        space = replace(open_space(schema), turns=tuple(one.turn for one in turns))
        turns = (*turns, EarlierTurn(read_turn(program, space), _UNREAD))
    return turns


def answered(
    read: Turn, earlier: EarlierTurn, written: Program, number: int, schema: Schema, bundle: Bundle
) -> Turn:
    """A turn that a parser of a bundle has read, as if it had been answered rightly.

    `earlier` is what its `written` program, which may refer to turns before, is to questions after it.
    """
    unread = np.zeros(bundle.config.model.d, dtype=np.float32)
    pooled = unread if read.state is None else read.state.earlier.pooled
    state = TurnState(replace(earlier, pooled=pooled), written, names_digest(schema), bundle.config.name)
    return replace(read, number=number, abstained=False, state=state)


def conversation(
    said: Sequence[tuple[str, Program]],
    links: SchemaLinks,
    tokenizer: Tokenizer,
    dictionary: ValueDictionary | None = None,
) -> Iterator[Instance]:
    """The examples of questions and programs in the order in which they were asked; programs may refer to those before.

    Raises GroundingError for a program that its question and the turns before do not let be written.
    """
    turns: tuple[EarlierTurn, ...] = ()
    earlier: tuple[np.ndarray[tuple[int, ...], np.dtype[np.int32]], ...] = ()
    for question, program in said:
        prepared = prepare(question, links, tokenizer, dictionary=dictionary, turns=turns)
        space = ActionSpace.for_question(
            links.schema,
            prepared.text,
            prepared.offsets,
            prepared.candidates,
            turns=[one.turn for one in turns],
        )
        yield Instance(prepared, trace_program(program, space), earlier)
        turns = (*turns, EarlierTurn(read_turn(program, space), _UNREAD))
        earlier = (*earlier, prepared.token_ids)
