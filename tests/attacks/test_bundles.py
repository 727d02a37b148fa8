"""A bundle whose manifest is right and whose files are odd gives a ModelError that names the file, or a parser that parses.

`FASTSQL_BUNDLE_MUTATIONS` says how many mutations of each file are tried.
"""

from __future__ import annotations

import copy
import json
import os
import random
import shutil
import struct
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import load, save

from fastsql.errors import ModelError
from fastsql.model.bundle import CONFIG, ENCODER, LISTED, MANIFEST, TOKENIZER, WEIGHTS, write_manifest
from fastsql.result import Result

from ..worlds.toy_bundle import load_toy, runs_onnx
from ..worlds.toy_model import SCHEMA

MUTATIONS = int(os.environ.get("FASTSQL_BUNDLE_MUTATIONS", "50"))
PLACES = (*LISTED, MANIFEST, "of the model bundle")
ASKED = ("how many patients of gender f came in 2100?", "count 3 admissions 诊断 xyzzy🏥 or 2102")
SETTINGS = {
    "lexicon": [["patients", "gender", ["f", "m"]]],
    "constants": [["high", 9.5, "a high value"]],
    "familiarity": {"questions": 9, "words": {"how": 9, "many": 3}, "named": {"gender": 2}},
    "reliability": {
        "right": {"intercept": 1.0, "weights": {"sequence": 0.5, "worst": 0.25}},
        "unanswerable": {"intercept": -1.0, "weights": {"unmet": 0.5}},
    },
}
Json = Any
Change = Callable[[Json], object]


@pytest.fixture
def folder(toy_bundle: Path, tmp_path: Path) -> Path:
    return Path(shutil.copytree(toy_bundle, tmp_path / "toy"))


def answer(folder: Path, encoder: str = "numpy") -> list[Result]:
    parser = load_toy(folder, encoder=encoder)
    return [parser.parse(question, SCHEMA) for question in ASKED]


def outcome(folder: Path) -> tuple[ModelError | None, list[Result]]:
    try:
        return None, answer(folder)
    except ModelError as error:
        return error, []


def rewrite(folder: Path, name: str, content: bytes) -> None:
    (folder / name).write_bytes(content)
    if name != MANIFEST:
        write_manifest(folder)


def change(folder: Path, name: str, how: Change) -> None:
    content = json.loads((folder / name).read_bytes())
    how(content)
    rewrite(folder, name, json.dumps(content).encode())


# ---------------------------------------------------------------- tokenizers


def _vocabulary(update: dict[str, int] | None = None, without: str = "") -> Change:
    def change(tokenizer: Json) -> None:
        tokenizer["model"]["vocab"].update(update or {})
        tokenizer["model"]["vocab"].pop(without, None)

    return change


def _part(name: str, **entries: Any) -> Change:
    return lambda tokenizer: tokenizer.update({name: entries or None})


def _model(**entries: Any) -> Change:
    return lambda tokenizer: tokenizer["model"].update(entries)


ODD_TOKENIZERS = {
    "no [UNK]": (_vocabulary(without="[UNK]"), "its token for unknown words is missing"),
    "another [UNK]": (_model(unk_token="nope"), "its token for unknown words is missing"),
    "no [CLS]": (_vocabulary(without="[CLS]"), r"\[CLS\] and \[SEP\] are missing"),
    "no [SEP]": (_vocabulary(without="[SEP]"), r"\[CLS\] and \[SEP\] are missing"),
    "a huge id of [SEP]": (_vocabulary({"[SEP]": 2**31}), "ids beyond the"),
    "a huge id of a word": (_vocabulary({"?": 2**31}), "ids beyond the"),
    "an id of 33 bits": (_vocabulary({"?": 2**32}), "it describes no tokenizer"),
    "an id below zero": (_vocabulary({"?": -1}), "it describes no tokenizer"),
    "one word too many": (_vocabulary({"more": 83}), "the encoder"),
    "byte pairs": (
        _part("model", type="BPE", vocab={"[CLS]": 0, "[SEP]": 1}, merges=[]),
        "BPE, not WordPiece",
    ),
    "whole words": (
        _part("model", type="WordLevel", vocab={"[CLS]": 0, "[SEP]": 1, "u": 2}, unk_token="u"),
        "WordLevel, not WordPiece",
    ),
    "a longer text": (_part("normalizer", type="Prepend", prepend="x" * 9_000), "its normalizer is not"),
    "a regular expression": (
        _part("normalizer", type="Replace", pattern={"Regex": "(a*)*b"}, content="x"),
        "its normalizer is not",
    ),
    "a normalizer that makes the library panic": (
        _part("normalizer", type="Precompiled", precompiled_charsmap=""),
        "it describes no tokenizer",
    ),
    "another splitter": (_part("pre_tokenizer", type="Whitespace"), "its pre-tokenizer is not"),
    "no splitter": (_part("pre_tokenizer"), "its pre-tokenizer is not"),
    "a prefix of a megabyte": (_model(continuing_subword_prefix="#" * 2**20), "its prefix"),
}


