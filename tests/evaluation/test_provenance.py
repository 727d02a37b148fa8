"""A report says what was measured: which model, decided how, on which questions, by which command."""

from __future__ import annotations

from pathlib import Path

import pytest

import fastsql
from fastsql.datasets import Example
from fastsql.evaluation import Options, evaluate
from fastsql.evaluation.predictions import Prediction
from fastsql.evaluation.provenance import Provenance, command_text
from fastsql.model.bundle import manifest_digest
from fastsql.schema import Schema

from ..worlds.toy_bundle import write_bundle
from .conftest import FakeParser


def of(parser: object, examples: tuple[Example, ...], schema: Schema, options: Options) -> Provenance:
    return evaluate(parser, examples, {"ward": schema}, None, options).provenance  # type: ignore[arg-type]


def test_a_bundle_is_named_with_its_digest_and_defaults(
    examples: tuple[Example, ...], schema: Schema, tmp_path: Path
) -> None:
    folder = write_bundle(tmp_path / "toy")
    parser = fastsql.load(folder, device="python", encoder="numpy", penalty=0)
    found = of(parser, examples[:1], schema, Options(now="2100-12-31 23:59:00", resamples=0))
    assert found == Provenance(
        version=fastsql.__version__,
        model=parser.bundle.config.name,
        manifest_sha256=manifest_digest(folder),
        device="python",
        penalty=0.0,
        beam=4,
        now="2100-12-31 23:59:00",
        values=True,
        inspected=False,
    )


def test_what_was_asked_for_stands_above_the_parsers_own(
    parser: FakeParser, examples: tuple[Example, ...], schema: Schema
) -> None:
    asked = Options(
        penalty=1, beam=2, seed=7, sampled_from=90, command="fastsql eval x", values=False, inspect=True
    )
    found = of(parser, examples, schema, asked)
    assert (found.model, found.penalty, found.beam, found.seed) == ("FakeParser", 1, 2, 7)
    assert (found.sampled_from, found.command, found.now) == (90, "fastsql eval x", None)
    assert dict(found.lines(6)) == {
        "model": "FakeParser",
        "fastsql": fastsql.__version__,
        "decided with": "penalty 1, beam 2, queries run before one was chosen, no values looked up",
        "now": "the time of execution",
        "questions": "6 of 90, a stratified sample, seed 7",
        "command": "fastsql eval x",
    }


def test_of_predictions_made_before_only_what_is_known_is_said(
    examples: tuple[Example, ...], schema: Schema
) -> None:
    given = {item.id: Prediction(item.id, None) for item in examples}
    found = of(given, examples, schema, Options(beam=2))
    assert (found.model, found.beam, found.penalty, found.values) == (None, None, None, None)
    told = dict(found.lines(6))
    assert told["model"] == "not known: these predictions were made before"
    assert told["decided with"] == "not known"
    assert told["questions"] == "all 6, seed 0"
    assert "command" not in told


def test_a_command_can_be_typed_again_elsewhere(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FASTSQL_DATA", "/some/where/")
    words = ["fastsql", "eval", "/some/where/a b/x.json", "--now", "2100-12-31 23:59:00", "/some/wherever"]
    assert command_text(words) == (
        "fastsql eval $FASTSQL_DATA/'a b/x.json' --now '2100-12-31 23:59:00' /some/wherever"
    )
    monkeypatch.delenv("FASTSQL_DATA")
    assert command_text(["fastsql", "/some/x"]) == "fastsql /some/x"
