"""What is promised of every family: its SQL fits the grammar and mostly says something, and its words hold its literals."""

from __future__ import annotations

import importlib
import random
import re
from pathlib import Path

import pytest

import fastsql.synthesis.hospital as room
from fastsql.evaluation.skeleton import skeleton
from fastsql.grammar import render, sql_to_program
from fastsql.linking import find_candidates, gold_literals, literal_recall
from fastsql.schema import Schema
from fastsql.synthesis.checks import says_something
from fastsql.synthesis.hospital.families import FAMILIES
from fastsql.synthesis.hospital.family import Draw, ask
from fastsql.synthesis.hospital.ward import Ward

DRAWS = 4
SELDOM = ("Organism.draw", "Together.draw", "NewNames.draw")
"""What happens to few patients: generating tries 45 of them."""
FOLDERS = ("events", "course", "population")
NAMED = {draw.__qualname__: draw for _, draw in FAMILIES}


@pytest.mark.parametrize("draw", NAMED.values(), ids=NAMED)
def test_a_family_keeps_what_is_promised(draw: Draw, ward: Ward, schema: Schema) -> None:
    says = 0
    for number in range(DRAWS):
        question = draw(random.Random(f"{number}"), ward.values(random.Random(f"{number}/values")))
        sql = question.sql()
        rows = ward.run(sql, number)
        again = ward.run(render(sql_to_program(sql, schema), schema), number)
        assert sorted(map(repr, again)) == sorted(map(repr, rows)), sql
        says += says_something(sql, rows)
        text = ask(question, random.Random(number))
        found = literal_recall(gold_literals(sql, schema), text, find_candidates(text, schema), schema)
        assert not found.missing, text
    assert says or draw.__qualname__ in SELDOM


@pytest.mark.parametrize("draw", NAMED.values(), ids=NAMED)
def test_structure_does_not_depend_on_values(draw: Draw, ward: Ward) -> None:
    for number in range(DRAWS):
        one, other = (
            draw(random.Random(number), ward.values(random.Random(f"{number}/{side}"))) for side in "ab"
        )
        assert _form(one.sql()) == _form(other.sql())


def _form(sql: str) -> str:
    """The skeleton; the bounds of normal are named after the item."""
    return re.sub(r"\w+_(lower|upper)", r"\1", skeleton(sql))


def test_every_file_of_a_family_is_listed() -> None:
    folder = Path(room.__file__).parent
    files = {
        f"{room.__name__}.{name}.{path.stem}"
        for name in FOLDERS
        for path in (folder / name).glob("*.py")
        if path.stem != "__init__"
    }
    listed = {draw.__module__ for _, draw in FAMILIES}
    assert listed == files
    assert all(importlib.import_module(name).__doc__ for name in files)
