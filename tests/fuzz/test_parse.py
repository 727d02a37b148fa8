"""Whatever is asked over whatever schema: a sound result with verified SQL or none, or a typed error that keeps silent.

``FASTSQL_FUZZ_SECONDS`` says how long, ``FASTSQL_FUZZ_SEED`` which cases.
"""

from __future__ import annotations

import os

import pytest

from fastsql import Parser, Schema, ValueDictionary
from fastsql.errors import ModelError, VerificationError
from fastsql.execution import verify

from .check import BrokenPromiseError, Case, fuzz
from .questions import MARKER

SECONDS = float(os.environ.get("FASTSQL_FUZZ_SECONDS", "10"))
SEED = int(os.environ.get("FASTSQL_FUZZ_SEED", "0"))


def test_parse_keeps_its_promises(toy: Parser) -> None:
    ended = fuzz(toy, SEED, SECONDS)
    assert ended["answered"] > 0.3 * ended.total(), ended
    assert ended["SchemaError"], ended
    assert ended["refused"], ended


def test_a_case_is_the_same_whenever_it_is_drawn() -> None:
    cases = [Case.draw(7, number) for number in range(100)]
    assert [repr(Case.draw(7, number)) for number in range(100)] == [repr(case) for case in cases]
    assert len({case.question for case in cases}) > 80
    assert len({repr(case.source) for case in cases}) > 10
    assert sum(MARKER in case.question.casefold() for case in cases) > 80


@pytest.mark.parametrize("sql", ["SELECT nothing FROM nowhere", "SELECT 1; DROP TABLE t", "SELECT"])
def test_a_broken_promise_is_found(toy: Parser, monkeypatch: pytest.MonkeyPatch, sql: str) -> None:
    monkeypatch.setattr("fastsql.parser.write.render", lambda *a, **k: sql)
    with pytest.raises(BrokenPromiseError, match=r"case \d+ of seed 0") as found:
        fuzz(toy, 0, 60)
    assert MARKER not in str(found.value)


def test_a_repeated_question_is_found(toy: Parser, monkeypatch: pytest.MonkeyPatch) -> None:
    def parse(question: str, *arguments: object, **options: object) -> None:
        raise ModelError(f"cannot read {question!r}")

    monkeypatch.setattr(toy, "parse", parse)
    with pytest.raises(BrokenPromiseError, match="AssertionError"):
        fuzz(toy, 0, 60)


def test_values_that_no_sql_can_hold_are_not_written(toy: Parser) -> None:
    schema = Schema.from_dict({"ward": {"name": "TEXT"}})
    values = ["a\0b", "\ud800", "a b"]
    dictionary = ValueDictionary.from_mapping({("ward", "name"): values}, schema)
    assert len(dictionary) == 1
    for question in values:
        assert toy.parse(f"who has name '{question}' on the ward", schema, values=dictionary).sql


def test_a_date_and_a_time_make_a_moment_in_mysql() -> None:
    schema = Schema.from_dict({"ward": {"day": "DATE", "clock": "TIME"}})
    sql = "SELECT TIMESTAMP(`ward`.`day`, `ward`.`clock`) FROM `ward`"
    verify(sql, schema, dialect="mysql")
    with pytest.raises(VerificationError):
        verify(sql.replace("`", '"'), schema)
