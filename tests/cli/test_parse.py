"""``fastsql parse`` writes SQL to one stream and everything else to the other."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path

import pytest

from fastsql.explanation import Decision, Trail, WordRoles

from ..databases import PostgresServer
from .conftest import DDL, OTHER, WOMEN, Loader, Outcome

Run = Callable[..., Outcome]
QUESTION = "Which patients are women?"


def test_sql_goes_to_the_standard_output(run: Run) -> None:
    assert run("parse", QUESTION, "--schema", DDL) == Outcome(0, f"{WOMEN}\n", "")


def test_a_refusal_says_why_and_sets_the_status(run: Run) -> None:
    assert run("parse", "What time is it?", "--schema", DDL) == Outcome(
        1, "", "refused: nothing in the schema fits\n"
    )


def test_the_best_guess_of_a_refusal_is_told_apart_from_an_answer(run: Run) -> None:
    outcome = run("parse", "And who was it?", "--schema", DDL)
    assert (outcome.status, outcome.out) == (1, "")
    assert outcome.err.splitlines() == [
        "refused: nothing in the schema fits",
        "Best guess, not an answer",
        "? SELECT patients.weight",
        "? FROM patients",
        "? WHERE patients.gender = 'm'",
    ]
    explained = run("parse", "And who was it?", "--schema", DDL, "--explain")
    assert explained.err.count("Best guess, not an answer\n? SELECT patients.weight\n") == 1
    content = json.loads(run("parse", "And who was it?", "--schema", DDL, "--json").out)
    assert (content["sql"], content["best"]) == (None, OTHER)


def test_questions_are_read_one_a_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(f"{QUESTION}\n\n  {QUESTION}  \n"))
    assert run("parse", "--schema", DDL).out == f"{WOMEN}\n" * 2


def test_explain_tells_words_confidence_and_timings(run: Run) -> None:
    outcome = run("parse", QUESTION, "--schema", DDL, "--explain")
    assert outcome.out == f"{WOMEN}\n"
    lines = outcome.err.splitlines()
    assert lines[:4] == [QUESTION, " " * 19 + "~~1~~", "", "Answered: confidence 0.90"]
    assert "   1  women  column patients.gender  (linked by the parser)" in lines
    assert any(line.startswith("  encode      1.5  ###") for line in lines)
    assert "decisions" not in outcome.err


def test_a_refusal_is_explained(run: Run) -> None:
    outcome = run("parse", "What time is it?", "--schema", DDL, "--explain")
    assert outcome.err.startswith(
        "refused: nothing in the schema fits\nWhat time is it?\n\nRefused: confidence 0.10\n"
    )


def test_decisions_are_listed_when_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    decision = Decision("row", "column", "patients.gender", 22, 0.75)
    monkeypatch.setattr("fastsql.result.Result.trail", Trail((), (decision,)))
    assert (
        "\n    1  row    22  0.750  column patients.gender\n"
        in run("parse", QUESTION, "--schema", DDL, "--decisions").err
    )
    assert "22" not in run("parse", QUESTION, "--schema", DDL, "--explain").err
    content = json.loads(run("parse", QUESTION, "--schema", DDL, "--json", "--explain").out)
    assert content["decisions"] == [asdict(decision)]


def test_roles_are_told_when_asked_for(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    words = WordRoles(("FROM", "WHERE_NEST"), (19, 24), "women")
    monkeypatch.setattr("fastsql.result.Result.trail", Trail((), (), (words,)))
    told = run("parse", QUESTION, "--schema", DDL, "--roles").err
    assert "\nParts of the query that words stand in\n  women  FROM, WHERE_NEST\n" in told
    assert "WHERE_NEST" not in run("parse", QUESTION, "--schema", DDL, "--explain").err
    content = json.loads(run("parse", QUESTION, "--schema", DDL, "--json", "--explain").out)
    assert content["roles"] == [{"roles": ["FROM", "WHERE_NEST"], "span": [19, 24], "text": "women"}]


def test_json_has_everything(run: Run) -> None:
    content = json.loads(run("parse", QUESTION, "--schema", DDL, "--json").out)
    assert content["sql"] == content["best"] == WOMEN
    assert content["dialect"] == "sqlite"
    assert (content["confidence"], content["unanswerable"]) == (0.9, 0.0)
    assert content["links"] == [
        {"span": [19, 24], "text": "women", "kind": "column", "target": "patients.gender", "how": ""}
    ]
    (value,) = content["values"]
    assert (value["value"], value["source"], value["span"], value["column"]) == (
        "f",
        "schema",
        None,
        "patients.gender",
    )
    assert (content["abstained"], content["timings"], content["threshold"]) == (False, {"encode": 1.5}, None)
    assert "reasons" not in content


def test_json_with_explain_has_the_reasons(run: Run) -> None:
    outcome = run("parse", QUESTION, "--schema", DDL, "--json", "--explain")
    content = json.loads(outcome.out)
    assert [reason["target"] for reason in content["reasons"]] == ["patients.gender", "patients.gender = 'f'"]
    assert (content["decisions"], content["alternatives"], outcome.err) == ([], [], "")


def test_sql_for_a_server_is_in_its_dialect_unless_another_is_asked_for(
    run: Run, loader: Loader, postgres: PostgresServer
) -> None:
    psycopg = pytest.importorskip("psycopg")
    postgres.create_database("asked")
    with psycopg.connect(postgres.conninfo("asked"), autocommit=True) as connection:
        connection.execute("CREATE TABLE patients (id INT, gender TEXT)")
    url = postgres.url("asked")
    run("parse", QUESTION, "--schema", url)
    run("parse", QUESTION, "--schema", url, "--dialect", "duckdb")
    run("parse", QUESTION, "--schema", "CREATE TABLE patients (id SERIAL, gender TEXT)")
    assert [parser.calls[0]["dialect"] for parser in loader.parsers] == ["postgres", "duckdb", "sqlite"]


def test_settings_reach_the_parser(run: Run, loader: Loader, database: Path) -> None:
    run(
        *(
            "parse",
            QUESTION,
            "--schema",
            database,
            "--values",
            database,
            "--dialect",
            "postgres",
            "--beam",
            2,
        ),
        *("--now", "2100-12-31", "--model", "m", "--device", "python", "--encoder", "numpy", "--penalty", 5),
        "--as-written",
    )
    (parser,) = loader.parsers
    assert parser.settings == {
        "name": "m",
        "device": "python",
        "encoder": "numpy",
        "penalty": 5.0,
        "suggest": True,
        "as_written": True,
    }
    (call,) = parser.calls
    assert call.pop("schema").tables[0].name == "patients"
    assert call == {
        "question": QUESTION,
        "values": str(database),
        "dialect": "postgres",
        "beam": 2,
        "now": "2100-12-31 00:00:00",
        "grounded": True,
        "suggest": True,
    }


@pytest.mark.parametrize(
    "arguments",
    [
        ("--beam", "0"),
        ("--beam", "x"),
        ("--penalty", "-1"),
        ("--penalty", "nan"),
        ("--now", "yesterday"),
        ("--now", "2100-02-30"),
    ],
)
def test_bad_settings_are_usage_errors(run: Run, arguments: tuple[str, str]) -> None:
    outcome = run("parse", QUESTION, "--schema", DDL, *arguments)
    assert outcome.status == 2
    assert arguments[0] in outcome.err


def test_a_schema_is_required(run: Run) -> None:
    assert "--schema" in run("parse", QUESTION).err


def test_a_missing_schema_file_is_an_error(run: Run) -> None:
    outcome = run("parse", QUESTION, "--schema", "missing.sqlite")
    assert outcome.status == 2
    assert "missing.sqlite" in outcome.err


def test_a_question_beyond_the_limits_is_an_error(run: Run) -> None:
    outcome = run("parse", "why " * 100, "--schema", DDL)
    assert outcome.status == 2
    assert "question_characters" in outcome.err
    assert "why" not in outcome.err


def test_examples_are_remembered_and_those_that_cannot_be_are_named_by_their_places(
    run: Run, loader: Loader, tmp_path: Path
) -> None:
    pairs = tmp_path / "pairs.csv"
    pairs.write_text(f"question,sql\nWho is heavy?,{OTHER}\nWho works here?,SELECT id FROM ward\nWhy?,\n")
    outcome = run("parse", QUESTION, "--schema", DDL, "--examples", pairs, "--dialect", "duckdb")
    assert loader.parsers[0].remembered == [("Who is heavy?", OTHER, {"values": None, "dialect": "duckdb"})]
    assert outcome.out == f"{WOMEN}\n"
    assert outcome.err.splitlines() == [
        "examples: line 3: names a table that is not there",
        "examples: line 4: it has no SQL",
    ]


def test_examples_that_cannot_be_read_end_the_command(run: Run) -> None:
    outcome = run("parse", QUESTION, "--schema", DDL, "--examples", "pairs.txt")
    assert (outcome.status, outcome.out) == (2, "")
    assert "seeds are not read from .txt files" in outcome.err
