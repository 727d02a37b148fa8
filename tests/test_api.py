"""The names that applications use, and what they may rely on."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import fastsql
from fastsql import Parser, Schema, backends
from fastsql.model.bundle import manifest_digest
from fastsql.parser import loading

from .worlds.toy_bundle import QUESTIONS, load_toy, outcome
from .worlds.toy_model import SCHEMA


@pytest.fixture
def loaded(toy_bundle: Path, monkeypatch: pytest.MonkeyPatch) -> list[Parser]:
    """Parsers that the default loads; the toy stands in for the bundled model."""
    parsers: list[Parser] = []
    toy = load_toy(toy_bundle)

    def opened(opener: object, model: str) -> Parser:
        parsers.append(toy)
        return toy

    monkeypatch.setattr(loading, "_parser", None)
    monkeypatch.setattr(loading._Opener, "open", opened)
    return parsers


def test_every_public_name_is_there() -> None:
    for name in fastsql.__all__:
        assert getattr(fastsql, name) is not None
    assert dir(fastsql) == sorted(fastsql.__all__)


def test_what_reliability_needs_is_at_hand() -> None:
    from fastsql import reliability
    from fastsql.parser import audit

    assert (fastsql.Inspector, fastsql.Rule) == (reliability.Inspector, reliability.Rule)
    assert (fastsql.Audit, fastsql.AuditRecord) == (audit.Audit, audit.AuditRecord)


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'fastsql' has no attribute 'nothing'"):
        _ = fastsql.nothing


def test_parse_loads_the_model_of_a_language_once(loaded: list[Parser]) -> None:
    results = [fastsql.parse(question, SCHEMA, beam=2) for question in QUESTIONS]
    assert len(loaded) == 2, "one of the questions is in Chinese"
    parser, _ = loaded
    assert [outcome(r) for r in results] == [outcome(parser.parse(q, SCHEMA, beam=2)) for q in QUESTIONS]


def test_a_failed_load_is_tried_again(monkeypatch: pytest.MonkeyPatch, toy: Parser) -> None:
    tries = [fastsql.ModelError("it is not there"), toy]

    def opened(opener: object, model: str) -> Parser:
        result = tries.pop(0)
        if isinstance(result, Exception):
            raise result
        return result

    monkeypatch.setattr(loading, "_parser", None)
    monkeypatch.setattr(loading._Opener, "open", opened)
    with pytest.raises(fastsql.ModelError):
        fastsql.parse(QUESTIONS[0], SCHEMA)
    assert fastsql.parse(QUESTIONS[0], SCHEMA)


@pytest.mark.parametrize(
    "source",
    [
        SCHEMA,
        "CREATE TABLE patients (id INT, gender TEXT)",
        {"patients": {"id": "INT", "gender": "TEXT"}},
    ],
)
def test_a_schema_may_be_anything_that_describes_one(toy: Parser, source: Any) -> None:
    assert toy.parse("how many", source).best
    assert toy.parse_batch(["how many"], source)[0].best
    assert next(toy.pipe([("how many", source)])).best


def test_a_batch_of_none_is_none(toy: Parser) -> None:
    assert toy.parse_batch([], SCHEMA) == []
    assert list(toy.pipe([])) == []


def test_options_reach_every_question(toy: Parser) -> None:
    for results in (
        toy.parse_batch(QUESTIONS, SCHEMA, beam=1, now="2100-01-01"),
        list(toy.pipe([(question, SCHEMA) for question in QUESTIONS], beam=1, now="2100-01-01")),
    ):
        assert [outcome(r) for r in results] == [
            outcome(toy.parse(q, SCHEMA, beam=1, now="2100-01-01")) for q in QUESTIONS
        ]


def test_a_pipe_gives_results_as_questions_come(toy: Parser) -> None:
    asked: list[str] = []

    def source() -> Iterator[tuple[str, Schema]]:
        for question in QUESTIONS:
            asked.append(question)
            yield question, SCHEMA

    results = toy.pipe(source(), batch_size=1)
    assert asked == []
    assert next(results).question == QUESTIONS[0]
    assert asked == [QUESTIONS[0]]


def test_an_error_in_a_pipe_comes_in_its_place(toy: Parser) -> None:
    results = toy.pipe([(QUESTIONS[0], SCHEMA), ("x" * 5_000, SCHEMA), (QUESTIONS[1], SCHEMA)])
    assert next(results).best
    with pytest.raises(fastsql.LimitError):
        next(results)


def test_one_text_is_no_batch(toy: Parser) -> None:
    with pytest.raises(TypeError, match="several texts"):
        toy.parse_batch("how many", SCHEMA)
    with pytest.raises(ValueError, match="batch_size"):
        toy.pipe([], batch_size=0)


def test_settings_of_the_public_interface_are_taken() -> None:
    assert {"device", "penalty", "limits"} <= set(inspect.signature(fastsql.load).parameters)
    wanted = {"question", "schema", "values", "dialect", "beam", "now"}
    assert wanted <= set(inspect.signature(Parser.parse).parameters)
    assert inspect.signature(Parser.parse).parameters["dialect"].default == "sqlite"
    assert inspect.signature(fastsql.load).parameters["penalty"].default == 10


def test_a_parser_names_its_model(toy_bundle: Path) -> None:
    assert repr(load_toy(toy_bundle, penalty=2.5)) == "Parser('toy', device='python', penalty=2.5)"


@pytest.mark.parametrize("device", ["auto", "cpu", "python"])
def test_devices_answer_alike(reference: Parser, toy_bundle: Path, device: str) -> None:
    if device == "cpu" and backends.native() is None:
        pytest.skip(f"native module {backends.native_status().reason}")
    parser = load_toy(toy_bundle, device=device)
    for question in QUESTIONS:
        ours, theirs = (one.parse(question, SCHEMA) for one in (parser, reference))
        assert outcome(ours, digits=4) == outcome(theirs, digits=4)


def test_a_bundle_is_found_by_a_relative_path_and_kept_absolute(
    toy: Parser, toy_bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(toy_bundle.parent)
    parser = load_toy(Path(toy_bundle.name))
    assert parser.bundle.path.is_absolute()
    assert parser.bundle.path.samefile(toy_bundle)


def test_a_bundled_model_is_found_by_its_name(
    toy_bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "models").mkdir()
    (tmp_path / "models" / "small-en").symlink_to(toy_bundle)
    monkeypatch.setattr("fastsql.parser.bundles.BUNDLED", tmp_path / "models")
    monkeypatch.setattr("fastsql.parser.bundles.MANIFESTS", {"small-en": manifest_digest(toy_bundle)})
    monkeypatch.setattr("fastsql.engine.encoders.encoder_runtime", lambda: "numpy")
    assert fastsql.load("small-en").bundle.config.name == "toy"
    with pytest.raises(fastsql.ModelError, match=r"no such model\. Bundled: small-en\. Or give a folder"):
        fastsql.load("small-zh")


def test_the_package_runs_as_a_program() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "fastsql", "--version"],
        capture_output=True,
        text=True,
        check=True,
        env=dict(os.environ),
    )
    assert done.stdout.startswith("fastsql ")
    failed = subprocess.run(
        [sys.executable, "-m", "fastsql", "nonsense"], capture_output=True, check=False, env=dict(os.environ)
    )
    assert failed.returncode == 2
