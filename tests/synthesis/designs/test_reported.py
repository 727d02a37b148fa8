"""The names to keep clear of are those of the sets that are reported on."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.datasets import read_schemas
from fastsql.schema import Schema
from fastsql.schema.keys import plain_name
from fastsql.synthesis.designs.reported import CHINESE_CLINIC, KAGGLEDBQA, SYNTHEA, is_reported, overlap

CLINIC = Path(__file__).parents[3] / "benchmarks" / "clinic_zh" / "clinic.sql"


@pytest.mark.parametrize(("folder", "names"), [("sm3_synthea", SYNTHEA), ("kaggledbqa", KAGGLEDBQA)])
def test_the_lists_are_whole(folder: str, names: frozenset[str], fastsql_data: Path) -> None:
    if not (fastsql_data / folder).is_dir():
        pytest.skip(f"put {folder} into the folder that FASTSQL_DATA names to run this")
    schemas = read_schemas(fastsql_data / folder / "schemas.json").values()
    assert {plain_name(column.name) for schema in schemas for column in schema.columns} == names


def test_the_list_of_the_chinese_clinic_is_whole() -> None:
    schema = Schema.from_ddl(CLINIC.read_text(encoding="utf-8"))
    assert {plain_name(column.name) for column in schema.columns} == CHINESE_CLINIC


def test_names_are_compared_by_their_letters_and_each_once() -> None:
    assert overlap(["Birth_Date", "birthDate", "shoe size", "votes_first"]) == (1 / 3, 1 / 3, 0)


def test_a_schema_that_is_reported_on_is_known_under_other_cases() -> None:
    synthea = [
        "Id",
        "birth_date",
        "DeathDate",
        "marital",
        "payer",
        "encounter_class",
        "reasonCode",
        "total_cost",
        "own",
    ]
    assert is_reported(synthea)
    assert not is_reported(synthea[:5])
    assert not is_reported([*synthea, *(f"column {letter}" for letter in "abcdefgh")])


def test_published_schemas_that_are_reported_on_are_known(fastsql_data: Path) -> None:
    if not (fastsql_data / "bird").is_dir():
        pytest.skip("put bird into the folder that FASTSQL_DATA names to run this")
    schemas = read_schemas(fastsql_data / "bird" / "schemas.json")
    known = {name for name, one in schemas.items() if is_reported([column.name for column in one.columns])}
    assert known == {"synthea", "music_tracker", "european_football_1"}
