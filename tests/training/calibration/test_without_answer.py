"""The benchmark that makes questions which the databases of a data set cannot answer."""

from __future__ import annotations

import json
import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.synthesis.write import write_pairs, write_rows

from ...grammar.test_benchmarks import script
from ...worlds.shop import shop_schema
from ...worlds.ward import ward_database, ward_schema

ASKED = {
    "shop": [
        ("What is the home town of each customer?", "SELECT customer.home_town FROM customer"),
        ("What is the highest age of a customer?", "SELECT MAX(customer.age) FROM customer"),
        ("How many customers are there?", "SELECT COUNT(*) FROM customer"),
    ],
    "ward": [
        ("Which drugs are in the prescriptions?", "SELECT drug FROM prescriptions"),
        ("What is the gender of each of the patients?", "SELECT gender FROM patients"),
        ("Sing a song of sixpence.", "SELECT no_such_function_9(x y"),
    ],
}


@pytest.fixture
def arguments(tmp_path: Path) -> list[str]:
    """A shop and a ward, each with questions; the shop's database is missing."""
    examples = [
        Example(f"{db_id}-{number}", db_id, question, sql)
        for db_id, asked in ASKED.items()
        for number, (question, sql) in enumerate(asked)
    ]
    write_pairs(examples, tmp_path / "dev.json")
    schemas = (shop_schema(), ward_schema("patients", "prescriptions"))
    write_rows((schema.to_dict() for schema in schemas), tmp_path / "schemas.json")
    (tmp_path / "databases").mkdir()
    ward_database(tmp_path / "databases" / "ward.sqlite")
    named = (("--schemas", "schemas.json"), ("--databases", "databases"), ("--output", "strange"))
    return [
        str(tmp_path / "dev.json"),
        *(text for name, file in named for text in (name, str(tmp_path / file))),
    ]


def test_questions_without_an_answer_stand_beside_the_others(arguments: list[str], tmp_path: Path) -> None:
    assert script("without_answer")([*arguments, "--share", "0.5"]) == 0
    made = tmp_path / "strange"
    examples, schemas = read_examples(made / "examples.json"), read_schemas(made / "schemas.json")
    assert [(one.question, one.sql) for one in examples[:6]] == [
        pair for asked in ASKED.values() for pair in asked
    ]
    refused = examples[6:]
    assert not any(one.answerable for one in refused)
    assert Counter(one.id.partition("-")[0] for one in refused).keys() <= {
        "removed",
        "elsewhere",
        "lacking",
        "another",
    }
    for one in refused:
        kind, said = one.id.partition("-")[0], one.question.casefold()
        assert "sixpence" not in said, "a query that cannot be read tells nothing of what a question needs"
        if kind == "elsewhere":
            assert one.question in {
                question for question, _ in ASKED["shop" if one.db_id == "ward" else "ward"]
            }
        if kind == "removed":
            assert one.db_id.startswith(("shop_lacking_", "ward_lacking_"))
            whole = (
                shop_schema() if one.db_id.startswith("shop") else ward_schema("patients", "prescriptions")
            )
            assert len(schemas[one.db_id].columns) < len(whole.columns)
    links = {path.stem for path in (made / "databases").iterdir()}
    assert links == {name for name in schemas if name.startswith("ward")}
    with closing(sqlite3.connect(made / "databases" / "ward.sqlite")) as database:
        assert database.execute("SELECT COUNT(*) FROM patients").fetchone() == (2,)


def test_equal_seeds_make_the_same_and_a_folder_may_be_written_again(
    arguments: list[str], tmp_path: Path
) -> None:
    main, file = script("without_answer"), tmp_path / "strange" / "examples.json"
    assert main(arguments) == 0
    first = json.loads(file.read_text("utf-8"))
    assert main(arguments) == 0
    assert json.loads(file.read_text("utf-8")) == first


@pytest.mark.parametrize("share", ["0", "1", "-0.5"])
def test_a_share_is_between_none_and_all(
    arguments: list[str], share: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit):
        script("without_answer")([*arguments, f"--share={share}"])
    assert "--share is above 0 and below 1" in capsys.readouterr().err


def test_a_file_without_sql_makes_nothing(
    arguments: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_pairs([Example("1", "shop", "How many?", None)], tmp_path / "dev.json")
    with pytest.raises(SystemExit):
        script("without_answer")(arguments)
    assert "has no question with SQL" in capsys.readouterr().err
    assert not (tmp_path / "strange").exists()


def test_a_missing_file_is_named(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        script("without_answer")(["no_such_file.json", *arguments[1:]])
    assert "no_such_file.json" in capsys.readouterr().err
