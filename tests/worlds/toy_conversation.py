"""Conversations with a toy model: what it decodes for each question is a turn to the questions after it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from fastsql.engine import Decoded, Engine
from fastsql.grammar import ActionSpace, Program, read_path, read_turn, sql_to_program
from fastsql.grammar.actions import STEP, TURN
from fastsql.limits import Limits
from fastsql.linking.prepare import Prepared
from fastsql.linking.turns import EarlierTurn
from fastsql.model.config import ModelConfig

from . import toy_bundle
from .toy_model import SCHEMA

LIMITS = Limits(actions=40)
QUESTIONS = (*toy_bundle.QUESTIONS, "only those of type urgent", "how many of these are there?", "and of A2?")
FOND = {
    "end": 5.0,
    "eq": 2.0,
    "count": 2.0,
    "in_list": 1.0,
    "previous": 8.0,
    "extend": 7.0,
    "extend_from": 4.0,
    "in_previous": 4.0,
    "keep": 1.0,
    "sort_rows": 3.0,
}
"""What is added to scores of productions, so that earlier turns come up."""
SAID = (
    "SELECT subject_id, gender FROM patients WHERE gender = 'f'",
    "SELECT t.n, t.subject_id FROM (SELECT subject_id, COUNT(*) AS n FROM admissions GROUP BY subject_id) AS t",
    "SELECT T1.dob FROM patients AS T1 JOIN patients AS T2 ON T1.gender = T2.gender WHERE T2.subject_id = 5",
)
"""Queries of earlier turns: with a literal, from a derived table, and from one table twice."""


@dataclass(frozen=True, eq=False)
class Asked:
    """A question of a conversation, and what an engine made of it."""

    prepared: Prepared
    space: ActionSpace
    decoded: Decoded
    program: Program
    turn: EarlierTurn


def earlier_turns(d: int, queries: Sequence[str] = SAID, seed: int = 0) -> tuple[EarlierTurn, ...]:
    """Turns of these queries, as if a model of width `d` had read their questions; the second may not be pointed at."""
    space = ActionSpace.for_question(SCHEMA, "?", np.asarray([[0, 1]], dtype=np.int32))
    pooled = np.random.default_rng(seed).normal(size=(len(queries), d)).astype(np.float32)
    turns = [read_turn(sql_to_program(sql, SCHEMA), space) for sql in queries]
    return tuple(
        EarlierTurn(replace(turn, usable=number != 1), row)
        for number, (turn, row) in enumerate(zip(turns, pooled, strict=True))
    )


def count_pointers(space: ActionSpace, actions: Iterable[int]) -> tuple[int, int]:
    """How many actions point at turns, and how many at what turns offer."""
    located = [space.locate(action) for action in actions]
    entries = sum(kind == STEP and index >= space.limits.actions for kind, index in located)
    return sum(kind == TURN for kind, _ in located), entries


def write_bundle(folder: Path, *, seed: int = 3, config: ModelConfig | None = None) -> Path:
    """A toy bundle that reads earlier turns."""
    sizes = (config or toy_bundle.make_config()).with_turns()
    return toy_bundle.write_bundle(folder, seed=seed, config=sizes, likely=FOND)


def space_of(prepared: Prepared) -> ActionSpace:
    """The action space of a linked question and the turns before it."""
    return ActionSpace.for_question(
        SCHEMA,
        prepared.text,
        prepared.offsets,
        prepared.candidates,
        limits=LIMITS,
        turns=[turn.turn for turn in prepared.turns],
    )


def converse(
    engine: Engine,
    questions: Sequence[str] = QUESTIONS,
    *,
    turns: Sequence[EarlierTurn] = (),
    beam: int = 3,
) -> Iterator[Asked]:
    """Asks one after the other, behind these `turns`; every third question's turn may not be pointed at."""
    schema = engine.encode_schema(SCHEMA)
    for number, question in enumerate(questions):
        prepared = engine.link(question, schema, None, turns)
        space = space_of(prepared)
        decoded = engine.decode(prepared, schema, space, beam)
        program = read_path(decoded.search.finished[0].path, space)
        turn = EarlierTurn(read_turn(program, space, usable=number % 3 != 2), decoded.pooled)
        yield Asked(prepared, space, decoded, program, turn)
        turns = (*turns, turn)
