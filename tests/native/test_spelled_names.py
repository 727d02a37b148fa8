"""A model that was trained under the words of names reads every schema so, in the reference and in the native core."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

from fastsql.schema import Schema

from ..worlds import toy_bundle
from ..worlds.toy_bundle import load_toy

GLUED = Schema.from_ddl(
    "CREATE TABLE ENCOUNTER (ENCOUNTERCLASS TEXT, bodysite_code TEXT, readm_dt DATE, visits INTEGER)"
)
QUESTIONS = ("the encounter class of each body site code", "how many visits on the readmission date?")


@pytest.mark.parametrize("spelled", [True, False])
def test_both_engines_read_a_schema_alike(core: ModuleType, tmp_path: Path, spelled: bool) -> None:
    config = replace(toy_bundle.make_config(), spelled_names=spelled)
    folder = toy_bundle.write_bundle(tmp_path / "toy", config=config)
    reference, native = load_toy(folder), load_toy(folder, device="cpu")
    for parser in (reference, native):
        read = parser.engine.encode_schema(GLUED).links.schema
        assert read == (GLUED.spelled if spelled else GLUED)
    for question in QUESTIONS:
        one, two = reference.parse(question, GLUED), native.parse(question, GLUED)
        assert one.sql == two.sql
        assert one.sql is not None
        assert "encounter class" not in one.sql, "SQL has the names of the database"
