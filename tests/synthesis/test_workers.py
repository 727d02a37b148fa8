"""Workers: the same parts, in the same order, whoever makes them."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql.cli.main import main
from fastsql.datasets import DatasetError, read_examples
from fastsql.evaluation.skeleton import skeleton
from fastsql.synthesis.many import MadeSet, make_set
from fastsql.synthesis.pool import SchemaPool
from fastsql.synthesis.source import SynthesisError
from fastsql.synthesis.workers import LOCAL, Workers, open_workers

WHY = "pip install '.[ray]' runs this"


def everything(workers: Workers) -> MadeSet:
    with SchemaPool(4, 2, kinds=["designs"]) as pool:
        return make_set(pool, 9, 2, lambda _: None, workers=workers)


@pytest.fixture(params=["here", "processes", "ray"], scope="module")
def workers(request: pytest.FixtureRequest) -> Iterator[Workers]:
    if request.param == "ray":
        pytest.importorskip("ray", reason=WHY)
    with open_workers(
        1 if request.param == "here" else 2, LOCAL if request.param == "ray" else None
    ) as opened:
        yield opened


def test_parts_come_in_the_order_of_their_tasks(workers: Workers) -> None:
    queries = [
        f"SELECT {number}, b FROM t{number} ORDER BY {', '.join('b' * number)}" for number in range(1, 12)
    ]
    assert list(workers.map(skeleton, queries)) == [skeleton(one) for one in queries]
    assert list(workers.map(skeleton, ())) == []


def test_what_a_task_raises_comes_out(workers: Workers, tmp_path: Path) -> None:
    missing, there = tmp_path / "missing.json", tmp_path / "there.json"
    there.write_text("[]")
    with pytest.raises(DatasetError) as raised:
        list(workers.map(read_examples, [there, missing, there]))
    assert raised.value.where == str(missing)
    assert list(workers.map(read_examples, [there])) == [()]


def test_all_workers_make_the_same_set(workers: Workers) -> None:
    with open_workers() as here:
        assert everything(workers) == everything(here)


def test_a_worker_that_is_gone_is_an_error() -> None:
    with open_workers(2) as workers, pytest.raises(SynthesisError, match="gone"):
        list(workers.map(os._exit, [1] * 9))


@pytest.mark.parametrize("address", ["127.0.0.1:1", "[::1]:1", "ray://127.0.0.1:1", "10.0.0.5:port"])
def test_an_address_where_no_cluster_is_is_named(address: str) -> None:
    pytest.importorskip("ray", reason=WHY)
    with pytest.raises(SynthesisError, match="no Ray cluster") as raised, open_workers(2, address):
        pass
    assert raised.value.where == address


def test_without_ray_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(SynthesisError, match=r"fastsql\[ray\]"), open_workers(2, LOCAL):
        pass


def test_pairs_whose_query_does_not_come_back_are_marked_or_left_out(tmp_path: Path) -> None:
    common = ["corpus", "--schemas", "3", "--pairs", "12", "--kinds", "designs", "--seed", "4"]
    assert main([*common, "--round-trip", "flag", "-o", str(tmp_path / "flag")]) == 0
    marked = read_examples(tmp_path / "flag" / "pairs.json.gz")
    came = [one.id for one in marked if one.extra["round_trip"]]
    assert 0 < len(came) < len(marked) == 12
    assert main([*common, "--round-trip", "drop", "--processes", "2", "-o", str(tmp_path / "drop")]) == 0
    kept = read_examples(tmp_path / "drop" / "pairs.json.gz")
    assert kept
    assert all(one.extra["round_trip"] for one in kept)


def test_written_questions_are_neither_parsed_nor_given_to_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for option in (["--round-trip", "drop"], ["--processes", "2"], ["--ray", LOCAL]):
        assert main(["corpus", "--written", *option, "-o", str(tmp_path)]) == 2
        assert "written questions" in capsys.readouterr().err


def test_chinese_questions_are_parsed_by_the_chinese_model(tmp_path: Path) -> None:
    kinds = ["--schemas", "3", "--pairs", "9", "--kinds", "designs", "--language", "zh"]
    assert main(["corpus", *kinds, "--round-trip", "flag", "-o", str(tmp_path)]) == 0
    assert any(one.extra["round_trip"] for one in read_examples(tmp_path / "pairs.json.gz"))
