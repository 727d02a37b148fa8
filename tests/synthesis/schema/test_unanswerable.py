"""Questions that no query answers, of several kinds."""

from __future__ import annotations

import random
import re
from collections import Counter
from contextlib import suppress

import pytest

from fastsql.execution import Executor
from fastsql.linking.relations import split_words
from fastsql.schema import Schema
from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.foreign_words import ATTRIBUTES, CONCEPTS, FRAMES, OUTSIDE
from fastsql.synthesis.schema.sorts import EVENT, GOODS, OTHER, PERSON, PLACE, VEHICLE, sort_of
from fastsql.synthesis.schema.unanswerable import KINDS, Unanswerables
from fastsql.synthesis.schema.words import UnsayableError, Words, plural
from fastsql.synthesis.source import SynthesisError
from fastsql.synthesis.varied import generate_varied
from fastsql.verification.parse import parse_query

_WOMEN = "SELECT patients.name FROM patients WHERE patients.sex = 'F'"


def made(sql: str, kind: str, schema: Schema, executor: Executor, seeds: int = 20) -> set[str]:
    """The questions of some seeds, in small letters."""
    maker = Unanswerables(schema, schema.profile, Words(schema), Contents(schema, executor))
    found = set()
    for seed in range(seeds):
        with suppress(UnsayableError):
            found.add(maker.ask(parse_query(sql), kind, random.Random(seed)).lower())
    return found


def test_a_question_about_a_foreign_attribute_names_no_column(clinic: Schema, executor: Executor) -> None:
    questions = made("SELECT AVG(patients.weight) FROM patients", "attribute", clinic, executor)
    names = [one.name for one in ATTRIBUTES["amount"]]
    assert len(questions) > 5
    for question in questions:
        assert any(name in question for name in names)
        assert "weight" not in question
        assert "patients" in question


def test_what_comes_near_a_name_of_the_schema_is_no_foreign_attribute(executor: Executor) -> None:
    named = Schema.from_ddl(
        "CREATE TABLE staff (id INTEGER PRIMARY KEY, monthly_salary REAL, foot_length REAL)"
    )
    questions = made("SELECT AVG(staff.monthly_salary) FROM staff", "attribute", named, executor, 60)
    assert questions
    assert not any(name in question for question in questions for name in ("annual income", "shoe size"))


@pytest.mark.parametrize(
    ("table", "sort"),
    [
        ("singers", PERSON),
        ("hospital_patients", PERSON),
        ("treatment_rooms", PLACE),
        ("ambulances", VEHICLE),
        ("dishes", GOODS),
        ("patient_visits", EVENT),
        ("room_types", OTHER),
        ("objects", OTHER),
    ],
)
def test_a_foreign_attribute_is_one_that_the_things_of_the_table_can_have(
    table: str, sort: str, executor: Executor
) -> None:
    schema = Schema.from_ddl(f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, quota REAL)")
    assert sort_of(schema, schema.profile, 0) == sort
    questions = made(f"SELECT AVG({table}.quota) FROM {table}", "attribute", schema, executor)
    fitting = [one.name for one in ATTRIBUTES["amount"] if sort in one.of]
    assert questions
    assert all(any(name in question for name in fitting) for question in questions)


def test_persons_are_told_by_their_columns() -> None:
    schema = Schema.from_ddl("CREATE TABLE insured_2 (id INTEGER PRIMARY KEY, surname TEXT, gender TEXT)")
    assert sort_of(schema, schema.profile, 0) == PERSON


def test_a_foreign_amount_is_compared_with_a_number_that_it_can_have(executor: Executor) -> None:
    schema = Schema.from_ddl("CREATE TABLE singers (id INTEGER PRIMARY KEY, quota REAL)")
    sql = "SELECT COUNT(*) FROM singers WHERE singers.quota BETWEEN 123456 AND 345678"
    shoes = [one for one in made(sql, "attribute", schema, executor, 60) if "shoe size" in one]
    assert shoes
    for question in shoes:
        low, high = map(int, re.findall(r"\d+", question))
        assert 36 <= low <= high <= 46


