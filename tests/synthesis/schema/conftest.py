"""A clinic of four tables, with rows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql.execution import Executor, open_executor
from fastsql.schema import Schema

from ...worlds.clinic import clinic_database


@pytest.fixture(scope="session")
def clinic_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return clinic_database(tmp_path_factory.mktemp("clinic") / "clinic.sqlite")


@pytest.fixture(scope="session")
def clinic(clinic_file: Path) -> Schema:
    return Schema.from_sqlite(clinic_file)


@pytest.fixture
def executor(clinic_file: Path) -> Iterator[Executor]:
    with open_executor(clinic_file) as opened:
        yield opened
