"""The measurements of a whole parse, on a toy bundle and four questions: what they report, not how long it takes."""

from __future__ import annotations

import importlib
import importlib.util
import json
import shutil
import sys
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from fastsql import Schema, backends
from fastsql.parser import BUNDLED, DEFAULT_MODEL

from .attacks.growing import growing, wide
from .grammar.test_benchmarks import BENCHMARKS, script
from .worlds.database import write_database
from .worlds.toy_bundle import QUESTIONS, runs_onnx, write_bundle
from .worlds.toy_model import SCHEMA
from .worlds.wide import numbered_tables

WIDE = Schema.from_dict(numbered_tables(10, 6, "TEXT") | {SCHEMA.tables[0].name.upper(): {"twice": "TEXT"}})


def module(name: str) -> Any:
    """A part that benchmarks share."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(BENCHMARKS))
        return importlib.import_module(name)


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_bundle(tmp_path_factory.mktemp("bundle"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    for name, schema in (("toy", SCHEMA), ("beaver", WIDE)):
        (tmp_path / name).mkdir()
        entry = {**schema.to_dict(), "db_id": name}
        (tmp_path / name / "schemas.json").write_text(json.dumps([entry]), encoding="utf-8")
    examples = [
        {"id": str(number), "db_id": "toy", "question": question, "sql": None}
        for number, question in enumerate(QUESTIONS)
    ]
    (tmp_path / "toy" / "valid.json").write_text(json.dumps(examples), encoding="utf-8")
    return tmp_path / "toy"


def run(name: str, data: Path, bundle: Path, *given: str) -> Any:
    report = data / "report.json"
    assert script(name)(["--model", str(bundle), "--data", str(data), "--json", str(report), *given]) == 0
    return json.loads(report.read_text(encoding="utf-8"))


def without_pauses(name: str) -> Callable[[list[str]], int]:
    """The script, which rests between bursts for the sake of the times alone."""

    def run(arguments: list[str]) -> int:
        main = script(name)
        with pytest.MonkeyPatch.context() as patch:
            patch.setitem(main.__globals__, "PAUSE", 0)
            return int(main(arguments))

    return run


@pytest.fixture
def encodable(bundle: Path) -> Path:
    """The bundle, where ONNX Runtime, if it is installed, finds a graph in it: without onnx, nothing writes one."""
    if importlib.util.find_spec("onnxruntime") is not None and not runs_onnx(bundle):
        pytest.skip("pip install '.[train]' runs this")
    return bundle


def test_latency_reports_stages_widths_floors_and_throughput(
    data: Path, encodable: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    widths = [str(width) for width in (3, len(SCHEMA.columns), 40)]
    given = [
        "--device",
        "python",
        "--encoder",
        "numpy",
        "--repeat",
        "1",
        "--width-questions",
        "1",
        "--no-rates",
        "--widths",
        *widths,
    ]
    report = run("latency", data, encodable, *given, "--questions", "2", "--beams", "1", "2")
    assert (report["device"], report["encoder"]) == ("python", "numpy")
    assert list(report["latency_ms"]) == ["1", "2"]
    for stages in report["latency_ms"].values():
        assert {"link", "encode", "decode", "render", "verify", "total"} <= set(stages)
        assert all(0 <= figures["p50"] <= figures["p99"] <= figures["max"] for figures in stages.values())
        assert stages["total"]["max"] >= stages["decode"]["p50"] > 0
    assert list(report["width_ms"]) == widths
    assert all(row["p50"] > 0 and row["first"] > 0 for row in report["width_ms"].values())
    assert report["sizes"]["steps"]["p50"] >= report["sizes"]["decisions"]["p50"] >= 1
    assert report["sizes"]["kinds of pointers"]["max"] <= 7
    assert report["floor"]["total"]["million bytes"] == pytest.approx(
        sum(cost["bytes"] for cost in report["cost"].values()) / 1e6
    )
    assert "floor, ms" not in report["floor"]["total"]
    assert [row["questions a second"] > 0 for row in report["questions_per_second"].values()] == [True] * 3
    assert report["cold_ms"]["until the first answer"] >= report["cold_ms"]["first parse"] > 0
    printed = capsys.readouterr().out
    assert "throughput" in printed
    assert f"A parse takes {report['latency_ms']['2']['total']['p50']:.0f} ms at the median" in printed
    assert f" on {report['machine']} (beam 2)." in printed


def test_the_sentence_to_cite_names_the_machine_and_its_floor() -> None:
    found = {
        "machine": "2 x AMD EPYC, AVX-512",
        "latency_ms": {"4": {"total": {"p50": 10.06, "p99": 32.9}}},
        "floor": {"total": {"floor, ms": 2.62, "floors": 3.84}},
    }
    assert module("latency").summary(found, 4) == (
        "10 ms at the median and 33 at the 99th percentile on 2 x AMD EPYC, AVX-512 (beam 4),"
        " 3.8 times that machine's floor of 2.6 ms"
    )


def test_a_floor_is_the_longer_of_computing_and_reading() -> None:
    cost, rates = module("fastsql.model.cost").Cost, module("rates")
    machine = rates.Rates(1, {"baseline": 1e9, "avx2": 2e9}, {"L3": 1e8}, {"L3": 1e8})
    needed = {
        "encoder": cost(4_000_000, 1),
        "graph": cost(1, 100_000),
        "memory": cost(0, 0),
        "decoder": cost(1, 1),
    }
    rows = module("floor").floors(
        needed, {"encode": {"p50": 4.0}, "graph": {"p50": 3.0}, "link": {"p50": 1.0}}, machine
    )
    assert (rows["encode"]["floor, ms"], rows["encode"]["floors"]) == (2.0, 2.0)
    assert (rows["graph"]["floor, ms"], rows["graph"]["floors"]) == (1.0, 3.0)
    assert rows["link"] == {"p50, ms": 1.0}
    merged = module("floor").floors(needed, {"encode": {"p50": 9.0}}, machine)
    assert merged["encode"]["floor, ms"] == 3.0


def test_a_schema_of_any_width_is_made_of_real_ones() -> None:
    of_width = module("widths").of_width
    for columns in (1, len(SCHEMA.columns) - 1, len(SCHEMA.columns), len(SCHEMA.columns) + 7):
        made = of_width(columns, [SCHEMA, WIDE])
        assert len(made.columns) == columns
        assert made.warnings == ()
    whole = of_width(len(SCHEMA.columns), [SCHEMA, WIDE])
    assert [c.name for c in whole.columns] == [c.name for c in SCHEMA.columns]
    assert whole.foreign_keys == SCHEMA.foreign_keys
    assert sum(c.name == "twice" for c in of_width(len(SCHEMA.columns) + 60, [SCHEMA, WIDE]).columns) == 0
    with pytest.raises(ValueError, match="the sources have"):
        of_width(10_000, [SCHEMA, WIDE])
    with pytest.raises(ValueError, match="has none"):
        of_width(0, [SCHEMA])


def test_memory_is_told_apart_by_stage(data: Path, encodable: Path) -> None:
    if not Path("/proc/self/smaps_rollup").is_file():
        pytest.skip("/proc/self/smaps_rollup is not there: run this on Linux")
    report = run("memory", data, encodable, "--devices", "python", "--parses", "4", "--beam", "1")
    stages = report["mebibytes"]["python"]["stages"]
    assert list(stages) == ["interpreter", "import", "load", "first parse", "2 parses", "4 parses"]
    for figures in stages.values():
        assert 0 < figures["anonymous"] < figures["resident"] <= figures["at most"] + 1
        assert figures["anonymous"] + figures["of files"] == pytest.approx(figures["resident"], rel=0.1)
    assert stages["load"]["resident"] > stages["import"]["resident"]


def test_linking_is_timed_by_part(data: Path, tmp_path: Path) -> None:
    if not (BUNDLED / DEFAULT_MODEL).is_dir():
        pytest.skip(f"the bundled model {DEFAULT_MODEL} runs this")
    data.rename(tmp_path / "ehrsql2024")
    report = tmp_path / "linking.json"
    given = ["--data", str(tmp_path), "--questions", "2", "--values", "50", "--json", str(report)]
    assert script("linking_speed")(given) == 0
    found = json.loads(report.read_text(encoding="utf-8"))
    assert found["measured"]["command"].startswith("python benchmarks/linking_speed.py --data ")
    (one,) = found["sets"]
    assert {"tokens", "dates", "python: link", "python: relations"} <= set(one["ms"])
    large = found["large"]["python"]
    assert large["open_ms"] > 0
    assert set(large["ms"]) == {
        f"{part}, {turn}" for part in ("match", "link") for turn in ("first", "again")
    }


def test_verification_is_timed_for_each_dialect(tmp_path: Path) -> None:
    main = script("verification")
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(main.__globals__, "DEPTHS", range(1, 2))
        patch.setitem(main.__globals__, "RUNS", 12)  # the first ten warm up
        patch.setitem(main.__globals__, "growing", lambda: islice(growing(), 2))
        patch.setitem(main.__globals__, "wide", lambda: islice(wide(), 1))
        assert main(["--data", str(tmp_path), "--mixed", "1", "--json", str(tmp_path / "v.json")]) == 0
    found = json.loads((tmp_path / "v.json").read_text(encoding="utf-8"))
    assert set(found["nests"]) == {"sqlite", "postgres", "duckdb", "mysql", "tsql"}
    assert all(figures["statements"] > 100 for figures in found["nests"].values())
    assert found["queries"]["small query, with a schema, again"]["p50"] > 0


def test_rates_are_positive_and_grow_with_the_instruction_set(tmp_path: Path) -> None:
    if shutil.which("c++") is None:
        pytest.skip("no C++ compiler: install one that is called c++")
    report = tmp_path / "rates.json"
    given = ["--threads", "1", "--milliseconds", "0.1", "--rounds", "2", "--json", str(report)]
    assert script("rates")(given) == 0
    (rates,) = json.loads(report.read_text(encoding="utf-8"))["rates"]
    assert set(rates["read"]) == set(rates["copied"]) == {"L1", "L2", "L3", "DRAM"}
    assert min(*rates["operations"].values(), *rates["read"].values(), *rates["copied"].values()) > 1e6


def test_rates_say_that_there_is_no_compiler(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CXX", "no-such-compiler")
    assert script("rates")([]) == 1
    assert "no C++ compiler" in capsys.readouterr().err


@pytest.mark.slow
def test_peers_write_as_many_tokens_as_they_are_asked_for(data: Path, bundle: Path) -> None:
    pytest.importorskip("torch", reason="pip install '.[train]' runs this")
    for package in ("transformers", "ctranslate2"):
        pytest.importorskip(package, reason=f"install {package}, which no extra brings, to run this")
    given = ["--device", "python", "--size", "tiny", "--read", "8", "--written", "3"]
    report = run("peers", data, bundle, *given, "--threads", "1", "--repeat", "1", "--questions", "1")
    assert list(report["rows"]) == [
        "fastsql, 1 thread",
        "T5, CTranslate2, float32, 1 thread",
        "T5, CTranslate2, int8, 1 thread",
        "T5, transformers, float32, 1 thread",
    ]
    assert report["rows"]["fastsql, 1 thread"]["beam 4, times"] == 1
    for row in report["rows"].values():
        assert row["beam 1, ms"] > 0
        assert row["beam 4, ms"] > 0


@pytest.mark.parametrize("name", ["latency", "memory", "peers"])
def test_missing_data_is_named(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    if name == "memory" and sys.platform != "linux":
        pytest.skip("this measurement is for Linux")
    assert script(name)(["--data", str(tmp_path)]) == 2
    assert "has no valid.json" in capsys.readouterr().err


@pytest.mark.skipif(backends.native() is None, reason="the native module is not built")
def test_parity_compares_the_engines(bundle: Path, data: Path, tmp_path: Path) -> None:
    arguments = ["--model", str(bundle), "--data", str(data.parent), "--json", str(tmp_path / "parity.json")]
    assert script("parity")(arguments) == 0
    counts = json.loads((tmp_path / "parity.json").read_text())["sets"]["all"]
    assert counts["questions"] == len(QUESTIONS) == counts["same"] + counts["tied"]
    assert counts["hypotheses"] >= counts["questions"]
    assert counts["largest"] <= 1e-4


def test_weights_of_a_second_opinion_are_tried(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    schema = Schema.from_ddl("CREATE TABLE boats (id INTEGER PRIMARY KEY, name TEXT, masts INTEGER)")
    database = write_database(
        tmp_path / "boats.sqlite", f"{schema.to_ddl()} INSERT INTO boats VALUES (1, 'Ida', 2);"
    )
    (tmp_path / "schemas.json").write_text(json.dumps([{**schema.to_dict(), "db_id": "boats"}]))
    pairs = (
        ("How many boats are there?", "SELECT COUNT(*) FROM boats"),
        ("names of boats", "SELECT masts FROM boats"),
    )
    examples = [
        {"id": question, "db_id": "boats", "question": question, "sql": sql} for question, sql in pairs
    ]
    (tmp_path / "pairs.json").write_text(json.dumps(examples))
    arguments = [
        str(tmp_path / "pairs.json"),
        "--schemas",
        str(tmp_path / "schemas.json"),
        "--databases",
        str(database),
    ]
    report = tmp_path / "report.json"
    assert script("hypotheses")([*arguments, "--weights", "--beam", "2", "--json", str(report)]) == 0
    found = json.loads(report.read_text())
    assert found["questions"] == 2
    assert list(found["right"]) == ["0", "0.15", "0.25"]
    assert {share for row in found["right"].values() for share in row.values()} == {50.0}, (
        "one is right, one is not"
    )
    assert "likelihood" in capsys.readouterr().out


@pytest.mark.parametrize(("given", "told"), [([], "likelihood"), (["--reranker"], "rating")])
def test_what_a_second_opinion_costs_is_told(tmp_path: Path, given: list[str], told: str) -> None:
    report = tmp_path / "report.json"
    arguments = [*given, "--programs", "1", "2", "--repeat", "1", "--json", str(report)]
    assert without_pauses("likelihood")(arguments) == 0
    for row in json.loads(report.read_text())[told].values():
        assert row["2, median"] >= row["2, best"] > 0
        assert row["difference"] < 1e-3


def test_encoders_are_compared(encodable: Path, tmp_path: Path) -> None:
    arguments = [
        "--model",
        str(encodable),
        "--tokens",
        "3",
        "--repeat",
        "1",
        "--json",
        str(tmp_path / "e.json"),
    ]
    assert without_pauses("encoder")(arguments) == 0
    report = json.loads((tmp_path / "e.json").read_text())["encoders"]
    assert "NumPy" in report
    assert any(name.startswith("native") for name in report) == (backends.native() is not None)
    assert all(figures["difference"] < 1e-3 for figures in report.values())