@pytest.mark.parametrize(("how", "message"), ODD_TOKENIZERS.values(), ids=ODD_TOKENIZERS)
def test_an_odd_tokenizer_is_named(folder: Path, how: Change, message: str) -> None:
    change(folder, TOKENIZER, how)
    with pytest.raises(ModelError, match=rf"tokenizer\.json: .*{message}") as error:
        answer(folder)
    assert error.value.remedy


ENDLESS_PADDING = {
    "strategy": {"Fixed": 2**40},
    "direction": "Right",
    "pad_to_multiple_of": None,
    "pad_id": 0,
    "pad_type_id": 0,
    "pad_token": "[PAD]",
}


@pytest.mark.parametrize(
    "how",
    [
        pytest.param(_vocabulary(without="[PAD]"), id="no [PAD]"),
        pytest.param(_part("normalizer"), id="letter case is kept"),
        pytest.param(_model(max_input_chars_per_word=1), id="short words"),
        pytest.param(_part("padding", **ENDLESS_PADDING), id="endless padding"),
    ],
)
def test_a_tokenizer_that_differs_in_what_does_not_matter_is_used(folder: Path, how: Change) -> None:
    change(folder, TOKENIZER, how)
    assert all(0 <= result.confidence <= 1 for result in answer(folder))


# ---------------------------------------------------------------- configurations, encoders


@pytest.mark.parametrize("name", ["layers", "cached_layers", "decoder_layers"])
def test_a_million_layers_are_refused_before_their_weights_are_named(folder: Path, name: str) -> None:
    def more(config: Json) -> None:
        (config["model"]["encoder"] if name == "layers" else config["model"])[name] = 10**6

    change(folder, CONFIG, more)
    with pytest.raises(ModelError, match=rf"config\.json: {name} is not a whole number"):
        answer(folder)


@pytest.mark.parametrize("shape", ["narrow", "flat", "whole numbers", "out of rows"])
def test_an_encoder_that_gives_no_state_for_each_token_is_named(folder: Path, shape: str) -> None:
    onnx = pytest.importorskip("onnx", reason="pip install '.[train,cpu]' runs this")
    if not runs_onnx(folder):
        pytest.skip("pip install '.[cpu]' runs this")
    helper, types = onnx.helper, onnx.TensorProto
    made = {
        "narrow": (types.FLOAT, [helper.make_node("Unsqueeze", ["real", "last"], ["states"])]),
        "flat": (types.FLOAT, [helper.make_node("Identity", ["real"], ["states"])]),
        "whole numbers": (types.INT64, [helper.make_node("Identity", ["ids"], ["states"])]),
        "out of rows": (types.FLOAT, [helper.make_node("Gather", ["row", "ids"], ["states"])]),
    }
    kind, nodes = made[shape]
    graph = helper.make_graph(
        [helper.make_node("Cast", ["ids"], ["real"], to=types.FLOAT), *nodes],
        "odd",
        [helper.make_tensor_value_info("ids", types.INT64, ["texts", "tokens"])],
        [helper.make_tensor_value_info("states", kind, None)],
        [
            helper.make_tensor("last", types.INT64, [1], [2]),
            helper.make_tensor("row", types.FLOAT, [1, 24], [0.0] * 24),
        ],
    )
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    rewrite(folder, ENCODER, model.SerializeToString())
    with pytest.raises(ModelError, match=r"encoder\.onnx: it gives no state for each token") as error:
        answer(folder, "onnxruntime")
    assert error.value.__cause__ is None
    assert error.value.__context__ is None


