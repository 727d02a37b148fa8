"""``--profile`` of the commands that take a data set's schemas: a file of one schema, or a folder with NAME.toml of each."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from fastsql.datasets import read_schemas

from ..synthesis.interactions.clinic import QUERIES, uniform
from ..worlds.clinic import clinic_database
from .conftest import Loader, Outcome

Run = Callable[..., Outcome]
PROFILE = """\
format = 1
[table.visits]
label = "ward rounds"
[column.visits.reason]
label = "就诊原因"
synonyms = ["主诉"]
"""


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """Questions over one clinic, its schemas.json and its database."""
    clinic_database(tmp_path / "clinic.sqlite")
    rows = [
        {"id": f"g{n}", "db_id": "clinic", "question": f"question {n}", "sql": sql}
        for n, sql in enumerate(QUERIES)
    ]
    (tmp_path / "questions.json").write_text(json.dumps(rows))
    (tmp_path / "schemas.json").write_text(json.dumps([uniform("clinic")]))
    (tmp_path / "clinic.toml").write_text(PROFILE, encoding="utf-8")
    return tmp_path


def asked(data: Path, command: str, *more: object) -> tuple[object, ...]:
    """A command over the data set that writes to `out.json`."""
    out = "--json" if command == "eval" else "-o"
    return (
        command,
        data / "questions.json",
        "--schemas",
        data / "schemas.json",
        out,
        data / "out.json",
        *more,
    )


@pytest.mark.parametrize(
    "command", ["parse", "chat", "eval", "adapt", "synthesize", "extend", "conversations", "corpus"]
)
def test_every_command_that_takes_schemas_takes_profiles(run: Run, command: str) -> None:
    assert "--profile P" in run(command, "--help").out


def test_conversations_are_said_in_the_words_of_the_profile(run: Run, data: Path) -> None:
    def questions(*more: object) -> str:
        outcome = run(*asked(data, "conversations", "--databases", data / "clinic.sqlite", *more))
        assert outcome.status == 0, outcome.err
        turns = json.loads((data / "out.json").read_text(encoding="utf-8"))
        return "\n".join(turn["question"] for turn in turns)

    plain = questions()
    assert "visits" in plain
    assert "ward round" not in plain
    for given in (data / "clinic.toml", data):
        said = questions("--profile", given)
        assert "ward round" in said
        assert "就诊原因" in said
        assert "visits" not in said


def test_longer_conversations_are_said_in_the_words_of_the_profile(run: Run, data: Path) -> None:
    sql = "SELECT {0} FROM visits WHERE visits.patient_id = {1} AND visits.reason = '{2}'"
    queries = [
        sql.format(column, patient, reason)
        for patient in range(100, 130)
        for reason in ("cough", "fever")
        for column in ("visits.cost", "visits.day", "MAX(visits.cost)", "COUNT(*)")
    ]
    rows = [{"id": f"p{n}", "db_id": "clinic", "question": "?", "sql": one} for n, one in enumerate(queries)]
    (data / "questions.json").write_text(json.dumps(rows))
    more = ("--profile", data / "clinic.toml", "--split", "random", "--longer", 2)
    outcome = run(*asked(data, "conversations", *more))
    assert outcome.status == 0, outcome.err
    longer = json.loads((data / "out.longer.json").read_text(encoding="utf-8"))
    assert longer
    assert "就诊原因" in " ".join(turn["question"] for turn in longer)


def test_recorded_turns_go_along_keys_that_the_profile_tells(run: Run, data: Path) -> None:
    sql = "SELECT T1.name FROM patients AS T1 JOIN visits AS T2 ON T1.patient_id = T2.patient_id WHERE T2.reason = 'cough'"
    turn = {"id": "t", "db_id": "clinic", "question": "?", "sql": sql, "interaction": "one", "turn": 0}
    (data / "questions.json").write_text(json.dumps([turn]))
    (data / "clinic.toml").write_text(
        'format = 1\n[column.visits.patient_id]\nrefers_to = "patients.patient_id"\n', encoding="utf-8"
    )
    for more, way in (((), "join"), (("--profile", data / "clinic.toml"), "along")):
        assert run(*asked(data, "conversations", *more)).status == 0
        (written,) = json.loads((data / "out.json").read_text())
        assert {"join", "along"}.intersection(one for one in written["program"] if isinstance(one, str)) == {
            way
        }


def test_profiles_reach_the_parser_that_is_measured(run: Run, loader: Loader, data: Path) -> None:
    assert run(*asked(data, "eval", "--profile", data, "--jobs", 1)).status == 0
    schema = loader.parsers[0].calls[0]["schema"]
    assert "主诉" in schema.columns[schema.column_index("visits", "reason")].synonyms


@pytest.mark.parametrize("command", ["eval", "conversations"])
@pytest.mark.parametrize(
    ("text", "message"),
    [
        pytest.param(
            'format = 1\n\n[column.visits.reason]\nkinds = "category"\n',
            "line 4, column.visits.reason.kinds: there is no such key",
            id="key",
        ),
        pytest.param(
            "format = 1\n[table.visit]\n[table.patients]\n",
            "line 2, table.visit: the schema has no such table",
            id="table",
        ),
        pytest.param(
            "format = 1\n[table.films]\n",
            "it is the profile of another schema: none of its 1 tables is in 'clinic'",
            id="another schema",
        ),
        pytest.param("format = 1\n[table.\n[x]", "it is not TOML (at line 2", id="no TOML"),
    ],
)
def test_a_profile_of_no_use_is_named_and_nothing_written(
    run: Run, data: Path, command: str, text: str, message: str
) -> None:
    path = data / "clinic.toml"
    path.write_text(text, encoding="utf-8")
    outcome = run(*asked(data, command, "--profile", path))
    assert (outcome.status, outcome.err.count("\n")) == (2, 1)
    assert outcome.err.startswith(f"fastsql: {path}")
    assert message in outcome.err
    assert not (data / "out.json").exists()


@pytest.mark.parametrize("command", ["eval", "conversations"])
def test_one_profile_is_not_for_several_schemas(run: Run, data: Path, command: str) -> None:
    rows = json.loads((data / "questions.json").read_text())
    (data / "questions.json").write_text(json.dumps([*rows, {**rows[0], "id": "o", "db_id": "other"}]))
    (data / "schemas.json").write_text(json.dumps([uniform("clinic"), uniform("other")]))
    outcome = run(*asked(data, command, "--profile", data / "clinic.toml"))
    assert outcome.status == 2
    assert "it is one profile, and there are 2 schemas. Give a folder" in outcome.err
    (data / "none").mkdir()
    outcome = run(*asked(data, command, "--profile", data / "none"))
    assert f"{data / 'none'}: it holds no profile of these schemas" in outcome.err


def test_a_profile_is_not_written_over(run: Run, data: Path) -> None:
    outcome = run(
        *asked(data, "conversations", "-o", data / "clinic.toml", "--profile", data / "clinic.toml")
    )
    assert (outcome.status, (data / "clinic.toml").read_text(encoding="utf-8")) == (2, PROFILE)
    assert "written over" in outcome.err


def test_published_schemas_are_asked_in_the_words_of_their_profiles(run: Run, data: Path) -> None:
    """Of published schemas alone: designs have their words in themselves."""
    (data / "bird").mkdir()
    for name, target in (("questions.json", "train.json"), ("schemas.json", "schemas.json")):
        (data / "bird" / target).write_bytes((data / name).read_bytes())

    def corpus(out: str, *more: object) -> Outcome:
        made = ("corpus", "--schemas", 1, "--pairs", 12, "--data", data, "-o", data / out)
        return run(*made, "--kinds", "bird", *more)

    outcome = corpus("made", "--profile", data)
    assert outcome.status == 0, outcome.err
    schema = read_schemas(data / "made" / "schemas.json")["clinic"]
    assert schema.tables[schema.table_index("visits")].label == "ward rounds"
    (data / "none").mkdir()
    assert "it holds no profile of these schemas" in corpus("other", "--profile", data / "none").err
    assert (
        "only published schemas take profiles" in corpus("other", "--profile", data, "--kinds", "designs").err
    )
    assert "Leave --profile" in corpus("other", "--profile", data, "--written").err
    assert not (data / "other").exists()
