"""Fixtures that every part of the suite may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

DATA_VARIABLE = "FASTSQL_DATA"


def data_folder() -> Path | None:
    """The folder of public data sets that ``FASTSQL_DATA`` names; None where the variable is not set.

    Raises:
        pytest.UsageError: the variable names no folder. A wrong path must not look like a clean run.
    """
    name = os.environ.get(DATA_VARIABLE)
    if not name:
        return None
    folder = Path(name).expanduser()
    if not folder.is_dir():
        raise pytest.UsageError(f"{DATA_VARIABLE} names {folder}, which is no folder")
    return folder


@pytest.fixture(scope="session")
def fastsql_data() -> Path:
    """The folder of public data sets; a test that asks for it is skipped where there is none."""
    folder = data_folder()
    if folder is None:
        pytest.skip(f"set {DATA_VARIABLE} to a folder of data sets (see CONTRIBUTING.md) to run this")
    return folder


@pytest.fixture(scope="session")
def ehrsql2024(fastsql_data: Path) -> Path:
    """The folder of EHRSQL 2024, the data set the bundled English model is trained on."""
    folder = fastsql_data / "ehrsql2024"
    if not folder.is_dir():
        pytest.skip(f"put ehrsql2024 into the folder that {DATA_VARIABLE} names to run this")
    return folder
