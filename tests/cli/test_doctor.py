"""``fastsql doctor`` reports, for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from fastsql.cli.doctor import bundled_models

from .conftest import Outcome

Run = Callable[..., Outcome]


def test_the_report_names_backend_encoder_and_packages(run: Run) -> None:
    outcome = run("doctor")
    assert outcome.status == 0
    for word in ("Python", "device", "encoder on", "native", "numpy", "sqlglot"):
        assert word in outcome.out


def test_the_report_as_json(run: Run) -> None:
    report = json.loads(run("doctor", "--json").out)
    assert {"fastsql", "device", "encoder", "native", "components", "problems", "models"} <= set(report)


def test_bundles_are_listed_with_their_sizes(tmp_path: Path) -> None:
    bundle = tmp_path / "ehr-en"
    bundle.mkdir()
    (bundle / "config.json").write_bytes(b"x" * 500_000)
    (bundle / "weights.safetensors").write_bytes(b"x" * 1_500_000)
    (tmp_path / "no-bundle").mkdir()
    assert bundled_models(tmp_path) == {"ehr-en": 2.0}
