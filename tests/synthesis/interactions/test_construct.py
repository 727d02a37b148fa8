"""Single questions become conversations that answer them; what cannot be used is counted."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.datasets import DatasetError, Example
from fastsql.datasets.interactions import as_interactions, read_interactions
from fastsql.datasets.programs import read_program_rows
from fastsql.execution.executor import DatabaseGoneError
from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Literal, TurnRef
from fastsql.synthesis.interactions import (
    Checker,
    Goal,
    Interaction,
    construct,
    construct_all,
    put_together,
    split_compositional,
    split_random,
    write_interactions,
)
from fastsql.synthesis.interactions.statistics import count
from fastsql.synthesis.source import SynthesisError

from ...worlds.clinic import clinic_database
from ...worlds.database import write_database
from ...worlds.failing_database import Watched, refusing, vanishing
from ...worlds.ward import ward_ddl
from .clinic import CLINIC, QUERIES, TOTAL, database, uniform

GOALS = [Goal(f"g{n}", f"question {n}", sql) for n, sql in enumerate(QUERIES)]


def quiet(_line: str) -> None:
    pass


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> tuple[Interaction, ...]:
    with database(tmp_path_factory.mktemp("clinic")) as executor:
        constructed = construct(GOALS, Checker(CLINIC, executor), db_id="clinic", report=quiet)
    assert not constructed.dropped
    assert not constructed.unequal
    return constructed.interactions


def patients(count_: int) -> list[Goal]:
    """Questions of one template, each about a patient."""
    sql = "SELECT visits.cost FROM visits WHERE visits.patient_id = {0} AND visits.reason = '{1}'"
    return [Goal(f"p{n}", f"?{n}", sql.format(n, ("cough", "fever")[n % 2])) for n in range(count_)]


def test_a_database_that_goes_away_ends_the_construction(tmp_path: Path) -> None:
    asked: list[str] = []
    with database(tmp_path) as executor:
        construct(GOALS, Checker(CLINIC, Watched(executor, asked.append)), db_id="clinic", report=quiet)
        for calls in (0, 5, len(asked) - 2, len(asked) - 1):  # the last two compare answers
            with pytest.raises(DatabaseGoneError, match="no longer answers"):
                construct(GOALS, Checker(CLINIC, vanishing(executor, calls)), db_id="clinic", report=quiet)


def test_a_turn_that_runs_into_a_limit_is_counted_and_the_others_are_kept(tmp_path: Path) -> None:
    with database(tmp_path) as executor:
        found = construct(GOALS, Checker(CLINIC, refusing(executor, 10)), db_id="clinic", report=quiet)
    assert found.interactions
    assert found.dropped
    assert all(why.endswith("does not run") for why in found.dropped)


def test_every_goal_is_reached_by_several_turns(made: tuple[Interaction, ...]) -> None:
    assert [one.id for one in made] == [goal.id for goal in GOALS]
    assert sum(len(one.turns) > 1 for one in made) >= len(made) - 1
    for one in made:
        assert one.turns[0].kinds == ("independent",)


def test_turns_refer_to_turns_before_them(made: tuple[Interaction, ...]) -> None:
    for one in made:
        for number, turn in enumerate(one.turns):
            assert all(part.turn < number for part in turn.program if isinstance(part, TurnRef))


def test_every_kind_of_turn_has_its_name(made: tuple[Interaction, ...]) -> None:
    kinds = count(made).kinds
    assert all(kinds[kind] for kind in ("independent", "referential", "filtering"))
    assert sum(kinds.values()) >= count(made).turns


def test_a_turn_that_differs_in_one_clause_may_say_this_clause_alone(tmp_path: Path) -> None:
    sql = (
        "SELECT (SELECT visits.cost FROM visits WHERE visits.reason = 'cough' ORDER BY visits.day DESC LIMIT 1) - "
        "(SELECT visits.cost FROM visits WHERE visits.reason = 'cough' ORDER BY visits.day ASC LIMIT 1)"
    )
    with database(tmp_path) as executor:
        goals = [Goal(f"g{n}", "?", sql) for n in range(12)]
        found = construct(goals, Checker(CLINIC, executor), db_id="clinic", report=quiet).interactions
    modifying = [turn.question for one in found for turn in one.turns if "modifying" in turn.kinds]
    assert modifying
    assert all("same as" in question.lower() or "what about" in question.lower() for question in modifying)


def test_the_same_seed_makes_the_same_conversations(made: tuple[Interaction, ...]) -> None:
    def again(seed: int) -> tuple[Interaction, ...]:
        return construct(GOALS, Checker(CLINIC), db_id="clinic", seed=seed, report=quiet).interactions

    assert again(1) == made
    assert again(2) != made


def test_what_cannot_be_used_is_counted_by_reason(tmp_path: Path) -> None:
    goals = [
        *GOALS,
        Goal("beyond", "?", "WITH RECURSIVE n AS (SELECT 1) SELECT * FROM n"),
        Goal("unsayable", "?", "SELECT SUM(visits.cost) OVER (ORDER BY visits.day) FROM visits"),
    ]
    with database(tmp_path) as executor:
        found = construct(goals, Checker(CLINIC, executor), db_id="clinic", report=quiet)
    assert len(found.interactions) == len(GOALS)
    assert found.dropped["its query is beyond the grammar"] == 1
    assert sum(reason.startswith("no words for it") for reason in found.dropped) == 1


def test_an_interaction_with_another_last_answer_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def wrong(steps: object, *_more: object) -> object:
        return [tuple(replace(p, value=8) if p == Literal(4) else p for p in step) for step in steps]  # type: ignore[attr-defined]

    monkeypatch.setattr("fastsql.synthesis.interactions.construction.modify", wrong)
    with database(tmp_path) as executor:
        found = construct([Goal("g", "?", TOTAL)], Checker(CLINIC, executor), db_id="clinic", report=quiet)
    assert found.unequal == ("g",)
    assert found.interactions == ()


def test_both_queries_of_an_answer_are_in_the_words_of_the_database(tmp_path: Path) -> None:
    gold = "SELECT COUNT(*) FROM visits WHERE strftime('%Y', visits.day) = '2020'"
    asked: list[str] = []
    with database(tmp_path) as executor:
        postgres = Watched(executor, lambda _: None)
        postgres.dialect = "postgres"
        postgres.run = lambda sql: asked.append(str(sql)) or executor.run("SELECT 1")  # type: ignore[method-assign, func-returns-value]
        assert Checker(CLINIC, postgres).answers(sql_to_program(gold, CLINIC), gold)
    assert len(asked) == 2
    assert not any("strftime" in sql.lower() for sql in asked)


def test_a_turn_that_does_not_run_is_named(tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    write_database(other / "clinic.sqlite", ward_ddl("patients"))
    examples = [Example("g", "clinic", "?", TOTAL)]
    found = construct_all(examples, {"clinic": CLINIC}, {"clinic": other / "clinic.sqlite"}, report=quiet)
    assert found.dropped == {"turn 0 does not run": 1}


def test_questions_without_sql_make_no_conversation() -> None:
    with pytest.raises(SynthesisError, match="no question has SQL"):
        construct_all([Example("g", "clinic", "?", None)], {"clinic": CLINIC}, {}, report=quiet)


# ---------------------------------------------------------------- sets of interactions


def test_a_random_split_parts_interactions(made: tuple[Interaction, ...]) -> None:
    train, test = split_random(made, 1, share=0.25)
    assert len(test) == 2
    assert {one.id for one in (*train, *test)} == {one.id for one in made}


def test_a_compositional_split_tests_what_train_has_in_parts(made: tuple[Interaction, ...]) -> None:
    ones = [
        *(replace(made[0], id=name, composition=name, components=frozenset(parts)) for name, parts in {
            "ab": "ab", "bc": "bc", "abc": "abc", "d": "d", "abd": "abd",
        }.items()),
    ]  # fmt: skip
    train, test = split_compositional(ones, share=1.0)
    assert {one.composition for one in train}.isdisjoint(one.composition for one in test)
    assert test
    known = {part for one in train for part in one.components}
    assert all(one.components <= known for one in test)


def test_longer_interactions_are_related_and_ask_each_step_once() -> None:
    sql = "SELECT {0} FROM visits WHERE visits.patient_id = {1} AND visits.reason = '{2}'"
    goals = [
        Goal(f"{column}{n}{reason}", "?", sql.format(column, n + 100, reason))
        for n in range(4)
        for reason in ("cough", "fever")
        for column in ("visits.cost", "visits.day", "MAX(visits.cost)", "COUNT(*)")
    ]
    short = construct(goals, Checker(CLINIC), db_id="clinic", report=quiet).interactions
    longer = put_together(short, CLINIC, count=5)
    assert len(longer) == 5
    for one in longer:
        assert len(one.turns) >= 10
        assert len({turn.sql for turn in one.turns}) == len(one.turns)
    assert longer == put_together(short, CLINIC, count=5)


def test_what_is_written_is_read_again(made: tuple[Interaction, ...], tmp_path: Path) -> None:
    path = tmp_path / "talks.json.gz"
    write_interactions(made, {"clinic": CLINIC}, path)
    read = read_interactions(path)
    assert [one.id for one in read] == [one.id for one in made]
    for one, again in zip(made, read, strict=True):
        assert [turn.question for turn in again.turns] == [turn.question for turn in one.turns]
        programs = tuple(read_program_rows(turn.extra["program"], CLINIC) for turn in again.turns)
        assert programs == tuple(turn.program for turn in one.turns)
        assert again.turns[one.answer].extra["goal"] == one.goal


@pytest.mark.parametrize(
    ("records", "why"),
    [
        ([], "holds no conversation"),
        ([{"interaction": "a", "turn": 1}, {"interaction": "a", "turn": 0}], "interaction 'a', turn 0"),
        ([{"interaction": "a"}], "names no interaction and turn"),
    ],
)
def test_files_that_are_no_conversations_are_refused(records: list[dict[str, object]], why: str) -> None:
    examples = [Example(str(n), "clinic", "?", TOTAL, extra=one) for n, one in enumerate(records)]
    with pytest.raises(DatasetError, match=why):
        as_interactions(examples, "talks.json")


def test_programs_over_another_schema_are_refused() -> None:
    for rows in ([["table", "nowhere"]], [["column", "visits.nothing", 0]], [["turn"]], "visits"):
        with pytest.raises(ValueError, match=r"terminal|list"):
            read_program_rows(json.loads(json.dumps(rows)), CLINIC)


def test_a_database_is_read_by_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, output = clinic_database(tmp_path / "clinic.sqlite"), tmp_path / "talks.json"
    assert main(["synthesize", str(path), "-n", "8", "--conversations", "-o", str(output)]) == 0
    printed = capsys.readouterr()
    assert "interactions" in printed.err
    assert "1. " in printed.out
    assert read_interactions(output)


def test_the_command_splits_what_it_makes_of_questions(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clinic_database(tmp_path / "clinic.sqlite")
    rows = [{"id": g.id, "db_id": "clinic", "question": g.question, "sql": g.sql} for g in GOALS]
    (tmp_path / "questions.json").write_text(json.dumps(rows))
    (tmp_path / "schemas.json").write_text(json.dumps([uniform("clinic")]))
    given = ["conversations", str(tmp_path / "questions.json"), "--schemas", str(tmp_path / "schemas.json")]
    asked = [*given, "--databases", str(path), "--split", "random", "-o", str(tmp_path / "talks.json")]
    assert main(asked) == 0
    parts = [tmp_path / f"talks.{name}.json" for name in ("train", "test", "longer")]
    assert all(part.exists() for part in parts)
    names = {one.id for part in parts[:2] if part.read_text() != "[]" for one in read_interactions(part)}
    assert names == {goal.id for goal in GOALS}
    assert "interactions of" in capsys.readouterr().err
    before = [part.read_bytes() for part in parts]
    assert main(asked) == 0
    assert [part.read_bytes() for part in parts] == before


def test_the_command_writes_over_nothing_that_it_reads(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = clinic_database(tmp_path / "clinic.sqlite")
    rows = [{"id": g.id, "db_id": "clinic", "question": g.question, "sql": g.sql} for g in GOALS]
    questions, schemas = tmp_path / "talks.test.json", tmp_path / "schemas.json"
    questions.write_text(json.dumps(rows))
    schemas.write_text(json.dumps([uniform("clinic")]))
    given = ["conversations", str(questions), "--schemas", str(schemas), "--databases"]
    before = [file.read_bytes() for file in (questions, schemas, path)]
    for databases, output in (
        (path, [questions]),
        (path, [schemas]),
        (path, [path]),
        (tmp_path, [path]),
        (path, [tmp_path / "talks.json", "--split", "random"]),
    ):
        assert main([*given, str(databases), "-o", *map(str, output)]) == 2
        assert "written over" in capsys.readouterr().err
    assert [file.read_bytes() for file in (questions, schemas, path)] == before
    assert sorted(tmp_path.iterdir()) == sorted([questions, schemas, path])
    for _ in range(2):  # JSON that is in the folder of the databases is no database
        assert main([*given, str(tmp_path), "-o", str(tmp_path / "talks.json")]) == 0
