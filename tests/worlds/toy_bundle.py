"""A bundle of the whole pipeline, small enough to build in a test: the real grammar, random weights.

What it writes means nothing; that it is valid SQL, and the same however it is asked for, is what tests look at.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from fastsql.decode import Search
from fastsql.grammar import ActionSpace, load_grammar
from fastsql.limits import Limits
from fastsql.model.bundle import ENCODER, WEIGHTS, BundleConfig, write_manifest
from fastsql.model.config import EncoderConfig, ModelConfig
from fastsql.parser import Parser, load
from fastsql.result import Result
from fastsql.schema import Schema

from .toy_model import NO_GRAPH, WORDPIECE, random_weights, write_parts

_LIKELY = {"end": 5.0, "eq": 4.0, "contains": 2.0, "in_list": 2.0, "since_year": 2.0, "count": 2.0}
"""What is added to the scores of productions, and -3 to all others, so that comparisons with values come up."""
AS_THE_SEQUENCE = {
    "right": {"intercept": 0.0, "weights": {"sequence": 1.0, "worst": 0.0}},
    "unanswerable": {"intercept": -1e3, "weights": {}},
}
"""Regressions whose p is the probability of the sequence and whose u is 0."""
LIMITS = Limits(actions=24)
"""Random queries are as long as they may be."""
QUESTIONS = (
    "how many patients of gender f were admitted after 2100?",
    "count 3 admissions with type urgent since 2101 or 2102",
    "诊断为 5 的 patients",
    "Which 'sepsis' patients came in March 2100 or on 12/05/2100?",
)


def make_config() -> ModelConfig:
    """The sizes of the real model, made small, for the grammar as it is."""
    grammar = load_grammar()
    return ModelConfig(
        n_productions=len(grammar.productions),
        n_symbols=len(grammar.symbols),
        d=16,
        heads=4,
        ffn=24,
        encoder=EncoderConfig(
            hidden=24, layers=2, heads=3, ffn=40, vocabulary=WORDPIECE.vocabulary, positions=512
        ),
    )


def make_gpu_config(**sizes: Any) -> ModelConfig:
    """The same with heads as the CUDA core takes them, so far as `sizes` do not say otherwise."""
    config = make_config()
    encoder = replace(config.encoder, hidden=32, heads=1)
    return replace(config, **{"d": 32, "heads": 1, "encoder": encoder, **sizes})


def write_bundle(
    folder: Path,
    *,
    seed: int = 3,
    config: ModelConfig | None = None,
    calibrated: bool = True,
    likely: Mapping[str, float] = _LIKELY,
    model: str = "toy",
    **settings: Any,
) -> Path:
    """A bundle whose `encoder.onnx` is a graph where the package onnx is there to write it.

    `likely` is added to the scores of productions.

    Unless `settings` say otherwise, it counts as `calibrated` with the probability of the sequence for its confidence.
    """
    config = config or make_config()
    if calibrated and "confidence" not in settings:
        settings = {"reliability": AS_THE_SEQUENCE, **settings}
    grammar = load_grammar()
    weights = random_weights(config, seed)
    weights["decoder.production_scores.bias"] += [likely.get(name, -3.0) for name in grammar.productions]
    names = BundleConfig(model, config, tuple(grammar.productions), tuple(grammar.symbols), settings)
    write_parts(folder, names, weights)
    if importlib.util.find_spec("onnx") is not None:
        from fastsql.training.bundles.onnx_graph import encoder_graph

        (folder / ENCODER).write_bytes(encoder_graph(folder / WEIGHTS, config.encoder))
        write_manifest(folder)
    return folder


def load_toy(folder: Path, *, device: str = "python", encoder: str | None = None, **settings: Any) -> Parser:
    """The parser of a toy bundle; by default, the reference's encoder is ONNX Runtime's where the toy's graph runs here.

    Queries are short and never refused, unless `limits` or `penalty` say otherwise.
    """
    settings = {"limits": LIMITS, "penalty": 0, **settings}
    if encoder is None and device == "python":
        encoder = "onnxruntime" if runs_onnx(folder) else "numpy"
    return load(folder, device=device, encoder=encoder or "auto", threads=1, **settings)


def search(
    parser: Parser, question: str, schema: Schema, *, beam: int = 4, encoded: Any = None
) -> tuple[Search, ActionSpace]:
    """The decoder's part of a parse, without a dictionary of values; `encoded` is the schema as the engine keeps it."""
    encoded = encoded or parser.engine.encode_schema(schema)
    prepared = parser.engine.link(question, encoded, None)
    space = ActionSpace.for_question(
        schema, question, prepared.offsets, prepared.candidates, limits=parser.limits
    )
    return parser.engine.decode(prepared, encoded, space, beam).search, space


def runs_onnx(folder: Path) -> bool:
    """Whether the toy's encoder runs on ONNX Runtime here."""
    return importlib.util.find_spec("onnxruntime") is not None and (folder / ENCODER).read_bytes() != NO_GRAPH


def outcome(result: Result, digits: int = 9) -> dict[str, Any]:
    """All that a result says but how long it took, its confidence to so many digits."""
    return {
        "best": result.best,
        "sql": result.sql,
        "confidence": round(result.confidence, digits),
        "reason": result.reason,
        "links": result.links,
        "values": result.values,
        "alternatives": tuple(
            replace(a, confidence=round(a.confidence, digits)) for a in result.alternatives
        ),
    }
