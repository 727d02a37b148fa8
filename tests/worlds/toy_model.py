"""A model small enough to build in a test: schema, tokenizer, sizes, random weights, random decisions."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from safetensors.numpy import save_file

from fastsql.grammar.actions import STEP, ActionLayout
from fastsql.grammar.trace import Trace
from fastsql.linking.candidate import Candidate
from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model.attention import Array
from fastsql.model.bundle import (
    CARD,
    CONFIG,
    ENCODER,
    TOKENIZER,
    WEIGHTS,
    BundleConfig,
    write_json,
    write_manifest,
)
from fastsql.model.config import RAT, EncoderConfig, ModelConfig
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import SCALE, WORD, quantise, weight_shapes
from fastsql.schema import Schema

SCHEMA = Schema.from_dict(
    {
        "patients": {"subject_id": "INT", "gender": "TEXT", "dob": "TIMESTAMP"},
        "admissions": {"hadm_id": "INT", "subject_id": "INT", "admission_type": "TEXT"},
        "就诊": {"编号": "INT", "诊断": "TEXT"},
    }
).with_values({("patients", "gender"): ["m", "f"], ("admissions", "admission_type"): ["urgent", "elective"]})

NO_GRAPH = b"no graph"
QUESTIONS = (
    "how many patients of gender f were admitted after 2100?",
    "count 3 admissions with type urgent since 2101 or 2102",
    "诊断为 5 的 patients",
    "?",
)


def wordpiece(words: Sequence[str]) -> str:
    """A `tokenizer.json` of BERT's kind over these pieces."""
    return json.dumps(
        {
            "version": "1.0",
            "normalizer": {
                "type": "BertNormalizer",
                "clean_text": True,
                "handle_chinese_chars": True,
                "strip_accents": None,
                "lowercase": True,
            },
            "pre_tokenizer": {"type": "BertPreTokenizer"},
            "model": {
                "type": "WordPiece",
                "unk_token": "[UNK]",
                "continuing_subword_prefix": "##",
                "max_input_chars_per_word": 100,
                "vocab": {word: index for index, word in enumerate(words)},
            },
        }
    )


def make_tokenizer() -> Tokenizer:
    """WordPiece over letters, digits and a few words."""
    letters = "abcdefghijklmnopqrstuvwxyz0123456789"
    words = [
        "[PAD]",
        "[UNK]",
        "[CLS]",
        "[SEP]",
        "?",
        "patients",
        "admission",
        "gender",
        "##s",
        "id",
        "诊",
        "断",
    ]
    return Tokenizer(wordpiece([*words, *letters, *(f"##{letter}" for letter in letters if letter != "s")]))


WORDPIECE = make_tokenizer()
CONFIG_OF = {
    "one joint layer": (2, 1),
    "two joint layers": (1, 2),
    "nothing cached": (0, 1),
    "everything cached": (2, 0),
}


def make_config(cached_layers: int = 2, joint_layers: int = 1, graph: str = RAT) -> ModelConfig:
    return ModelConfig(
        n_productions=9,
        n_symbols=5,
        d=16,
        heads=4,
        ffn=24,
        cached_layers=cached_layers,
        joint_layers=joint_layers,
        decoder_layers=2,
        max_steps=64,
        graph=graph,
        edge_d=12,
        encoder=EncoderConfig(
            hidden=24, layers=2, heads=3, ffn=40, vocabulary=WORDPIECE.vocabulary, positions=80
        ),
    )


def random_weights(config: ModelConfig, seed: int = 0) -> dict[str, Array]:
    """Weights large enough that every part shows in the scores."""
    rng = np.random.default_rng(seed)
    weights = {}
    for name, shape in weight_shapes(config).items():
        centre = 1.0 if "norm.weight" in name else 0.0
        weights[name] = rng.normal(centre, 0.3, shape).astype(np.float32)
    return weights


def write_bundle(folder: Path, config: ModelConfig, seed: int = 0) -> Path:
    """A bundle for the NumPy encoder; its `encoder.onnx` is no graph."""
    names = BundleConfig(
        "toy", config, tuple(f"p{i}" for i in range(config.n_productions)), tuple("abcde"), {"note": "toy"}
    )
    return write_parts(folder, names, random_weights(config, seed))


def write_parts(folder: Path, names: BundleConfig, weights: dict[str, Array]) -> Path:
    """The files of a bundle, its large weights quantised; its `encoder.onnx` is no graph."""
    folder.mkdir(parents=True, exist_ok=True)
    tensors = {}
    for name, weight in weights.items():
        if name == WORD or weight.size >= 2**10:
            tensors[name], tensors[name + SCALE] = quantise(weight)
        else:
            tensors[name] = weight
    write_json(folder / CONFIG, names.to_dict())
    save_file(tensors, folder / WEIGHTS)
    (folder / ENCODER).write_bytes(NO_GRAPH)
    (folder / TOKENIZER).write_text(WORDPIECE.json_text, encoding="utf-8")
    (folder / CARD).write_text("# toy\n", encoding="utf-8")
    write_manifest(folder)
    return folder


def link(text: str) -> Prepared:
    """The question with its numbers, and one dictionary value, as candidates."""
    candidates = [
        Candidate(int(match.group()), "number", match.span(), "number") for match in re.finditer(r"\d+", text)
    ]
    if "urgent" in text:
        at = text.index("urgent")
        candidates.append(Candidate("urgent", "text", (at, at + 6), "dictionary", columns=(5,)))
        candidates.append(Candidate("URGENT", "text", (at, at + 6), "dictionary", columns=(5,)))
    return prepare(text, SchemaLinks(SCHEMA), WORDPIECE, candidates=candidates)


def random_trace(
    prepared: Prepared, schema: SchemaInputs, config: ModelConfig, decisions: int, seed: int
) -> Trace:
    """Legal actions drawn at random, and one of them taken at each decision; steps point at earlier ones."""
    rng = np.random.default_rng(seed)
    layout = question_layout(prepared, schema, config)
    legal = rng.random((decisions, layout.size)) < 0.3
    first = layout.offsets[STEP]
    legal[:, first : first + config.max_steps] = np.tri(decisions, config.max_steps, k=-1, dtype=bool)
    legal[:, 0] = True
    actions = [rng.choice(np.flatnonzero(row)) for row in legal]
    return Trace(
        np.array(actions, dtype=np.int32),
        rng.integers(0, config.n_symbols, decisions).astype(np.int16),
        rng.integers(0, config.n_productions + 1, decisions).astype(np.int16),
        legal,
    )


def question_layout(prepared: Prepared, schema: SchemaInputs, config: ModelConfig) -> ActionLayout:
    return ActionLayout.of(
        productions=config.n_productions,
        tables=schema.n_tables,
        columns=schema.n_columns,
        candidates=len(prepared.candidates),
        schema_values=schema.n_values,
        tokens=len(prepared.token_ids),
        steps=config.max_steps + sum(turn.turn.entries for turn in prepared.turns),
        turns=len(prepared.turns),
    )
