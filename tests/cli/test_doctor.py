"""``fastsql doctor`` reports, for people and for programs."""

from __future__ import annotations

import builtins
import json
import math
import runpy
import shutil
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from fastsql import backends
from fastsql.cli.doctor import BundleFacts, bundled_models, own_model
from fastsql.model.bundle import manifest_digest, write_manifest
from fastsql.model.pinned import MANIFESTS
from fastsql.parser import BUNDLED
from fastsql.reranker.weights import save_reranker
from fastsql.reverse.weights import save_reverse

from ..worlds import toy_reranker, toy_reverse
from ..worlds.toy_bundle import AS_THE_SEQUENCE, write_bundle
from ..worlds.toy_model import WORDPIECE
from .conftest import Outcome

Run = Callable[..., Outcome]
ROOT = Path(__file__).parents[2]


@pytest.fixture
def models(tmp_path: Path) -> Path:
    """A folder with a copy of the bundled English model, and one that is no bundle."""
    folder = tmp_path / "models"
    (folder / "no-bundle").mkdir(parents=True)
    shutil.copytree(BUNDLED / "ehr-en", folder / "ehr-en")
    return folder


def test_the_report_names_backend_encoder_bundle_and_packages(run: Run) -> None:
    outcome = run("doctor")
    assert outcome.status == 0
    for word in ("Python", "auto is", "encoder", "native", "ONNX Runtime", "numpy", "sqlglot"):
        assert word in outcome.out
    assert "ehr-en" in outcome.out
    assert "format 1, files intact" in outcome.out


def test_encoders_are_listed_with_the_devices_that_they_run_on(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backends, "encoder_runtime", lambda: "onnxruntime")
    monkeypatch.setattr(
        backends, "native_status", lambda: backends.NativeStatus(True, "in use", instruction_sets=("avx2",))
    )
    monkeypatch.setattr(backends, "cuda_status", lambda: backends.CudaStatus((), "built without CUDA"))
    assert "encoders      native (cpu); onnxruntime (cpu, python); numpy (python)" in run("doctor").out
    simulated = backends.CudaStatus(("simulated, compute capability 9.0, 4 GiB",), "ready")
    monkeypatch.setattr(backends, "cuda_status", lambda: simulated)
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' runs this")
    found = json.loads(run("doctor", "--json").out)["encoders"]
    assert found == ["native (cpu, cuda)", "onnxruntime (cpu, cuda, python)", "numpy (python)"]
    monkeypatch.setattr(backends, "encoder_runtime", lambda: "numpy")
    assert json.loads(run("doctor", "--json").out)["encoders"] == ["native (cpu, cuda)", "numpy (python)"]


