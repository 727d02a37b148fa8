"""The measurements of the CUDA core: what they report and refuse; on a simulated GPU where the module has one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastsql import backends
from fastsql.decode import Hypothesis, Search
from fastsql.model.config import EncoderConfig

from .grammar.test_benchmarks import script
from .test_benchmarks import module
from .worlds import toy_bundle

RATES = {"copied": 1e9, "operations": 1e12, "launch_us": 2.0}
LAPS = {"encoder": 1.0, "graph": 2.0, "decode": 4.0, "rest": 0.5, "call": 7.5}


def figures(ms: float) -> dict[str, float]:
    return dict.fromkeys(("p50", "p90", "p99", "mean", "max"), ms)


@pytest.fixture
def parse_report() -> dict[str, Any]:
    """As gpu/parse.py writes it."""
    return {
        "alone": {device: {name: figures(ms) for name, ms in LAPS.items()} for device in ("cuda", "cpu")},
        "batches": {
            str(size): {**LAPS, "questions a second": 1e3 * size / 7.5, "two callers": 1e5}
            for size in (16, 256)
        },
        "sizes": {"steps": figures(10.0)},
        "cost": {
            "encoder": {"operations": 1_000_000, "bytes": 300_000},
            "graph": {"operations": 500_000_000, "bytes": 1},
            "memory": {"operations": 500_000_000, "bytes": 1},
            "decoder": {"operations": 3_000_000, "bytes": 1_000_000},
        },
        "cpu_questions_a_second": 90.0,
        "end_to_end": {"cuda": {**figures(9.0), "questions a second": 200.0}},
    }


@pytest.fixture
def reports(parse_report: dict[str, Any]) -> dict[str, Any]:
    """What a whole run leaves."""
    forms = {"ours": 0.1, "factored": 3.0, "naive, compiled": 0.9, "factored, compiled": 0.6, "flex": 0.8}
    return {
        "test": {"tests": {"passed": True, "said": "All tests passed"}},
        "sanitize": {"racecheck": {"passed": False, "said": "RACECHECK SUMMARY: 2 hazards"}},
        "check": {
            "tolerance": 1e-2,
            "sets": {
                "all": {
                    **dict.fromkeys(("questions", "same", "tied", "tied earlier", "different", "failed"), 1),
                    "largest": 2e-2,
                    "alone": 1,
                    "asked alone": 1,
                }
            },
        },
        "rates": {"rates": RATES},
        "attention": {
            "shapes": [
                {
                    "rows": 320,
                    "batch": 64,
                    "operations": 10**6,
                    "bytes": 50_000,
                    "forms": {name: {"queued": ms} for name, ms in forms.items()},
                }
            ]
        },
        "parse": parse_report,
    }


# ---------------------------------------------------------------- floors and the table


def test_a_stage_is_set_against_the_longer_of_computing_and_reading(parse_report: dict[str, Any]) -> None:
    rates = module("gpu.rates").GpuRates(**RATES)
    stages = module("gpu.floor").stages
    one = stages(rates, parse_report, 1)
    assert one["encoder"].floor_ms == pytest.approx(0.3)  # bytes
    assert one["graph"].floor_ms == pytest.approx(1.0)  # operations
    assert one["decode"].floor_ms == pytest.approx(
        0.1
    )  # a tenth of the bytes: weights are read once, not at each step
    assert one["call"].floor_ms == pytest.approx(1.4)
    assert one["call"].times == pytest.approx(7.5 / 1.4)
    many = stages(rates, parse_report, 256)
    assert many["encoder"].floor_ms == pytest.approx(0.3)  # weights once a batch
    assert many["graph"].floor_ms == pytest.approx(256.0)
    assert module("gpu.floor").streamed(parse_report, 16) == pytest.approx(16 * 1e6 / 4e-3)


def test_the_table_says_what_is_needed_and_what_is_reached(reports: dict[str, Any]) -> None:
    rows = {row.name.strip(): row for row in module("gpu.table").rows(reports)}
    compiled = rows["torch.compile (factored, compiled), times ours"]
    assert (compiled.figure, compiled.needed, compiled.met) == (pytest.approx(6.0), 5.0, "yes")
    assert rows["FlexAttention (flex), times ours"].met == ""
    assert rows["attention, N = 320, batch 64, ms"].floor == pytest.approx(0.05)
    alone = rows["ids to actions, one question, p50, ms"]
    assert (alone.needed, alone.goal, alone.met) == (3.0, 1.5, "NO")
    assert rows["questions a second, batch 256"].met == "goal"
    assert rows["questions a second, batch 16"].met == ""
    assert rows["largest difference of scores"].met == "NO"
    assert rows["racecheck"].figure == "FAILED (RACECHECK SUMMARY: 2 hazards)"
    lines = list(module("gpu.table").text(list(rows.values())))
    assert lines[0].split() == ["measured", "needed", "goal", "met", "floor", "floors"]
    assert len(lines) == 1 + len(rows)
    floors = next(line for line in lines if line.startswith("questions a second, batch 256"))
    assert float(floors.split()[-1]) == pytest.approx(256_000 / 256.4 / (256_000 / 7.5), rel=0.01)


@pytest.mark.parametrize("missing", ["check", "rates", "attention", "parse"])
def test_the_table_leaves_out_what_was_not_measured(reports: dict[str, Any], missing: str) -> None:
    whole = len(list(module("gpu.table").rows(reports)))
    del reports[missing]
    assert 0 < len(list(module("gpu.table").rows(reports))) < whole


def test_a_report_is_there_after_every_figure(tmp_path: Path) -> None:
    report = module("gpu.device").Report(tmp_path / "report.json", {"command": "x"}, first=1)
    there = {"measured": {"command": "x"}, "first": 1}
    assert json.loads((tmp_path / "report.json").read_text()) == there
    report.add(second=[2])
    assert json.loads((tmp_path / "report.json").read_text()) == {**there, "second": [2]}


# ---------------------------------------------------------------- time, and commands that fail


def test_later_steps_keep_what_they_need_at_least() -> None:
    gpu = module("gpu.run")
    steps = [gpu.Step(name, name, most=100, least=20) for name in "abc"]
    assert gpu.allowed(steps[0], steps[1:], 500) == 100
    assert gpu.allowed(steps[0], steps[1:], 90) == 50
    assert gpu.allowed(steps[0], steps[1:], 45) == 20
    assert gpu.allowed(steps[0], steps[1:], 19) == 0
    assert gpu.allowed(steps[2], [], 30) == 30


def test_a_command_ends_with_what_it_has_started() -> None:
    limited = module("gpu.process").limited
    assert limited(["sh", "-c", "echo out; echo err >&2; exit 3"], 60) == (3, "out\nerr\n")
    status, output = limited(["sh", "-c", "echo begun; tail -f /dev/null & wait"], 1)
    assert (status, output) == (None, "begun\n")


def programs(folder: Path, **bodies: str) -> None:
    for name, body in bodies.items():
        file = folder / name.replace("_", "-")
        file.write_text(f"#!/bin/sh\n{body}\n", encoding="utf-8")
        file.chmod(0o755)


def test_the_module_is_built_without_tests_where_they_do_not_compile(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("pybind11", reason="pybind11 is not installed: pip install pybind11")
    programs(tmp_path, cmake='case "$*" in *FASTSQL_TESTS=ON*) echo "error: no Catch2"; exit 1;; esac')
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    build = module("gpu.build").build
    assert "error: no Catch2" in build(tmp_path / "build", simulated=False, catch2=None, jobs=1)
    programs(tmp_path, cmake="exit 0")
    assert build(tmp_path / "build", simulated=False, catch2=None, jobs=1) == ""
    programs(tmp_path, cmake="echo 'CMake Error: nothing works'; exit 1")
    with pytest.raises(module("gpu.build").BuildError, match="CMake Error: nothing works"):
        build(tmp_path / "build", simulated=False, catch2=None, jobs=1)


def test_a_package_is_made_of_the_sources_and_the_module(tmp_path: Path) -> None:
    build = module("gpu.build")
    with pytest.raises(build.BuildError, match="0 files named _core"):
        build.package(tmp_path)
    (tmp_path / "_core.so").touch()
    inner = build.package(tmp_path) / "fastsql"
    assert (inner / "errors.py").is_file()
    assert (inner / "_core.so").is_file()
    assert not (inner / "_core.so").is_symlink()


def test_what_a_sanitizer_finds_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tests = module("gpu.tests")
    (tmp_path / "tests" / "cpp").mkdir(parents=True)
    (tmp_path / "tests" / "cpp" / "fastsql_cuda_tests").touch()
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    programs(tmp_path, compute_sanitizer="echo '========= ERROR SUMMARY: 0 errors'")
    assert tests.sanitize("memcheck", tmp_path, 60, False) == {
        "passed": True,
        "said": "ERROR SUMMARY: 0 errors",
    }
    programs(tmp_path, compute_sanitizer="echo '========= ERROR SUMMARY: 3 errors'; exit 99")
    assert tests.sanitize("memcheck", tmp_path, 60, False)["passed"] is False
    programs(tmp_path, compute_sanitizer="echo 'RACECHECK SUMMARY: 1 hazard displayed'")
    assert tests.sanitize("racecheck", tmp_path, 60, False)["passed"] is False
    programs(tmp_path, compute_sanitizer="echo 'Device not supported'; exit 1")
    assert tests.sanitize("memcheck", tmp_path, 60, False)["passed"] is False
    programs(tmp_path, ctest="echo 'no GPU: no device'")
    assert tests.tests(tmp_path, 60)["passed"] is False
    programs(tmp_path, ctest="echo 'All tests passed (9 assertions in 2 test cases)'")
    assert tests.tests(tmp_path, 60)["passed"] is True
    assert tests.tests(tmp_path / "elsewhere", 60)["passed"] is None


# ---------------------------------------------------------------- which answers are the same


def search(*hypotheses: tuple[tuple[int, ...], tuple[float, ...]]) -> Search:
    return Search(tuple(Hypothesis(*hypothesis) for hypothesis in hypotheses), float("-inf"))


def test_ties_are_told_from_differences() -> None:
    check = module("gpu.check")
    first = ((1, 2, 3), (-0.1, -0.2, -0.3))
    ours = search(first, ((1, 4, 5), (-0.1, -1.0, -0.5)))
    near = search(first, ((1, 6, 7), (-0.1, -1.2, -0.305)))
    assert check.near_by_rank(ours, near)
    assert not check.near_by_rank(ours, search(first))
    crossed = search(first, ((1, 6, 7), (-0.1, -1.005, -3.0)))
    assert not check.near_by_rank(ours, crossed)
    assert check.near_earlier(ours, crossed)
    far = search(first, ((1, 6, 7), (-0.1, -2.0, -3.0)))
    assert not check.near_earlier(ours, far)
    assert not check.near_earlier(ours, ours)


# ---------------------------------------------------------------- attention in PyTorch


def test_every_form_of_attention_is_the_definition() -> None:
    torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")
    forms = module("gpu.attention_forms")
    inputs = forms.Inputs.random(torch, "cpu", batch=2, heads=2, rows=9, head_size=32, relations=5, seed=0)
    found = {**forms.eager_forms(torch), **forms.flex_forms(torch)}
    assert len(found) == 6
    with torch.inference_mode():
        for name, form in found.items():
            wanted = torch.stack(
                [inputs.expected(item, forms.KEY_SIDE_ONLY not in name) for item in range(2)]
            )
            off = (form(*forms.prepared(name, inputs, compiled=False)).double() - wanted).norm()
            assert off / wanted.norm() < 1e-2, name


def test_a_form_that_is_wrong_is_not_timed() -> None:
    torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")
    attention, forms = module("gpu.attention"), module("gpu.attention_forms")
    device = module("gpu.device").Device(torch, simulated=True)
    inputs = forms.Inputs.random(torch, "cpu", batch=1, heads=2, rows=5, head_size=32, relations=5, seed=0)
    unwritten = torch.full_like(inputs.query, float("nan"))
    for wrong in (lambda: unwritten, lambda: inputs.query):
        row = attention.timed(device, attention.OURS, inputs, [wrong])
        assert "off the definition" in row["left out"]
        assert "queued" not in row


# ---------------------------------------------------------------- the whole, without a GPU


def test_a_run_reports_its_steps(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("torch", reason="pip install '.[train]' runs this")
    given = ["--simulated", "--folder", str(tmp_path / "build"), "--json", str(tmp_path / "gpu.json")]
    assert script("gpu/run")([*given, "--only", "rates"]) == 0
    report = json.loads((tmp_path / "gpu.json").read_text())
    assert report["card"]["name"] == "a simulated GPU"
    assert report["measured"]["command"].startswith("python benchmarks/gpu/run.py --simulated --folder ")
    assert report["measured"]["machine"]["cores"] >= 1
    assert report["steps"]["rates"]["status"] == "done"
    assert min(report["steps"]["rates"]["report"]["rates"].values()) > 0
    assert "TFLOP/s" in capsys.readouterr().out
    assert script("gpu/run")([*given, "--only", "rates", "--minutes", "0.05"]) == 1
    assert "no time was left" in capsys.readouterr().out


def test_synthetic_questions_are_a_data_set(tmp_path: Path) -> None:
    questions, parity = module("gpu.questions"), module("parity")
    assert script("gpu/questions")(["--folder", str(tmp_path), "--questions", "6"]) == 0
    schema, texts = questions.hospital(tmp_path, 4)
    assert (len(texts), len(set(texts))) == (4, 4)
    assert len(schema.tables) > 10
    assert [name for name, _, _ in parity.questions_of(tmp_path, None, 100)] == ["demo"] * 6
    with pytest.raises(questions.NoQuestionsError, match="set FASTSQL_DATA"):
        questions.hospital(tmp_path / "demo", 1)


@pytest.mark.slow
def test_a_simulated_gpu_is_checked_and_timed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    core = backends.native()
    if core is None or not hasattr(core, "CudaEngine") or core.gpus()[0][:1] == []:
        pytest.skip("no GPU: build the native module with -DFASTSQL_CUDA=SIMULATED (benchmarks/gpu/build.py)")
    pytest.importorskip("torch", reason="pip install '.[train]' runs this")
    config, weights = toy_bundle.make_config(), toy_bundle.random_weights
    encoder = EncoderConfig(64, 1, 2, 64, config.encoder.vocabulary, config.encoder.positions)
    wide = replace(config, d=64, heads=2, ffn=64, encoder=encoder)  # the kernels take heads of 32
    monkeypatch.setattr(toy_bundle, "make_config", lambda: wide)
    monkeypatch.setattr(  # at their size, attention is so sharp that bfloat16 moves scores by more than is promised
        toy_bundle, "random_weights", lambda *given: {name: w / 2 for name, w in weights(*given).items()}
    )
    bundle = toy_bundle.write_bundle(tmp_path / "bundle")
    data = module("gpu.questions").write_demo(tmp_path / "data", 2)
    given = ["--simulated", "--json", str(tmp_path / "step.json")]
    asked = [
        "--model",
        str(bundle),
        "--data",
        str(data),
        "--questions",
        "2",
        "--beam",
        "1",
        "--actions",
        "24",
    ]

    def report() -> Any:
        return json.loads((tmp_path / "step.json").read_text(encoding="utf-8"))

    assert script("gpu/check")([*given, *asked, "--batch", "2"]) == 0
    counts = report()["sets"]["all"]
    assert (counts["questions"], counts["different"], counts["failed"], counts["alone"]) == (2, 0, 0, 1)
    assert counts["same"] + counts["tied"] + counts["tied earlier"] == 2
    assert script("gpu/parse")([*given, *asked, "--alone", "1", "--batches", "2", "--seconds", "1"]) == 0
    parsed = report()
    assert parsed["batches"]["2"]["questions a second"] > 0
    assert set(parsed["end_to_end"]) == {"cuda", "cpu"}
    sizes = ["--no-compile", "--sizes", "5", "--batches", "2", "--heads", "1", "--relations", "3"]
    assert script("gpu/attention")([*given, *sizes]) == 0
    (shape,) = report()["shapes"]
    assert 0 < shape["forms"]["ours"]["error"] < 1e-2
    assert shape["forms"]["ours"]["queued"] > 0


def test_the_table_tells_of_tests_and_not_of_how_they_were_measured() -> None:
    report = {"measured": {"command": "x"}, "tests": {"passed": True, "said": "all of 42"}}
    (row,) = module("gpu.table").rows({"test": report})
    assert (row.name, row.figure) == ("tests", "passed (all of 42)")
