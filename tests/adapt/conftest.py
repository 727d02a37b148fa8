"""A clinic to adapt to."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql.execution import Executor, open_executor
from fastsql.schema import Schema

from ..worlds.clinic import clinic_database

PLANTED = ("Zebulon Quarkwright", "Xanthippe Vorplotz")
"""Names that no bundle knows: of patients, and of seeds."""


@pytest.fixture(scope="session")
def clinic(tmp_path_factory: pytest.TempPathFactory) -> Path:
    names = (*PLANTED, *(f"Ada Moss {n}" for n in range(28)))
    return clinic_database(tmp_path_factory.mktemp("clinic") / "clinic.sqlite", names)


@pytest.fixture(scope="module", autouse=True)
def judged_alike() -> Iterator[None]:
    """A base asks a second opinion, against which the one or two updates of a test cannot win: here it asks none either."""
    if importlib.util.find_spec("torch") is None:
        yield
        return
    from fastsql.adapt import adapting

    observe = adapting.observe
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(adapting, "observe", lambda *args, second=False: observe(*args))
        yield


@pytest.fixture
def schema(clinic: Path) -> Schema:
    return Schema.from_sqlite(clinic)


@pytest.fixture
def executor(clinic: Path, schema: Schema) -> Iterator[Executor]:
    with open_executor(clinic, schema=schema) as opened:
        yield opened
