"""Canonical forms see through what cannot change a query's meaning, and through nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.datasets import read_examples
from fastsql.errors import LimitError
from fastsql.evaluation import canonical_form
from fastsql.evaluation.canonical import FORM_NODES
from fastsql.schema import Schema

SAME = [
    ("SELECT gender FROM patients", "select PATIENTS.gender from Patients;"),
    ("SELECT p.gender FROM patients AS p", "SELECT gender FROM patients"),
    ("SELECT gender AS g FROM patients", "SELECT gender FROM patients"),
    (
        "SELECT 1 FROM patients WHERE weight > 3 AND gender = 'f'",
        "SELECT 1 FROM patients WHERE 'f' = gender AND 3 < weight",
    ),
    ("SELECT 1 * (weight - 3) FROM patients", "SELECT weight - 3.0 FROM patients"),
    ("SELECT 1 FROM patients WHERE (weight > 3)", "SELECT 1 FROM patients WHERE weight > 3.0"),
    ("SELECT 1 FROM patients WHERE weight = '3'", "SELECT 1 FROM patients WHERE weight = 3"),
    (
        "SELECT p.gender FROM patients p JOIN admissions a ON p.subject_id = a.subject_id WHERE a.age > 3",
        "SELECT y.gender FROM admissions x, patients y WHERE x.age > 3 AND x.subject_id = y.subject_id",
    ),
    (
        "SELECT t.c FROM (SELECT age AS c FROM admissions) AS t WHERE t.c > 3",
        "SELECT u.d FROM (SELECT age AS d FROM admissions) AS u WHERE u.d > 3",
    ),
    ("SELECT gender FROM patients ORDER BY dob ASC", "SELECT gender FROM patients ORDER BY dob"),
    (
        "SELECT gender, COUNT(*) AS n FROM patients GROUP BY gender ORDER BY n",
        "SELECT gender, COUNT(*) FROM patients GROUP BY gender ORDER BY COUNT(*)",
    ),
    ("SELECT age FROM admissions WHERE age <> 3", "SELECT age FROM admissions WHERE age != 3"),
    ("SELECT age FROM admissions WHERE age == 3", "SELECT age FROM admissions WHERE age = 3"),
    ('SELECT 1 FROM patients WHERE gender = "f"', "SELECT 1 FROM patients WHERE gender = 'f'"),
    (
        "SELECT age FROM admissions WHERE age NOT IN (1, 2)",
        "SELECT age FROM admissions WHERE NOT age IN (1, 2)",
    ),
    (
        "SELECT dob FROM patients WHERE gender NOT LIKE '%f%' AND weight NOT BETWEEN 1 AND 2",
        "SELECT dob FROM patients WHERE NOT weight BETWEEN 1 AND 2 AND NOT (gender LIKE '%f%')",
    ),
    ("SELECT datetime(current_time)", "SELECT datetime('now')"),
    (
        "SELECT age FROM admissions UNION SELECT weight FROM patients",
        "SELECT weight FROM patients UNION SELECT age FROM admissions",
    ),
]
DIFFERENT = [
    ("SELECT 1 * gender FROM patients", "SELECT gender FROM patients"),
    ("SELECT 2 * (weight - 3) FROM patients", "SELECT weight - 3 FROM patients"),
    ("SELECT gender, dob FROM patients", "SELECT dob, gender FROM patients"),
    ("SELECT gender FROM patients", "SELECT DISTINCT gender FROM patients"),
    ("SELECT 1 FROM patients WHERE weight > 3", "SELECT 1 FROM patients WHERE weight >= 3"),
    ("SELECT 1 FROM patients WHERE weight < 3", "SELECT 1 FROM patients WHERE weight > 3"),
    ("SELECT gender FROM patients ORDER BY dob", "SELECT gender FROM patients ORDER BY dob DESC"),
    ("SELECT COUNT(*) > 0 FROM patients", "SELECT COUNT(*) FROM patients"),
    (
        "SELECT p.gender FROM patients p LEFT JOIN admissions a ON p.subject_id = a.subject_id",
        "SELECT p.gender FROM patients p JOIN admissions a ON p.subject_id = a.subject_id",
    ),
    (
        "SELECT 1 FROM admissions a WHERE a.age > (SELECT AVG(b.age) FROM admissions b WHERE b.hadm_id = a.hadm_id)",
        "SELECT 1 FROM admissions a WHERE a.age > (SELECT AVG(b.age) FROM admissions b WHERE b.hadm_id = b.hadm_id)",
    ),
    ("SELECT strftime('%Y', dob) FROM patients", "SELECT strftime('%m', dob) FROM patients"),
    ("SELECT datetime(dob, '-1 year') FROM patients", "SELECT datetime(dob, '-1 month') FROM patients"),
    (
        "SELECT age FROM admissions EXCEPT SELECT weight FROM patients",
        "SELECT weight FROM patients EXCEPT SELECT age FROM admissions",
    ),
]
VALUES_ONLY = [
    ("SELECT 1 FROM patients WHERE gender = 'f'", "SELECT 1 FROM patients WHERE gender = 'm'"),
    ("SELECT 1 FROM patients WHERE gender LIKE '%f%'", "SELECT 1 FROM patients WHERE gender LIKE '%m%'"),
    ("SELECT 1 FROM patients WHERE weight > 3 LIMIT 1", "SELECT 1 FROM patients WHERE weight > -4.5 LIMIT 2"),
    ("SELECT datetime(dob, '-1 year') FROM patients", "SELECT datetime(dob, '-2 year') FROM patients"),
]


@pytest.mark.parametrize(("one", "other"), SAME)
def test_queries_of_one_meaning_have_one_form(schema: Schema, one: str, other: str) -> None:
    form = canonical_form(one, schema)
    assert form is not None
    assert form == canonical_form(other, schema)


@pytest.mark.parametrize(("one", "other"), DIFFERENT)
def test_queries_of_two_meanings_have_two_forms_even_without_values(
    schema: Schema, one: str, other: str
) -> None:
    first, second = canonical_form(one, schema), canonical_form(other, schema)
    assert first is not None
    assert second is not None
    assert first.without_values != second.without_values


@pytest.mark.parametrize(("one", "other"), VALUES_ONLY)
def test_queries_of_other_values_have_one_form_without_values(schema: Schema, one: str, other: str) -> None:
    first, second = canonical_form(one, schema), canonical_form(other, schema)
    assert first is not None
    assert second is not None
    assert first.with_values != second.with_values
    assert first.without_values == second.without_values


@pytest.mark.parametrize(
    "sql", ["SELECT", "SELECT x FROM patients", "SELECT 1 FROM nowhere", "DELETE FROM patients", ""]
)
def test_what_does_not_fit_the_schema_has_no_form(schema: Schema, sql: str) -> None:
    assert canonical_form(sql, schema) is None


def nested_aliases(levels: int) -> str:
    """Each level names the one below in SELECT and, by alias, in ORDER BY: the form doubles with every level."""
    sql = "SELECT age FROM admissions"
    for _ in range(levels):
        sql = f"SELECT ({sql}) AS x FROM admissions ORDER BY x"
    return sql


def test_forms_are_bounded_where_aliases_multiply_them(schema: Schema) -> None:
    assert canonical_form(nested_aliases(6), schema) is not None
    with pytest.raises(LimitError, match="more than 20,000 nodes"):
        canonical_form(nested_aliases(40), schema)


def test_nested_queries_cost_no_more_than_their_text(schema: Schema) -> None:
    sql = "SELECT hadm_id FROM admissions WHERE age > 3"
    for _ in range(40):
        sql = f"SELECT hadm_id FROM admissions WHERE hadm_id IN ({sql})"
    form = canonical_form(sql, schema)
    assert form is not None
    assert form.with_values.count("(In ") == 40


def test_the_bound_is_on_nodes(schema: Schema) -> None:
    def summands(number: int) -> str:
        # One node each: the query, the list, and its items.
        return f"SELECT age FROM admissions WHERE age IN ({', '.join('1' for _ in range(number))})"

    # SELECT, its item, IN and the column beside it.
    largest = FORM_NODES - 4
    assert canonical_form(summands(largest), schema) is not None
    with pytest.raises(LimitError):
        canonical_form(summands(largest + 1), schema)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT 1" + " + 1" * 5_000 + " FROM admissions",
        " UNION ".join(["SELECT age FROM admissions"] * 2_000),
    ],
)
def test_queries_that_nest_without_parentheses_are_bounded(schema: Schema, sql: str) -> None:
    with pytest.raises(LimitError, match="is nested too deeply"):
        canonical_form(sql, schema)


def test_gold_sql_of_every_kind_has_a_form(fastsql_data: Path) -> None:
    from fastsql.datasets import read_schemas

    sets = (("ehrsql2024", "valid.json", 1.0), ("spider", "dev.json", 0.99), ("css", "examples.json.gz", 0.9))
    for name, file, least in sets:
        folder = fastsql_data / name
        if not folder.is_dir():
            continue
        examples = [example for example in read_examples(folder / file)[::40] if example.sql is not None]
        schemas = read_schemas(folder / "schemas.json")
        forms = [canonical_form(example.sql or "", schemas[example.db_id]) for example in examples]
        assert sum(form is not None for form in forms) >= least * len(forms), name
