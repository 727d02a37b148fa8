"""Values for databases that are not there: published excerpts and the literals of gold SQL."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from fastsql.datasets import DatasetError, gold_values, read_values, with_column_values, with_known_values
from fastsql.datasets.values import ColumnValues
from fastsql.schema import Schema

from ..worlds.database import inserted, write_database

SCHEMA = Schema.from_ddl("CREATE TABLE Drugs (name TEXT, route TEXT, dose REAL, code TEXT)")


def excerpt(folder: Path, content: object) -> Path:
    path = folder / "values.json.gz"
    path.write_bytes(gzip.compress(json.dumps(content).encode()))
    return path


def test_a_list_shorter_than_the_longest_is_a_whole_domain(tmp_path: Path) -> None:
    cells = {
        "name": ["aspirin", "heparin", "insulin"],
        "route": ["iv", "po"],
        "dose": [1.5],
        "gone": ["x", "y"],
    }
    known = read_values(excerpt(tmp_path, {"ward": {"drugs": cells}}))["ward"]
    schema, dictionary = with_column_values(SCHEMA, known)
    assert schema.columns[0].values == ()
    assert schema.columns[1].values == ("iv", "po")
    assert dictionary is not None
    assert dictionary.columns == (0, 1)
    assert [match.values for match in dictionary.match("Aspirin iv")] == [
        (("aspirin", (0,)),),
        (("iv", (1,)),),
    ]


def test_a_domain_is_left_out_where_it_cannot_stand_with_the_schema() -> None:
    names = [("Drugs", "route"), ("Drugs", "code"), ("Drugs", "dose")]
    known = ColumnValues(
        {names[0]: ("iv", "po", "im"), names[1]: ("a" * 201,), names[2]: ("1.5",)}, frozenset(names)
    )
    assert with_column_values(SCHEMA, known, max_values=2)[0] is SCHEMA
    own = SCHEMA.with_values({("Drugs", "route"): ("oral",)})
    assert with_column_values(own, known)[0].columns[1].values == ("oral",)
    assert with_column_values(SCHEMA, known, dictionary=False)[1] is None


def test_a_flag_has_its_domain_where_its_list_is_whole() -> None:
    schema = Schema.from_ddl("CREATE TABLE stays (died INTEGER, nights INTEGER)")
    died, nights = ("stays", "died"), ("stays", "nights")
    cells = {died: (0, 1), nights: (0, 1, 7)}
    for whole, most, values in (({died, nights}, 50, (0, 1)), (set(), 50, ()), ({died, nights}, 0, ())):
        known = ColumnValues(cells, frozenset(whole))
        found, _ = with_column_values(schema, known, max_values=most)
        assert [column.values for column in found.columns] == [values, ()]


def test_gold_literals_are_a_domain_once_hardly_any_is_new() -> None:
    route, name = ("Drugs", "route"), ("Drugs", "name")
    literals = [(route, "iv"), (route, "po")] * 10 + [
        (name, text) for text in ("aspirin", "heparin", "aspirin")
    ]
    known = gold_values(literals)
    assert known.values == {route: ("iv", "po"), name: ("aspirin", "heparin")}
    assert known.whole == {route}
    assert gold_values([*literals, (route, "im"), (route, "sc"), (route, "pr")]).whole == frozenset()


def test_a_database_comes_before_other_values(tmp_path: Path) -> None:
    ddl = "CREATE TABLE Drugs (name TEXT, route TEXT, dose REAL, code TEXT);"
    path = write_database(tmp_path / "ward.sqlite", ddl + inserted("Drugs", [("warfarin", "po", 1, "w1")]))
    known = ColumnValues({("Drugs", "name"): ("aspirin",)}, frozenset({("Drugs", "name")}))
    schema, dictionary = with_known_values(SCHEMA, path, known)
    assert schema.columns[0].values == ("warfarin",)
    assert dictionary is not None
    assert not dictionary.match("aspirin")
    assert with_known_values(SCHEMA, None, known)[0].columns[0].values == ("aspirin",)
    assert with_known_values(SCHEMA, None, None) == (SCHEMA, None)


@pytest.mark.parametrize(
    "content", [[], {"ward": []}, {"ward": {"drugs": []}}, {"ward": {"drugs": {"name": "x"}}}]
)
def test_values_of_another_form_are_an_error_that_names_the_file(tmp_path: Path, content: object) -> None:
    with pytest.raises(DatasetError, match=r"values\.json\.gz"):
        read_values(excerpt(tmp_path, content))
