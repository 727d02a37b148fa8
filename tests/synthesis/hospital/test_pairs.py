"""What is promised of synthetic pairs: they run, can be parsed to, are new, balanced, and the same for the same seed."""

from __future__ import annotations

import gzip
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.datasets import Example, read_examples
from fastsql.errors import ExecutionError
from fastsql.evaluation.skeleton import skeleton
from fastsql.execution.executor import DatabaseGoneError
from fastsql.grammar import render, sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.generate import generate
from fastsql.synthesis.hospital import Hospital
from fastsql.synthesis.hospital.ward import Ward

# What questions mean without writing it.
_UNWRITTEN = re.compile(
    r"%|start of |[+-]\d+ (year|month|day)$|(chart|input|output)events$|\w+_icd$|prescriptions$|labevents$|emergency room$"
    r"|daily weight$|arterial blood pressure|temperature celsius|o2 saturation|heart rate|respiratory rate"
)


def test_the_number_asked_for_is_made(pairs: list[Example]) -> None:
    assert 100 <= len(pairs) <= 120


def test_the_same_seed_gives_the_same_pairs(hospital: Hospital) -> None:
    assert generate(hospital, 12, seed=3) == generate(hospital, 12, seed=3)


def test_a_ward_that_goes_away_is_told_from_a_query_that_does_not_run() -> None:
    with Ward(patients=30) as own:
        with pytest.raises(ExecutionError, match="failed") as failed:
            own.run("SELECT hair FROM patients")
        assert not isinstance(failed.value, DatabaseGoneError)
        own.path.unlink()
        with pytest.raises(DatabaseGoneError, match="no longer answers"):
            own.run("SELECT hair FROM patients")


def test_another_seed_gives_other_pairs(hospital: Hospital) -> None:
    assert {pair.question for pair in generate(hospital, 12, seed=3)}.isdisjoint(
        pair.question for pair in generate(hospital, 12, seed=4)
    )


def test_every_query_converts_and_renders_to_one_that_runs(
    pairs: list[Example], schema: Schema, ward: Ward
) -> None:
    for pair in pairs:
        assert pair.sql is not None
        rendered = render(sql_to_program(pair.sql, schema), schema)
        assert sorted(map(repr, ward.run(rendered))) == sorted(map(repr, ward.run(pair.sql))), pair.sql


def test_no_question_comes_twice(pairs: list[Example]) -> None:
    assert max(Counter(pair.question.lower() for pair in pairs).values()) == 1
    assert max(Counter(pair.id for pair in pairs).values()) == 1


def test_names_and_numbers_of_the_query_stand_in_the_question(pairs: list[Example]) -> None:
    for pair in pairs:
        assert pair.sql is not None
        for text in re.findall(r"'([^']*)'", pair.sql):
            if not _UNWRITTEN.match(text) and not re.fullmatch(r"[\d-]+( [\d:]+)?", text):
                assert text in pair.question, (text, pair.question)
        for number in re.findall(r"subject_id = (\d+)", pair.sql):
            assert number in pair.question


def test_questions_are_whole_sentences(pairs: list[Example]) -> None:
    for pair in pairs:
        assert pair.question[0].isupper()
        assert pair.question[-1] in ".?"
        assert not re.search(
            r"[\[\]{}|]|  | [,.?]|\ba (?=[aeiou]\w+ (diagnosis|input|output)\b)", pair.question
        ), pair.question


def test_one_template_is_one_skeleton(pairs: list[Example], schema: Schema) -> None:
    of: dict[str, set[str]] = {}
    for pair in pairs:
        assert pair.template is not None
        assert pair.sql is not None
        of.setdefault(pair.template, set()).add(skeleton(render(sql_to_program(pair.sql, schema), schema)))
    assert all(len(skeletons) == 1 for skeletons in of.values())
    assert len(of) > 60


def test_known_skeletons_get_less_weight(pairs: list[Example], hospital: Hospital) -> None:
    frequent = Counter(pair.template for pair in pairs).most_common(1)[0][0]
    known = [pair.sql for pair in pairs if pair.template == frequent and pair.sql]
    again = generate(hospital, 120, seed=11, known=known)
    assert Counter(pair.template for pair in again)[frequent] < len(known)


def test_the_command_writes_the_uniform_form(tmp_path: Path, hospital: Hospital) -> None:
    file = tmp_path / "pairs.json.gz"
    assert main(["augment", "--examples", "10", "--seed", "2", "--output", str(file)]) == 0
    rows = json.loads(gzip.decompress(file.read_bytes()))
    assert all(set(row) == {"id", "db_id", "question", "sql", "template"} for row in rows)
    assert [pair.question for pair in read_examples(file)] == [
        pair.question for pair in generate(hospital, 10, seed=2)
    ]


def test_the_command_names_an_input_that_cannot_be_used(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = main(
        ["augment", "--output", str(tmp_path / "x.json"), "--train", str(tmp_path / "missing.json")]
    )
    assert status == 2
    assert "missing.json" in capsys.readouterr().err


def test_generating_needs_no_torch() -> None:
    program = "import sys, fastsql.synthesis.hospital; print('torch' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
