"""Contrasts: pairs that differ in one thing, in their queries and in their questions."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from fastsql.execution import Executor, open_executor
from fastsql.schema import Schema
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.contrast import differ_in_one_phrase, edits
from fastsql.synthesis.schema.words import Words
from fastsql.synthesis.source import Draft
from fastsql.synthesis.varied import generate_varied
from fastsql.verification.parse import parse_query

from ...worlds.database import write_database

_ORDERED = "SELECT patients.name FROM patients ORDER BY patients.weight DESC LIMIT 1"


def edited(sql: str, kind: str, clinic: Schema, executor: Executor, seed: int = 1) -> set[str]:
    found = edits(parse_query(sql), Words(clinic), Contents(clinic, executor), random.Random(seed))
    return {query.sql("sqlite") for one, query in found if one == kind}


@pytest.mark.parametrize(
    ("kind", "sql", "other"),
    [
        ("negation", "SELECT patients.name FROM patients WHERE patients.sex = 'F'", "patients.sex <> 'F'"),
        ("operator", "SELECT patients.name FROM patients WHERE patients.weight > 60", "patients.weight < 60"),
        ("direction", _ORDERED, "ORDER BY patients.weight"),
        ("aggregate", "SELECT MAX(patients.weight) FROM patients", "MIN(patients.weight)"),
        ("value", "SELECT patients.name FROM patients WHERE patients.sex = 'F'", "patients.sex = 'M'"),
        ("value", "SELECT visits.reason FROM visits ORDER BY visits.cost DESC LIMIT 3", "LIMIT "),
        (
            "negation",
            "SELECT patients.name FROM patients WHERE patients.name LIKE '%a%'",
            "NOT patients.name LIKE",
        ),
    ],
)
def test_a_contrast_changes_one_thing_of_the_query(
    kind: str, sql: str, other: str, clinic: Schema, executor: Executor
) -> None:
    queries = edited(sql, kind, clinic, executor)
    assert queries
    assert all(other in query and query != sql for query in queries)


def test_another_column_is_of_the_same_table_and_kind(executor: Executor) -> None:
    schema = Schema.from_ddl("CREATE TABLE stays (id INTEGER PRIMARY KEY, cost REAL, paid REAL, note TEXT)")
    assert edited("SELECT AVG(stays.cost) FROM stays", "column", schema, executor) == {
        'SELECT AVG(stays."paid") FROM stays'
    }
    assert not edited("SELECT stays.id FROM stays", "column", schema, executor)


def test_another_value_is_none_that_the_query_names_already(clinic: Schema, executor: Executor) -> None:
    sql = "SELECT visits.cost FROM visits WHERE visits.reason = 'cough' OR visits.reason = 'fever'"
    queries = {query for seed in range(9) for query in edited(sql, "value", clinic, executor, seed)}
    assert len(queries) > 2
    for query in queries:
        assert len(set(re.findall("'(.*?)'", query))) == 2


def test_a_number_is_exchanged_for_a_number_where_a_column_holds_text_as_well(tmp_path: Path) -> None:
    path = write_database(
        tmp_path / "untidy.sqlite",
        """CREATE TABLE stays (id INTEGER PRIMARY KEY, days INTEGER);
        INSERT INTO stays VALUES (1, 3), (2, 'unknown'), (3, '2019-05-16'), (4, 8), (5, '');""",
    )
    schema = Schema.from_sqlite(path)
    with open_executor(path, schema=schema) as executor:
        sql = "SELECT stays.id FROM stays WHERE stays.days > 3"
        queries = {query for seed in range(9) for query in edited(sql, "value", schema, executor, seed)}
    assert [query.rpartition(" ")[2] for query in queries] == ["8"]


def test_what_is_grouped_by_stays(clinic: Schema, executor: Executor) -> None:
    sql = "SELECT patients.sex, COUNT(*) FROM patients GROUP BY patients.sex"
    assert not edited(sql, "column", clinic, executor)


def test_questions_differ_in_one_phrase() -> None:
    assert differ_in_one_phrase("names of patients who smoke", "names of patients who snore", 0)
    assert differ_in_one_phrase("is F", "is not F", 0)
    assert not differ_in_one_phrase("the same", "the same", 0)
    long = "Find the lowest cost of all the visits of the patients of a ward whose beds are 9"
    assert not differ_in_one_phrase(long, f"Show the highest {long[16:-1]}8", 0)
    assert not differ_in_one_phrase("is a", "is " + "b" * 80, 10)
    assert differ_in_one_phrase("is a", "is " + "b" * 40, 10)
    assert not differ_in_one_phrase("Find the movies", "List the movies", 0)


def test_both_pairs_run_give_different_answers_and_share_an_id(clinic: Schema, executor: Executor) -> None:
    source = SchemaSource(clinic, executor, known_templates())
    pairs = generate_varied(source, 24, 5, contrast=1.0, unanswerable=0)
    assert len(pairs) == 24
    for one, other in zip(pairs[::2], pairs[1::2], strict=True):
        assert one.extra["contrast"] == other.extra["contrast"]
        assert one.extra["differs"] == other.extra["differs"]
        assert one.sql != other.sql
        longest = max(len(one.sql or ""), len(other.sql or ""))
        assert differ_in_one_phrase(one.question, other.question, longest)
        answers = [sorted(map(repr, executor.run(pair.sql).rows)) for pair in (one, other)]
        assert answers[0] != answers[1]
    assert len({pair.extra["contrast"] for pair in pairs}) == 12
    assert len({pair.extra["differs"] for pair in pairs}) > 2


def test_the_same_seed_gives_the_same_contrast(clinic: Schema, executor: Executor) -> None:
    source = SchemaSource(clinic, executor, known_templates())
    assert source.contrast("7") == source.contrast("7") != source.contrast("8")


def test_pairs_without_a_contrast_may_come_from_another_source(clinic: Schema, executor: Executor) -> None:
    asked: list[str] = []

    class Watched(SchemaSource):
        def draw(self, seed: str) -> Draft:
            asked.append(seed)
            return super().draw(seed)

    source = SchemaSource(clinic, executor, known_templates())
    watched = Watched(clinic, executor, known_templates())
    pairs = generate_varied(source, 10, 2, contrast=0.4, unanswerable=0.2, singles=watched)
    singles = [pair for pair in pairs if not pair.extra]
    assert len(singles) == 4
    assert len(asked) >= 4