def test_a_question_about_a_foreign_thing_names_no_table(clinic: Schema, executor: Executor) -> None:
    questions = made("SELECT COUNT(*) FROM visits WHERE visits.cost > 50", "table", clinic, executor)
    names = [plural(one.name) for one in CONCEPTS]
    assert len(questions) > 5
    assert all(any(name in question for name in names) for question in questions)
    assert not any("visits" in question for question in questions)


def test_a_foreign_thing_has_what_such_things_have(clinic: Schema, executor: Executor) -> None:
    questions = made("SELECT AVG(visits.cost) FROM visits", "table", clinic, executor, 40)
    own = {one.name: [amount.name for amount in one.has["amount"]] for one in CONCEPTS}
    assert len(questions) > 5
    for question in questions:
        (thing,) = (name for name in own if plural(name) in question)
        assert any(amount in question for amount in own[thing])


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT patients.name FROM patients JOIN visits ON visits.patient_id = patients.patient_id",
        "SELECT visits.patient_id FROM visits",
        "SELECT COUNT(visits.reason) FROM visits WHERE visits.reason = 'cough'",
    ],
)
def test_a_foreign_thing_has_neither_joins_nor_keys(sql: str, clinic: Schema, executor: Executor) -> None:
    assert not made(sql, "table", clinic, executor)


@pytest.mark.parametrize(
    "item", ["SUM(CASE WHEN visits.reason = 'cough' THEN 1 ELSE 0 END)", "visits.reason = 'cough'"]
)
def test_a_foreign_text_is_not_compared_with_values_of_another_column(
    item: str, clinic: Schema, executor: Executor
) -> None:
    assert not made(f"SELECT {item} FROM visits", "attribute", clinic, executor)


def test_a_foreign_text_is_not_grouped_by_in_one_place_alone(clinic: Schema, executor: Executor) -> None:
    sql = "SELECT patients.name FROM patients WHERE patients.name LIKE 'A%'"
    assert not made(sql, "attribute", clinic, executor)


def test_the_parts_of_a_persons_name_are_not_ambiguous(executor: Executor) -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE gun (id INTEGER PRIMARY KEY, first_name VARCHAR(9), code_name VARCHAR(9))"
    )
    assert not made("SELECT gun.first_name FROM gun", "ambiguous", schema, executor)


def test_only_persons_are_written_to(clinic: Schema, executor: Executor) -> None:
    to_patients = made(_WOMEN, "action", clinic, executor, 60)
    to_visits = made("SELECT visits.day FROM visits WHERE visits.cost > 50", "action", clinic, executor, 60)
    assert any("email" in question for question in to_patients)
    assert to_visits
    assert not any(word in question for question in to_visits for word in ("email", "call", "appointment"))


def test_choices_within_a_question_about_something_else_go_together() -> None:
    said = {expand(one.name, random.Random(seed)) for one in OUTSIDE for seed in range(60)}
    assert {one for one in said if "tonight" in one} == {
        "Which film should I watch tonight?",
        "Which song should I listen to tonight?",
    }
    assert not {one for one in said if "discovered the" in one or "say good morning into" in one}


def test_a_query_whose_tables_are_all_in_subqueries_cannot_be_turned(
    clinic: Schema, executor: Executor
) -> None:
    sql = "SELECT AVG(t.n) FROM (SELECT COUNT(*) AS n FROM visits GROUP BY visits.patient_id) AS t"
    assert not made(sql, "table", clinic, executor)


def test_values_are_held_nowhere(clinic: Schema, executor: Executor) -> None:
    sql = "SELECT patients.weight FROM patients WHERE patients.name = 'Ada Moss'"
    questions = made(sql, "value", clinic, executor)
    held = [name.lower() for (name,) in executor.run("SELECT name FROM patients").rows]
    assert questions
    assert not any(name in question for question in questions for name in held)