# ---------------------------------------------------------------- mutations

_ODD = [
    *(None, True, 0, -1, 1, 2, 83, 10**6, 2**31, 2**63, 10**400, 1.5, 1e308, float("nan"), float("inf")),
    *("", "x" * 2000, "[UNK]", "\ud800", "NFC", "Whitespace", [], [1], {}, {"type": "NFC"}),
]


def _places(tree: Json, rng: random.Random) -> Iterator[tuple[Json, Any]]:
    """Containers of a tree with a key each; of long ones some."""
    keys = list(tree) if isinstance(tree, dict) else list(range(len(tree))) if isinstance(tree, list) else []
    for key in keys if len(keys) <= 40 else rng.sample(keys, 6):
        yield tree, key
        yield from _places(tree[key], rng)


def mutated(tree: Json, rng: random.Random) -> Json:
    tree = copy.deepcopy(tree)
    for _ in range(rng.choice([1, 1, 2, 4])):
        places = list(_places(tree, rng))
        if not places:
            break
        container, key = rng.choice(places)
        how = rng.random()
        if how < 0.6:
            container[key] = rng.choice(_ODD)
        elif how < 0.8:
            del container[key]
        else:
            container[key] = rng.choice([[container[key]] * 3, {"type": container[key]}, str(container[key])])
    return tree


def damaged_weights(content: bytes, rng: random.Random) -> bytes:
    length = struct.unpack("<Q", content[:8])[0]
    header, body = json.loads(content[8 : 8 + length]), content[8 + length :]
    kind = rng.randrange(5)
    if kind == 0:
        return content[: rng.randrange(len(content))]
    if kind == 1:
        return struct.pack("<Q", rng.choice([0, length - 1, length + 1, 2**40, 2**63])) + content[8:]
    if kind == 2:
        text = json.dumps(mutated(header, rng)).encode()
        return struct.pack("<Q", len(text)) + text + body
    if kind == 3:
        changed = bytearray(content)
        for _ in range(rng.choice([1, 5, 50])):
            changed[rng.randrange(len(changed))] = rng.randrange(256)
        return bytes(changed)
    tensors = {name: tensor.copy() for name, tensor in load(content).items()}
    for name in rng.sample([name for name in tensors if tensors[name].dtype == np.float32], 4):
        tensors[name].flat[:: rng.choice([1, 7])] = rng.choice([np.nan, np.inf, -np.inf, 3e38])
    return save(tensors)


def damaged(name: str, content: bytes, rng: random.Random) -> bytes:
    if name == WEIGHTS:
        return damaged_weights(content, rng)
    if rng.random() < 0.1:
        return content[: rng.randrange(len(content))]
    tree = json.loads(content)
    if name == CONFIG:
        part = rng.choice(["model", "settings"])
        return json.dumps({**tree, part: mutated({**tree, "settings": SETTINGS}[part], rng)}).encode()
    return json.dumps(mutated(tree, rng)).encode()


@pytest.mark.filterwarnings("ignore::RuntimeWarning")  # of NumPy, about the infinities that were put there
@pytest.mark.parametrize("name", [TOKENIZER, CONFIG, MANIFEST, WEIGHTS])
def test_a_mutated_file_is_a_model_error_that_names_one_or_the_parser_answers(
    folder: Path, name: str
) -> None:
    sound = (folder / name).read_bytes()
    refused = 0
    for seed in range(MUTATIONS):
        rewrite(folder, name, damaged(name, sound, random.Random(f"{name} {seed}")))
        error, results = outcome(folder)
        if error is not None:
            refused += 1
            assert error.remedy, f"mutation {seed}: {error}"
            assert any(place in error.where for place in PLACES), f"mutation {seed}: {error}"
        assert all(0 <= result.confidence <= 1 for result in results), f"mutation {seed}"
    assert refused > MUTATIONS // 4, "the mutations hardly matter"
