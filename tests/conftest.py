"""Fixtures that every part of the suite may use."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from .databases import DatabaseMissingError, PostgresServer, postgres_server
from .made_once import fill_once
from .missing_extras import pytest_make_collect_report, pytest_runtest_makereport

if TYPE_CHECKING:
    from fastsql import Parser

__all__ = ["pytest_make_collect_report", "pytest_runtest_makereport"]

# pytest-xdist keeps every core busy with a process. Said before anybody imports NumPy or PyTorch, and to subprocesses, too.
for _library in ("OMP", "OPENBLAS", "MKL"):
    os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

DATA_VARIABLE = "FASTSQL_DATA"
DATABASES_VARIABLE = "FASTSQL_DATABASES"


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
        raise pytest.UsageError(f"{DATA_VARIABLE} names {folder}, which is not a folder")
    return folder


@pytest.fixture(scope="session", autouse=True)
def _no_waiting_for_the_disk() -> Iterator[None]:
    """Files are not flushed to the disk: a test's need not outlive the machine, and no test can tell.

    What must happen where a disk is full is still seen: such a test puts its own `os.fsync` in this one's place.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(os, "fsync", lambda descriptor: None)
        yield


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
def postgres() -> Iterator[PostgresServer]:
    """A PostgreSQL cluster of its own; tests that ask for it are skipped where no server is installed.

    With ``FASTSQL_DATABASES=require`` they fail instead, so that a clean run means that they ran.
    """
    try:
        with postgres_server() as server:
            yield server
    except DatabaseMissingError as error:
        _missing_database(str(error))


@pytest.fixture(scope="session")
def duckdb_driver() -> None:
    """Skips, or fails where databases are required, if DuckDB is not installed."""
    try:
        import duckdb  # noqa: F401 - only to see whether it is there
    except ImportError:
        _missing_database("pip install '.[duckdb]' to run this")


def _missing_database(remedy: str) -> None:
    if os.environ.get(DATABASES_VARIABLE) == "require":
        pytest.fail(f"{DATABASES_VARIABLE}=require, but: {remedy}")
    pytest.skip(remedy)


@pytest.fixture
def interrupts() -> Iterator[None]:
    """SIGINT raises KeyboardInterrupt, also where the tests run in the background and it is ignored."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.fixture(scope="session")
def made_once(tmp_path_factory: pytest.TempPathFactory) -> Callable[[str, Callable[[Path], object]], Path]:
    """Gives a folder by a name of its own, filled by a function once for all workers, only to be read."""
    return partial(fill_once, tmp_path_factory)


@pytest.fixture(scope="session")
def demo_hospitals(made_once: Callable[[str, Callable[[Path], object]], Path]) -> Path:
    """The hospitals of `fastsql demo`, a file for each language; not to be changed."""
    from fastsql.demo import hospital_of

    def write(folder: Path) -> None:
        for language in ("en", "zh"):
            hospital_of(language).create(folder / f"{language}.sqlite")

    return made_once("demo hospitals", write)


@pytest.fixture(scope="session")
def demo_hospital(demo_hospitals: Path) -> Path:
    """The one over the tables of MIMIC-IV."""
    return demo_hospitals / "en.sqlite"


@pytest.fixture(scope="session")
def chinese_hospital(demo_hospitals: Path) -> Path:
    """The one whose names are Chinese."""
    return demo_hospitals / "zh.sqlite"


@pytest.fixture(scope="module")
def few_searches() -> Iterator[None]:
    """A training run ends with searches of its model and its bundle, and curves, which take most of a short one: here with a
    single search, and without the picture.

    For modules whose tests look at something else; `tests/training/runs/test_loop.py` looks at what is compared and drawn.
    """
    from fastsql.training.runs import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "CHECKED", 4)
        patch.setattr(run, "SEARCHED", 1)
        patch.setattr(run, "draw_curves", lambda _: None)
        yield


@pytest.fixture(scope="module")
def no_searches(few_searches: None) -> Iterator[None]:
    """None at all, but for decisions that are compared: for bundles of a kind that another test searches with."""
    from fastsql.training.runs import run

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run, "SEARCHED", 0)
        yield


@pytest.fixture(scope="session")
def toy_bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bundle of the whole pipeline with random weights, for `toy_bundle.load_toy`; not to be changed."""
    from .worlds.toy_bundle import write_bundle

    return write_bundle(tmp_path_factory.mktemp("bundle") / "toy")


@pytest.fixture(scope="session", params=["python", "cpu"])
def toy(toy_bundle: Path, request: pytest.FixtureRequest) -> Parser:
    """A parser with random weights that answers whatever it is asked, on every backend that is there."""
    from fastsql import backends

    from .worlds.toy_bundle import load_toy

    if request.param == "cpu" and backends.native() is None:
        pytest.skip(f"native module {backends.native_status().reason}")
    return load_toy(toy_bundle, device=request.param)


@pytest.fixture(scope="session")
def reference(toy_bundle: Path) -> Parser:
    """The same parser on the reference in NumPy."""
    from .worlds.toy_bundle import load_toy

    return load_toy(toy_bundle)


@pytest.fixture(scope="session")
def ehr_en() -> Parser:
    """The bundled English model; tests that ask for it are skipped in a checkout that has none."""
    import fastsql
    from fastsql.parser import BUNDLED

    if not (BUNDLED / "ehr-en").is_dir():
        pytest.skip("put the bundled model into python/fastsql/models/ehr-en to run this")
    return fastsql.load("ehr-en", threads=1, penalty=0)