def test_ambiguous_names_are_shared_by_columns(executor: Executor) -> None:
    ddl = "CREATE TABLE stays (id INTEGER PRIMARY KEY, arrival_date DATE, departure_date DATE, cost REAL)"
    schema = Schema.from_ddl(ddl)
    questions = made("SELECT stays.arrival_date FROM stays", "ambiguous", schema, executor)
    assert questions
    for question in questions:
        assert "date" in question
        assert "arrival" not in question
    assert not made("SELECT stays.cost FROM stays", "ambiguous", schema, executor)


def test_the_name_of_the_things_themselves_is_not_ambiguous(executor: Executor) -> None:
    ddl = "CREATE TABLE stays (id INTEGER PRIMARY KEY, stay_start DATE, stay_end DATE, cost REAL)"
    schema = Schema.from_ddl(ddl)
    assert not made("SELECT stays.stay_start FROM stays", "ambiguous", schema, executor)


@pytest.mark.parametrize(
    "condition",
    ["patient_id = 3", "name = 'Ada Moss'", "weight = (SELECT MAX(patients.weight) FROM patients)"],
)
def test_of_a_single_row_nobody_asks_why_there_are_so_many(
    condition: str, clinic: Schema, executor: Executor
) -> None:
    sql = f"SELECT patients.weight FROM patients WHERE patients.{condition}"
    assert not any(made(sql, kind, clinic, executor) for kind in ("prediction", "opinion", "cause"))
    assert made(sql, "action", clinic, executor)


@pytest.mark.parametrize("kind", FRAMES)
def test_wordings_of_unanswerable_questions_have_no_open_places(
    kind: str, clinic: Schema, executor: Executor
) -> None:
    questions = made(_WOMEN, kind, clinic, executor)
    assert len(questions) > 3
    for question in questions:
        assert not set("{}[]|") & set(question)


def test_frames_keep_the_conditions_of_a_query(clinic: Schema, executor: Executor) -> None:
    assert any("sex is f" in question for question in made(_WOMEN, "action", clinic, executor))


def test_every_kind_is_made_and_told(clinic: Schema, executor: Executor) -> None:
    source = SchemaSource(clinic, executor, known_templates())
    pairs = generate_varied(source, 90, 3, contrast=0, unanswerable=2 / 3)
    refused = [pair for pair in pairs if pair.sql is None]
    assert len(refused) == 60
    counts = Counter(pair.extra["unanswerable"] for pair in refused)
    # The clinic has no two columns of one kind that share a word, and so nothing is ambiguous.
    assert set(counts) == set(KINDS) - {"ambiguous"}
    assert all(pair.template == f"unanswerable {pair.extra['unanswerable']}" for pair in refused)
    assert len({pair.question.lower() for pair in pairs}) == len(pairs)


def test_the_same_seed_gives_the_same_question(clinic: Schema, executor: Executor) -> None:
    source = SchemaSource(clinic, executor, known_templates())
    assert source.refusal("7") == source.refusal("7") != source.refusal("8")


def test_a_source_without_contrasts_gives_fewer(clinic: Schema, executor: Executor) -> None:
    class Alone(SchemaSource):
        def contrast(self, seed: str) -> None:  # type: ignore[override]
            raise SynthesisError("none")

    notes: list[str] = []
    source = Alone(clinic, executor, known_templates())
    pairs = generate_varied(source, 20, 3, contrast=0.5, unanswerable=0.1, report=notes.append)
    assert len(pairs) == 10
    assert any("0 contrasts of 5" in note for note in notes)


def test_words_that_tell_something_are_looked_for() -> None:
    for group in (*ATTRIBUTES.values(), CONCEPTS):
        for one in group:
            assert one.words
            assert all(word == word.lower() and len(split_words(word)) == 1 for word in one.words)
