"""Turns of a conversation as one question with those that they go on from."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Production, Program, TurnRef
from fastsql.grammar.render import render
from fastsql.linking.turns import asked_together
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.split import Pair
from fastsql.training.corpus.together import together

from ...worlds.shop import shop_schema

SHOP = shop_schema()
PEOPLE = sql_to_program("SELECT customer_id FROM customer WHERE home_town = 'Lyon'", SHOP)
TOWNS = sql_to_program("SELECT DISTINCT home_town FROM customer", SHOP)
COUNT: Program = (Production("extend"), TurnRef(0), Production("count_all"), Production("end"))


def sample(question: str, program: Program, *earlier: tuple[str, Program], weight: float = 2.0) -> Sample:
    pair = Pair(f"talk/{len(earlier)}", question, "", "shop", "talk")
    return Sample(pair, program, (), weight, earlier)


def test_a_turn_is_asked_with_those_that_it_goes_on_from() -> None:
    first, between = ("Who lives in Lyon?", PEOPLE), ("Which towns are there?", TOWNS)
    turn = sample("And how many are they?", COUNT, first, between)
    (found,) = together([turn], {"shop": SHOP}, 0.25)
    assert found.pair.question == "Who lives in Lyon; Which towns are there; And how many are they?"
    assert render(found.program, SHOP) == "SELECT COUNT(*) FROM customer WHERE customer.home_town = 'Lyon'"
    assert (found.earlier, found.weight) == ((), 0.5)
    assert found.pair.id != turn.pair.id
    assert found.pair.interaction == "talk", "what is held out with its conversation is"


def test_a_turn_that_goes_on_by_way_of_another_begins_with_the_first() -> None:
    earlier = [("towns?", TOWNS), ("Who lives in Lyon?", PEOPLE), ("how many?", _moved(COUNT, 1))]
    (found,) = together([sample("double", _moved(COUNT, 2), *earlier)], {"shop": SHOP}, 1.0)
    assert found.pair.question == "Who lives in Lyon; how many; double"


def test_what_stands_alone_is_asked_alone() -> None:
    alone = sample("Which towns are there?", TOWNS, ("Who lives in Lyon?", PEOPLE))
    assert not list(together([alone, sample("Who?", PEOPLE)], {"shop": SHOP}, 1.0))


def test_questions_in_any_language_are_joined() -> None:
    assert asked_together(["病人有多少？", "女性呢？"]) == "病人有多少; 女性呢？"
    assert asked_together(["only this?"]) == "only this?"
    assert asked_together(["...", "so"]) == "; so"


def _moved(program: Program, turn: int) -> Program:
    return tuple(TurnRef(turn) if isinstance(one, TurnRef) else one for one in program)