def test_the_instruction_set_in_use_is_said_where_the_native_core_is(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    status = backends.NativeStatus(
        True, "in use", compiler="GNU 12.2.0", instruction_sets=("baseline", "avx2")
    )
    monkeypatch.setattr(backends, "native_status", lambda: status)
    monkeypatch.setattr(backends, "cuda_status", lambda: backends.CudaStatus((), "built without CUDA"))
    out = run("doctor").out
    assert "auto is cpu: native encoder, avx2 kernels" in out
    assert "GNU 12.2.0, kernels for baseline, avx2" in out


@pytest.mark.parametrize(
    ("status", "lines"),
    [
        (
            backends.CudaStatus((), "no GPU can be used (there is none)"),
            ["no GPU can be used (there is none)"],
        ),
        (backends.CudaStatus(("H200, 140 GiB", "L4, 24 GiB"), "ready"), ["H200, 140 GiB", "L4, 24 GiB"]),
    ],
)
def test_gpus_are_listed_or_it_is_said_why_there_is_none(
    run: Run, monkeypatch: pytest.MonkeyPatch, status: backends.CudaStatus, lines: list[str]
) -> None:
    monkeypatch.setattr(backends, "cuda_status", lambda: status)
    out = run("doctor").out
    assert [line[16:] for line in out.splitlines() if line.startswith("  CUDA  ")] == lines
    report = json.loads(run("doctor", "--json").out)["cuda"]
    assert (report["gpus"], report["reason"]) == (list(status.gpus), status.reason)


def test_the_report_as_json(run: Run) -> None:
    report = json.loads(run("doctor", "--json").out)
    assert {"fastsql", "device", "instruction_set", "encoder", "provider", "native", "components"} <= set(
        report
    )
    (bundle,) = (model for model in report["models"] if model["name"] == "ehr-en")
    assert bundle["format_version"] == 1
    assert bundle["parameters"] > 20_000_000
    assert bundle["fault"] == ""


def test_bundles_are_listed_with_size_version_and_parameters(models: Path) -> None:
    (bundle,) = bundled_models(models)
    size = sum(path.stat().st_size for path in (models / "ehr-en").iterdir())
    assert bundle.name == "ehr-en"
    assert bundle.megabytes == pytest.approx(size / 1e6)
    assert bundle.format_version == 1
    assert bundle.fault == ""
    assert bundle.pinned


def test_the_digest_of_every_bundled_model_is_shown_with_whether_it_is_the_one_shipped(run: Run) -> None:
    told = run("doctor").out
    found = json.loads(run("doctor", "--json").out)["models"]
    assert {bundle["name"]: bundle["manifest_sha256"] for bundle in found} == MANIFESTS
    for bundle in found:
        assert f"manifest {bundle['manifest_sha256']}, as shipped" in told
        assert bundle["pinned"]


def test_a_bundle_signed_anew_is_something_to_mend(
    models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    (models / "ehr-en" / "README.md").write_text("# other words\n")
    write_manifest(models / "ehr-en")
    (bundle,) = bundled_models(models)
    assert not bundle.pinned
    assert bundle.fault == "ehr-en is not a model that this fastsql ships. Reinstall fastsql."

    monkeypatch.setattr("fastsql.cli.doctor.bundled_models", lambda folder: [bundle])
    out = run("doctor").out
    assert f"manifest {bundle.manifest_sha256}, NOT as shipped" in out
    assert bundle.fault in out[out.index("to mend") :]


def test_a_damaged_bundle_is_named_with_the_file_and_is_something_to_mend(
    models: Path, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    weights = models / "ehr-en" / "weights.safetensors"
    content = bytearray(weights.read_bytes())
    content[-1] ^= 1
    weights.write_bytes(content)
    (bundle,) = bundled_models(models)
    assert bundle.parameters is None
    assert str(weights) in bundle.fault
    assert "SHA-256" in bundle.fault

    monkeypatch.setattr("fastsql.cli.doctor.bundled_models", lambda folder: [bundle])
    out = run("doctor").out
    assert "MB, see below" in out
    assert bundle.fault in out[out.index("to mend") :]


def test_what_is_calibrated_is_said_of_every_model(run: Run) -> None:
    out = run("doctor").out
    assert "\n    p and u calibrated, schemas never seen apart\n" in out
    for bundle in json.loads(run("doctor", "--json").out)["models"]:
        second = bundle["name"].startswith(("reverse-", "reranker-"))
        said = (
            "a second opinion over schemas never seen, and in doubt"
            if second
            else "p and u calibrated, schemas never seen apart"
        )
        assert bundle["calibration"] == said


@pytest.mark.parametrize(
    ("settings", "row", "fault"),
    [
        pytest.param(
            {"calibrated": False},
            "NOT calibrated, refuses unless penalty=0",
            "this model was never calibrated",
            id="never",
        ),
        pytest.param(
            {"reliability": {"right": {"weights": {}}}},
            "p but NOT u calibrated",
            "this model was calibrated without unanswerable questions",
            id="without u",
        ),
        pytest.param({}, "p and u calibrated", "", id="whole"),
    ],
)
def test_a_bundle_of_ones_own_is_looked_into(
    run: Run, tmp_path: Path, settings: dict[str, Any], row: str, fault: str
) -> None:
    folder = write_bundle(tmp_path / "toy", **settings)
    out = run("doctor", "--model", folder).out
    assert f"\n    {row}\n" in out
    assert f"manifest {manifest_digest(folder)}, your own" in out
    mended = out.partition("to mend")[2]
    assert f"{folder}: {fault}" in mended if fault else str(folder) not in mended
    *_, own = json.loads(run("doctor", "--json", "--model", folder).out)["models"]
    assert (own["name"], own["shipped"], own["calibration"]) == (str(folder), False, row)


def test_a_bundle_that_is_not_there_is_something_to_mend(run: Run, tmp_path: Path) -> None:
    out = run("doctor", "--model", tmp_path / "none").out
    assert str(tmp_path / "none") in out.partition("to mend")[2]


def test_without_numpy_bundles_are_listed_but_not_checked(
    models: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    original = builtins.__import__

    def without_bundles(name: str, *others: Any) -> Any:
        if name.startswith("fastsql.model"):
            raise ModuleNotFoundError("No module named 'numpy'", name="numpy")
        return original(name, *others)

    monkeypatch.setattr(builtins, "__import__", without_bundles)
    (bundle,) = bundled_models(models)
    assert bundle == BundleFacts(
        "ehr-en", str(models / "ehr-en"), bundle.megabytes, fault="ehr-en cannot be checked without numpy."
    )


@pytest.mark.parametrize(
    ("name", "world", "save"),
    [("reverse-en", toy_reverse, save_reverse), ("zz-reranker", toy_reranker, save_reranker)],
)
def test_who_gives_a_second_opinion_is_shown_beside_the_bundle_that_would_ask(
    models: Path, monkeypatch: pytest.MonkeyPatch, name: str, world: ModuleType, save: Callable[..., Path]
) -> None:
    folder, config = models / name, world.make_config()
    folder.mkdir()
    weights = save(folder / "weights.safetensors", config, world.random_weights(config), WORDPIECE)
    (folder / "README.md").write_text("# second\n", encoding="utf-8")
    sign = runpy.run_path(str(ROOT / "scripts" / "pin_models.py"))["sign_single"]
    sign(folder)
    pinned = {**MANIFESTS, name: manifest_digest(folder)}
    monkeypatch.setattr("fastsql.model.pinned.MANIFESTS", pinned)
    _, found = bundled_models(models)
    assert (found.name, found.fault, found.pinned) == (name, "", True)
    assert found.parameters == sum(math.prod(shape) for shape in config.shapes().values())
    weights.write_bytes(weights.read_bytes()[:-1])
    assert "weights.safetensors" in bundled_models(models)[1].fault
    sign(folder)
    assert "cannot be read" in bundled_models(models)[1].fault, "whole by its manifest, and yet no model"
    monkeypatch.setattr("fastsql.model.pinned.MANIFESTS", MANIFESTS)
    save(weights, config, world.random_weights(config), WORDPIECE)
    sign(folder)
    assert "not a model that this fastsql ships" in bundled_models(models)[1].fault


def test_a_bundle_without_the_reverse_model_that_it_was_calibrated_with_is_something_to_mend(
    tmp_path: Path,
) -> None:
    judge = AS_THE_SEQUENCE
    second = {**judge, "reverse": "of another day", "weight": 0.25}
    elsewhere = {**judge, "known": [], "second": second}
    folder = write_bundle(tmp_path / "toy", reliability={**judge, "elsewhere": elsewhere})
    assert "the reverse model that its probabilities" in own_model(folder).fault
