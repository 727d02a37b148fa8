"""Fixtures that every part of the suite may use."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from fastsql import Parser

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


@pytest.fixture(scope="session")
def toy_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the whole pipeline with random weights, for `toy_bundle.load_toy`; not to be changed."""
    from .toy_bundle import write_bundle

    return write_bundle(tmp_path_factory.mktemp("bundle") / "toy")


@pytest.fixture(scope="session")
def toy(toy_bundle: Path) -> Parser:
    """A parser with random weights that answers whatever it is asked."""
    from .toy_bundle import load_toy

    return load_toy(toy_bundle)


@pytest.fixture(scope="session")
def ehr_en() -> Parser:
    """The bundled English model; tests that ask for it are skipped in a checkout that has none."""
    import fastsql
    from fastsql.parser import BUNDLED

    if not (BUNDLED / "ehr-en").is_dir():
        pytest.skip("put the bundled model into python/fastsql/models/ehr-en to run this")
    return fastsql.load("ehr-en", device="python", threads=1, penalty=0)
