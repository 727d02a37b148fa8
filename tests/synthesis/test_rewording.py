"""Questions are chosen among a source's own wordings and the reverse model's; queries stay as they are."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray

from fastsql.datasets import Example
from fastsql.grammar.program import Program
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate_drawn
from fastsql.synthesis.rewording import RewordedSource
from fastsql.synthesis.round_trip import FLAG, came_back, with_round_trip
from fastsql.synthesis.source import Draft, Trial

from ..worlds.toy_reverse import SCHEMA, make_model

SQL = "SELECT patients.age FROM patients WHERE patients.gender = 'f'"
USUAL = (
    "How old are patients of gender f?",
    "How old is each patient of gender f?",
    "Ages where the gender is f?",
)
ODD = "Whatever f"


class Ward:
    """A source of one query, whose ways to ask are alike but for an odd one."""

    db_id = "ward"
    schema: Schema = SCHEMA

    def __init__(self, sql: str = SQL) -> None:
        self.sql = sql

    def draw(self, seed: str) -> Draft:
        return Draft("Ages", self.sql, seed, lambda rng: rng.choice((*USUAL, ODD)))

    def trials(self, draft: Draft) -> Iterator[Trial]:
        yield Trial(draft.sql, lambda sql: [(1,)])


def embed(sentences: Sequence[str]) -> NDArray[np.float64]:
    """What has more words in common is nearer."""
    words = sorted({word for one in (*USUAL, ODD) for word in one.lower().split()})
    return np.array([[word in one.lower().split() for word in words] for one in sentences], dtype=np.float64)


def test_what_most_wordings_say_is_asked_first_and_the_odd_one_not() -> None:
    for seed in range(5):
        draft = RewordedSource(Ward(), embed, None, wordings=30).draw(str(seed))
        asked = [draft.ask(random.Random(seed)) for _ in range(3)]
        assert asked[0] in USUAL
        assert len(set(asked)) == 3


def test_the_same_seeds_ask_the_same_questions() -> None:
    source = RewordedSource(Ward(), embed, make_model().over(SCHEMA), wordings=3)
    one, again = (source.draw("7").ask(random.Random(3)) for _ in range(2))
    assert one == again


class Parrot:
    """A reverse model that says what it was taught."""

    def __init__(self, *questions: str) -> None:
        self.taught = questions
        self.real = make_model().over(SCHEMA)

    def questions(self, programs: Sequence[Program], n: int, **options: object) -> list[list[str]]:
        return [list(self.taught)]

    def left_out(self, question: str, program: Program) -> tuple[float, float]:
        return self.real.left_out(question, program)


def test_only_wordings_of_the_reverse_model_that_say_every_value_are_offered() -> None:
    heard: list[str] = []

    def listen(sentences: Sequence[str]) -> NDArray[np.float64]:
        heard.extend(sentences)
        return embed(sentences)

    parrot = Parrot("what age have patients of gender f ?", "what age have patients of that gender?", "")
    RewordedSource(Ward(), listen, parrot, wordings=4).draw("1").ask(random.Random(1))  # type: ignore[arg-type]
    assert [one for one in heard if one not in (*USUAL, ODD)] == [parrot.taught[0]]
    assert set(heard) & set(USUAL)


def test_a_query_that_the_grammar_lacks_keeps_its_own_wordings() -> None:
    source = RewordedSource(Ward("SELECT RANDOMBLOB(4) FROM patients"), embed, make_model().over(SCHEMA))
    assert source.draw("1").ask(random.Random(1)) in (*USUAL, ODD)


@pytest.mark.parametrize("wordings", [1, 2])
def test_a_query_gets_as_many_questions_as_are_asked_for(wordings: int) -> None:
    pairs = generate_drawn(RewordedSource(Ward(), embed, None, wordings=30), 5, wordings=wordings)
    assert [pair.sql for pair in pairs] == [SQL] * wordings
    assert len({pair.question for pair in pairs}) == wordings


PAIR = Example("1", "ward", USUAL[0], SQL)


def test_a_pair_whose_query_comes_back_in_other_words_passes() -> None:
    (pair,) = with_round_trip(
        [PAIR], lambda question: "select p.age from patients as p where 'f' = p.gender", SCHEMA
    )
    assert pair.extra[FLAG] is True
    assert came_back(pair)
    assert replace(pair, extra={}) == PAIR


@pytest.mark.parametrize(
    "best", [None, "SELECT patients.age FROM patients", "SELECT age FROM", "DROP TABLE patients"]
)
def test_a_pair_whose_query_does_not_come_back_is_marked(best: str | None) -> None:
    (pair,) = with_round_trip([PAIR], lambda question: best, SCHEMA)
    assert pair.extra[FLAG] is False
    assert not came_back(pair)


def test_a_question_without_an_answer_is_not_parsed() -> None:
    def parse(question: str) -> str:
        raise AssertionError(question)

    (pair,) = with_round_trip([replace(PAIR, sql=None)], parse, SCHEMA)
    assert came_back(pair)
    assert FLAG not in pair.extra
