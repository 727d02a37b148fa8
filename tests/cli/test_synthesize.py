"""``fastsql synthesize``."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.execution import open_executor
from fastsql.parser.bundles import DEFAULT_MODEL, open_model
from fastsql.reverse.weights import save_reverse

from ..databases import PostgresServer
from ..worlds.clinic import clinic_database, clinic_schema
from ..worlds.database import write_database
from ..worlds.failing_database import vanishing
from ..worlds.toy_reverse import make_config, random_weights


@pytest.fixture
def clinic(tmp_path: Path) -> Path:
    return clinic_database(tmp_path / "clinic.sqlite")


def test_synthesize_writes_pairs_and_says_what_they_are_like(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "20", "-o", str(output)]) == 0
    pairs = json.loads(output.read_text())
    assert len(pairs) == 20
    for pair in pairs:
        extra = {"unanswerable"} if pair["sql"] is None else {"contrast", "differs"} & set(pair)
        assert set(pair) == {"id", "db_id", "question", "sql", "template", *extra}
    assert sum(pair["sql"] is None for pair in pairs) == 2
    assert sum("contrast" in pair for pair in pairs) == 4
    printed = capsys.readouterr()
    assert "18 in total" in printed.err
    assert "2 contrasts: " in printed.err
    assert "2 unanswerable: " in printed.err
    assert pairs[0]["question"] in printed.out


def test_a_postgresql_database_whose_tables_have_a_namespace_is_drawn_from(
    postgres: PostgresServer, tmp_path: Path
) -> None:
    psycopg = pytest.importorskip("psycopg")
    postgres.create_database("drawn")
    with psycopg.connect(postgres.conninfo("drawn"), autocommit=True) as connection:
        connection.execute("CREATE TABLE patients (id INTEGER PRIMARY KEY, name TEXT, sex TEXT, weight REAL)")
        connection.execute(
            "INSERT INTO patients SELECT n, 'Name ' || n, CASE n % 2 WHEN 0 THEN 'F' ELSE 'M' END, 50 + n "
            "FROM generate_series(1, 30) AS n"
        )
    output = tmp_path / "pairs.json"
    assert main(["synthesize", postgres.url("drawn"), "-n", "10", "-o", str(output), "--show", "0"]) == 0
    pairs = json.loads(output.read_text())
    assert len(pairs) == 10
    assert any("patients" in pair["sql"] for pair in pairs if pair["sql"] is not None)


def test_levels_come_in_the_mix_that_is_asked_for(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "pairs.json"
    options = ["--mix", "easy=1", "--contrast", "0", "--unanswerable", "0"]
    assert main(["synthesize", str(clinic), "-n", "10", "-o", str(output), *options]) == 0
    assert "10 easy (100.0%), 0 medium" in capsys.readouterr().err


@pytest.mark.parametrize(
    "options",
    [
        ("--mix", "simple=1"),
        ("--mix", "easy=2"),
        ("--mix", "easy=0"),
        ("--mix", "easy=0.5,easy=0.5"),
        ("--contrast", "1.5"),
        ("--unanswerable", "-1"),
    ],
)
def test_shares_that_are_none_are_refused(clinic: Path, tmp_path: Path, options: tuple[str, str]) -> None:
    output = tmp_path / "pairs.json"
    with pytest.raises(SystemExit):
        main(["synthesize", str(clinic), "-o", str(output), *options])
    assert not output.exists()


def test_the_same_seed_writes_the_same_bytes(clinic: Path, tmp_path: Path) -> None:
    for name in ("one.json.gz", "again.json.gz"):
        assert main(["synthesize", str(clinic), "-n", "5", "--seed", "7", "-o", str(tmp_path / name)]) == 0
    assert (tmp_path / "one.json.gz").read_bytes() == (tmp_path / "again.json.gz").read_bytes()


def test_seeds_that_are_no_use_are_named_and_the_others_used(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds = tmp_path / "seeds.csv"
    seeds.write_text(
        "question,sql\n"
        "Who is heavy?,SELECT name FROM patients WHERE weight > 60\n"
        "Who?,SELECT name FROM (\n"
        "What hair?,SELECT hair FROM patients\n"
        ",SELECT name FROM patients\n"
        "Sum of keys?,SELECT SUM(patient_id) + 1 FROM patients\n"
        "When is the next bus?,\n"
    )
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "6", "--seeds", str(seeds), "-o", str(output)]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.endswith("; not used")]
    assert [line.partition(": ")[0] for line in told] == [
        f"{seeds}, line {number}" for number in (3, 4, 5, 6)
    ]
    assert "no question" in told[2]
    assert "reckons with a key" in told[3]
    assert len(json.loads(output.read_text())) == 6


def test_seeds_over_a_database_without_rows_of_its_own_run_on_those_made_up(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    schema, seeds, output = (tmp_path / name for name in ("clinic.sql", "seeds.sql", "pairs.json"))
    schema.write_text(clinic_schema().to_ddl())
    seeds.write_text("-- Who?\nSELECT name FROM patients;\n-- Hair?\nSELECT hair FROM patients;\n")
    assert main(["synthesize", str(schema), "-n", "4", "--seeds", str(seeds), "-o", str(output)]) == 0
    told = [line for line in capsys.readouterr().err.splitlines() if line.endswith("; not used")]
    assert [line.partition(": ")[0] for line in told] == [f"{seeds}, line 3"]
    assert output.is_file()


def test_a_file_of_seeds_that_cannot_be_read_is_named_with_the_line_and_nothing_is_written(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds, output = tmp_path / "seeds.json", tmp_path / "pairs.json"
    seeds.write_text('[{"question": "Who?", "sql": "SELECT name FROM patients"},\n {"question": ]')
    assert main(["synthesize", str(clinic), "-n", "4", "--seeds", str(seeds), "-o", str(output)]) == 2
    assert f"{seeds}, line 2: is not JSON" in capsys.readouterr().err
    assert not output.exists()


def test_nothing_is_written_of_a_database_without_rows(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write_database(tmp_path / "empty.sqlite", clinic_schema().to_ddl())
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(path), "-n", "5", "-o", str(output)]) == 2
    assert "rows" in capsys.readouterr().err
    assert not output.exists()


@pytest.mark.parametrize("kind", [(), ("--conversations",), ("--wordings", "2", "--reword")])
@pytest.mark.parametrize("calls", [0, 40])
def test_a_database_that_goes_away_is_named_and_no_file_is_left(
    calls: int,
    kind: tuple[str, ...],
    clinic: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(
        "fastsql.execution.open_executor",
        lambda path, **given: vanishing(
            open_executor(path, **given), calls, lambda: clinic.unlink(missing_ok=True)
        ),
    )
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "30", *kind, "-o", str(output)]) == 2
    assert f"{clinic}: no longer answers (no such database)" in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("form", ["sql", "json"])
def test_rows_are_made_up_where_only_a_schema_is_given(
    form: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, output = tmp_path / f"clinic.{form}", tmp_path / "pairs.json"
    schema = clinic_schema()
    path.write_text(schema.to_ddl() if form == "sql" else json.dumps(schema.to_dict()))
    assert main(["synthesize", str(path), "-n", "8", "-o", str(output)]) == 0
    assert "no database is given: " in capsys.readouterr().err
    pairs = json.loads(output.read_text())
    assert len(pairs) == 8
    assert {pair["db_id"] for pair in pairs} == {"clinic"}


def test_no_source_is_written_over(clinic: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = clinic.read_bytes()
    assert main(["synthesize", str(clinic), "-n", "5", "-o", str(clinic)]) == 2
    assert "written over" in capsys.readouterr().err
    assert clinic.read_bytes() == before


def test_the_file_is_its_owners_alone(clinic: Path, tmp_path: Path) -> None:
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "3", "--show", "0", "-o", str(output)]) == 0
    assert output.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir() if path.name.endswith(".new")] == []


def test_pairs_that_do_not_come_back_from_their_questions_are_marked_or_left_out(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    marked, kept = tmp_path / "marked.json", tmp_path / "kept.json"
    same = ["synthesize", str(clinic), "-n", "6", "--seed", "3", "--unanswerable", "0"]
    assert main([*same, "--round-trip", "flag", "-o", str(marked)]) == 0
    assert main([*same, "--round-trip", "drop", "-o", str(kept)]) == 0
    rows = json.loads(marked.read_text())
    assert {row["round_trip"] for row in rows} <= {True, False}
    assert json.loads(kept.read_text()) == [row for row in rows if row["round_trip"]]
    assert f"{sum(row['round_trip'] for row in rows)} of 6 queries come back" in capsys.readouterr().err


def test_a_reverse_model_that_is_not_there_is_named_and_nothing_written(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "pairs.json"
    missing = tmp_path / "reverse.safetensors"
    assert main(["synthesize", str(clinic), "-n", "3", "--reword", str(missing), "-o", str(output)]) != 0
    assert "reverse.safetensors" in capsys.readouterr().err
    assert not output.exists()


def test_reworded_pairs_have_the_same_queries_in_other_words(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By a reverse model of random weights, of whose wordings none says what it should."""
    tokenizer = open_model(DEFAULT_MODEL).tokenizer()
    config = replace(
        make_config(),
        pieces=tokenizer.vocabulary,
        outputs=(tokenizer.sep, 2054, 2116),
        start=tokenizer.cls,
        end=tokenizer.sep,
    )
    reverse = save_reverse(tmp_path / "reverse.safetensors", config, random_weights(config), tokenizer)
    command = ["synthesize", str(clinic), "--contrast", "0", "--unanswerable", "0"]
    plain, reworded = tmp_path / "plain.json", tmp_path / "reworded.json"
    assert main([*command, "-n", "3", "-o", str(plain)]) == 0
    assert (
        main(
            [
                *command,
                "-n",
                "6",
                "--wordings",
                "2",
                "--reword",
                str(reverse),
                "-o",
                str(reworded),
            ]
        )
        == 0
    )
    before, after = (json.loads(path.read_text()) for path in (plain, reworded))
    queries = {row["sql"] for row in after}
    assert {row["sql"] for row in before} <= queries
    assert len(queries) < len({row["question"] for row in after}) == len(after) == 6


