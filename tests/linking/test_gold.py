"""What a gold query is about: strings in either quotes, the columns that they meet, tables and columns named."""

from __future__ import annotations

import pytest

from fastsql.linking import column_literals, gold_items, gold_literals
from fastsql.linking.gold import is_word_literal

from ..worlds.valued_hospital import SCHEMA


def names(sql: str, dialect: str = "sqlite") -> tuple[set[str], set[str]]:
    items = gold_items(sql, SCHEMA, dialect)
    return (
        {SCHEMA.tables[table].name for table in items.tables},
        {SCHEMA.qualified_name(column) for column in items.columns},
    )


@pytest.mark.parametrize("text", ["%Y", "%Y-%m", "start of year", "-2 month", "2100-08", "07", "3.5", " "])
def test_formats_dates_and_numbers_are_no_word_literals(text: str) -> None:
    assert not is_word_literal(text)


@pytest.mark.parametrize("text", ["aspirin", "5 % dextrose", "% hemoglobin a1c", "糖尿病"])
def test_what_names_something_is_a_word_literal(text: str) -> None:
    assert is_word_literal(text)


@pytest.mark.parametrize(
    ("sql", "found"),
    [
        ('SELECT drug FROM prescriptions WHERE drug = "Heparin"', ["Heparin"]),
        ('SELECT drug FROM prescriptions WHERE prescriptions."drug" = "Heparin"', ["Heparin"]),
        ('SELECT drug FROM prescriptions WHERE "drug" = "Heparin"', ["Heparin"]),
        ('SELECT drug AS d FROM prescriptions ORDER BY "d"', []),
        ('SELECT t."n" FROM (SELECT drug AS n FROM prescriptions) AS t WHERE "n" = "x"', ["x"]),
    ],
)
def test_a_double_quoted_name_is_a_string_where_no_column_has_it(sql: str, found: list[str]) -> None:
    assert [literal.value for literal in gold_literals(sql, SCHEMA)] == found


def test_a_like_pattern_gives_what_it_contains() -> None:
    sql = "SELECT drug FROM prescriptions AS p WHERE p.drug LIKE '%heparin%'"
    assert column_literals(sql, SCHEMA) == [(("prescriptions", "drug"), "heparin")]


def test_the_items_of_a_query_are_found_through_aliases_subqueries_and_ctes() -> None:
    assert names(
        "SELECT p.drug FROM prescriptions AS p WHERE hadm_id IN (SELECT hadm_id FROM admissions)"
    ) == (
        {"prescriptions", "admissions"},
        {"prescriptions.drug", "prescriptions.hadm_id", "admissions.hadm_id"},
    )
    assert names("WITH admissions AS (SELECT drug FROM prescriptions) SELECT drug FROM admissions") == (
        {"prescriptions"},
        {"prescriptions.drug"},
    )
    assert names("SELECT COUNT(*) FROM admissions") == ({"admissions"}, set())
    assert names("SELECT TOP 3 [drug] FROM prescriptions", "tsql")[1] == {"prescriptions.drug"}


@pytest.mark.parametrize(
    ("first_day", "periods"),
    [
        ("DATE({}, 'weekday 0', '-6 days'{})", "-14 days"),
        ("DATE({}, 'start of month', '-' || ((STRFTIME('%m', {}) - 1) % 3) || ' months'{})", "-6 months"),
    ],
)
def test_the_first_day_of_a_week_or_a_quarter_asks_for_how_many_of_them_ago_it_is(
    first_day: str, periods: str
) -> None:
    now = first_day.replace("{}", "'now'", first_day.count("{}") - 1)
    own = first_day.replace("{}", "seen", first_day.count("{}") - 1).format("")
    sql = f"SELECT COUNT(*) FROM visit WHERE {own} = {now.format(', ' + repr(periods))}"
    assert [one.value for one in gold_literals(sql)] == [2]
    assert gold_literals(f"SELECT COUNT(*) FROM visit WHERE {own} = {now.format('')}") == ()


def test_what_a_first_day_is_counted_from_is_asked_for() -> None:
    sql = "SELECT x FROM visit WHERE seen > DATE((SELECT MAX(seen) FROM visit WHERE who = 'Smith'), 'start of month')"
    assert [one.value for one in gold_literals(sql)] == ["Smith"]
