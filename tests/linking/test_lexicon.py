"""What a model knows of well-known columns, and what a database adds."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from fastsql.errors import ModelError, SchemaError
from fastsql.limits import Limits
from fastsql.linking.lexicon import Lexicon, with_database_values
from fastsql.schema import Schema

from ..worlds.database import inserted, write_database

SCHEMA = Schema.from_dict({"items": {"id": "INT", "label": "TEXT", "seen": "TIMESTAMP"}})
SETTINGS = {
    "lexicon": [["ITEMS", "Label", ["weight", "height"]], ["elsewhere", "label", ["x"]]],
    "constants": [["fever", 38.5, "lower bound of fever"]],
    "constant_tables": ["ITEMS"],
}
LEXICON = Lexicon.from_settings(SETTINGS)


def values(schema: Schema, column: int = 1) -> tuple[object, ...]:
    return schema.columns[column].values


def test_columns_are_known_by_name() -> None:
    known = LEXICON.apply(SCHEMA)
    assert values(known) == ("weight", "height")
    assert [(c.name, c.value, c.label) for c in known.constants] == [("fever", 38.5, "lower bound of fever")]
    assert LEXICON.apply(known) == known


def test_a_schema_without_columns_of_the_lexicon_is_left_alone() -> None:
    other = Schema.from_dict({"patients": {"label": "TEXT"}})
    assert LEXICON.apply(other) is other
    assert Lexicon.from_settings({}).apply(SCHEMA) is SCHEMA


@pytest.mark.parametrize("names", [("items", "ITEMS"), ("ITEMS", "items")])
def test_a_column_that_is_spelt_in_two_ways_has_the_values_of_its_own(names: tuple[str, str]) -> None:
    known = {"items": ["weight"], "ITEMS": ["height"]}
    lexicon = Lexicon.from_settings({"lexicon": [[name, "label", known[name]] for name in names]})
    assert values(lexicon.apply(SCHEMA)) == ("weight",)


def test_constants_come_with_their_tables_alone() -> None:
    lexicon = Lexicon.from_settings({**SETTINGS, "constant_tables": ["vital_signs"]})
    known = lexicon.apply(SCHEMA)
    assert values(known) == ("weight", "height")
    assert known.constants == ()
    assert Lexicon.from_settings({**SETTINGS, "constant_tables": []}).apply(SCHEMA).constants == ()


def test_what_a_schema_says_itself_stands() -> None:
    own = SCHEMA.with_values({("items", "label"): ["Height", "pulse"]}).with_constants({"own": 1})
    assert LEXICON.apply(own) is own


def test_values_are_added_as_far_as_there_is_room() -> None:
    assert values(LEXICON.apply(SCHEMA, Limits(values_per_column=1))) == ("weight",)


@pytest.mark.parametrize("name", ["lexicon", "constants"])
@pytest.mark.parametrize(
    "setting",
    ["text", {"a": 1}, [1], [["a", "b"]], [["a", "b", 3, 4]], [[1, "b", ["c"]]], [["a", 2, [None]]]],
)
def test_a_setting_of_another_form_is_a_model_error(name: str, setting: Any) -> None:
    with pytest.raises(ModelError, match=f"setting {name!r} of the model bundle"):
        Lexicon.from_settings({name: setting})


@pytest.mark.parametrize("setting", ["chartevents", {"a": 1}, [1], [["a"]]])
def test_tables_of_another_form_are_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'constant_tables' of the model bundle"):
        Lexicon.from_settings({"constant_tables": setting})


@pytest.mark.parametrize(
    "setting", [[["a", "b", "values"]], [["a", "b", [True]]], [["a", "b", [["nested"]]]]]
)
def test_values_that_are_none_are_a_model_error(setting: Any) -> None:
    with pytest.raises(ModelError, match="setting 'lexicon'"):
        Lexicon.from_settings({"lexicon": setting})


@pytest.fixture
def database(tmp_path: Path) -> Path:
    rows = [(i, ("scale", "cuff")[i % 2], f"2100-01-{i + 1:02}", "x") for i in range(6)]
    ddl = "CREATE TABLE items (id INT, label TEXT, seen TIMESTAMP, extra TEXT);"
    return write_database(tmp_path / "ward.sqlite", ddl + inserted("items", rows))


def test_small_domains_of_a_database_stand_with_the_schema(database: Path) -> None:
    known = with_database_values(SCHEMA, database)
    assert sorted(map(str, values(known))) == ["cuff", "scale"]
    assert values(known, 2) == (), "times are no domain"
    assert len(known.columns) == 3, "columns that only the file has stay out"


def test_a_domain_that_is_not_small_stays_out(database: Path) -> None:
    assert with_database_values(SCHEMA, database, max_values=1) is SCHEMA


def test_values_that_a_schema_has_are_kept(database: Path) -> None:
    own = SCHEMA.with_values({("items", "label"): ["pulse"]})
    assert values(with_database_values(own, database)) == ("pulse",)


def test_a_file_that_is_no_database_is_a_schema_error(tmp_path: Path) -> None:
    path = tmp_path / "text.sqlite"
    path.write_text("no database")
    with pytest.raises(SchemaError, match=r"text\.sqlite"):
        with_database_values(SCHEMA, path)
