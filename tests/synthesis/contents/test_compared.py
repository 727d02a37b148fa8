"""Schemas that are published without rows hold what their training queries name."""

from __future__ import annotations

from fastsql.schema import Schema
from fastsql.synthesis.contents.compared import (
    compared_values,
    unknown_contents,
    with_those_alike,
    with_values,
)
from fastsql.synthesis.contents.fillings import Choice
from fastsql.synthesis.contents.suggest import suggest

VENUES = tuple(f"oval {number}" for number in range(9))


def test_values_are_those_that_columns_are_compared_with() -> None:
    queries = [
        ("cups", "SELECT a FROM data WHERE T1.Venue = 'oval 1' AND \"home team\" <> 'O''Hara'"),
        ("cups", "SELECT a FROM data WHERE `home team` = 'Ajax' AND venue LIKE '%x%' AND year > 1999"),
        ("other", "SELECT a FROM data WHERE venue = 'hall'"),
    ]
    assert compared_values(queries) == {
        "cups": {"venue": {"oval 1"}, "home team": {"Ajax", "O'Hara"}},
        "other": {"venue": {"hall"}},
    }


def test_tables_that_share_several_columns_hold_alike_things() -> None:
    columns = {
        "cup": {"venue", "crowd", "home"},
        "league": {"venue", "crowd", "home", "date"},
        "concerts": {"venue", "crowd", "singer"},
    }
    values = {
        "league": {"venue": {"oval"}, "date": {"May"}},
        "concerts": {"venue": {"hall"}},
        "cup": {"home": {"Ajax"}},
    }
    assert with_those_alike("cup", columns, values) == {"venue": {"oval"}, "home": {"Ajax"}}


def test_columns_of_text_hold_what_is_known_of_them_where_that_is_enough() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE games (id VARCHAR(9) PRIMARY KEY, venue VARCHAR(9), host VARCHAR(9), points INTEGER)"
    )
    values = {"id": set(VENUES), "venue": set(VENUES), "points": set(VENUES), "host": set(VENUES[:2])}
    before = suggest(schema, schema.profile)
    after = with_values(schema, schema.profile, before, values, "1")
    assert isinstance(after[1].drawn, Choice)
    assert set(after[1].drawn.values) == set(VENUES)
    assert [after[0], after[2], after[3]] == [before[0], before[2], before[3]]
    assert with_values(schema, schema.profile, before, {}, "1") == before


def test_what_a_name_does_not_tell_is_unknown() -> None:
    schema = Schema.from_ddl(
        "CREATE TABLE games (team_name VARCHAR(9), record VARCHAR(9), city VARCHAR(9), points INTEGER)"
    )
    assert unknown_contents(schema.profile, suggest(schema, schema.profile)) == {1}