def test_without_a_reverse_model_questions_are_chosen_among_the_grammar_s(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("fastsql.reverse.bundled_reverse", lambda: tmp_path / "none.safetensors")
    output = tmp_path / "pairs.json"
    assert main(["synthesize", str(clinic), "-n", "3", "-o", str(output), "--reword"]) == 0
    assert "no reverse model" in capsys.readouterr().err
    assert len(json.loads(output.read_text())) == 3


@pytest.mark.parametrize("other", [["--reword"], ["--round-trip", "flag"], ["--wordings", "2"]])
def test_what_conversations_have_no_use_for_is_refused(
    clinic: Path, tmp_path: Path, other: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "talks.json"
    assert main(["synthesize", str(clinic), "--conversations", *other, "-o", str(output)]) == 2
    assert "words of their own" in capsys.readouterr().err
    assert not output.exists()


def test_neither_a_database_nor_a_file_is_written_over(
    clinic: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    seeds, profile = tmp_path / "seeds.json", tmp_path / "clinic.toml"
    for file in (seeds, profile):
        file.write_text("[]")
    more = ["--seeds", str(seeds), "--profile", str(profile)]
    kept = (clinic, seeds, profile)
    before = [file.read_bytes() for file in kept]
    for schema in (str(clinic), f"sqlite:///{clinic}?mode=ro"):
        for file in kept:
            assert main(["synthesize", schema, *more, "-o", str(file)]) == 2
            assert "written over" in capsys.readouterr().err
    train = ["--train", str(seeds), "--terminology", str(clinic)]
    for file in (clinic, seeds):
        assert main(["augment", *train, "--output", str(file)]) == 2
        assert "written over" in capsys.readouterr().err
    assert [file.read_bytes() for file in kept] == before
