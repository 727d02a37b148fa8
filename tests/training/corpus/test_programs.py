from __future__ import annotations

import json

import pytest

from fastsql.grammar import Literal
from fastsql.grammar.program import masked
from fastsql.training.corpus.programs import dump_program, parse_program, template

from ...worlds.training_ward import FIRST, JULY, SINCE, doses, examples, program

PATIENT = 10_004_235
SQL = [row["sql"] for row in examples() if row["sql"]] + [
    doses(PATIENT, "aspirin", time=JULY),
    doses(PATIENT, "aspirin", FIRST, SINCE),
]


@pytest.mark.parametrize("sql", SQL[:6] + SQL[-2:])
def test_a_program_survives_a_file(sql: str) -> None:
    assert parse_program(dump_program(program(sql))) == program(sql)


@pytest.mark.parametrize("text", ["[[]]", '[["@table", "x"]]', "[[1, 2]]", "[["])
def test_a_text_of_another_form_is_no_program(text: str) -> None:
    with pytest.raises(ValueError, match=r"terminal|JSON|Expecting"):
        parse_program(text)


def test_a_template_has_no_literals() -> None:
    assert masked(program(doses(PATIENT, "aspirin"))) == masked(program(doses(7, "heparin")))
    assert masked(program(doses(7, "heparin"))) != masked(program(doses(7, "heparin", time=SINCE)))
    assert Literal("") in masked(program(doses(7, "heparin")))
    assert template(program(doses(PATIENT, "aspirin"))) == template(program(doses(7, "heparin")))


def test_dumped_programs_are_one_line_of_json() -> None:
    text = dump_program(program(SQL[0]))
    assert "\n" not in text
    assert isinstance(json.loads(text), list)
