"""Sizes of a reranker: those that cannot be are refused before anything is made of them."""

from __future__ import annotations

import json

import pytest

from fastsql.errors import ModelError
from fastsql.reranker.config import RerankerConfig

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reranker import make_config

CONFIG = make_config()


@pytest.mark.parametrize(
    "change",
    [
        {"hidden": 0},
        {"hidden": 18, "heads": 4},
        {"heads": -2},
        {"ffn": 2**16 + 1},
        {"layers": True},
        {"layers": 2.0},
        {"pieces": "50"},
        {"pieces": None},
        {"symbols": ["eq"]},
        {"symbols": []},
        {"symbols": "other"},
        {"symbols": None},
        {"depth": 3},
        {"max_tokens": 262},
    ],
    ids=str,
)
def test_sizes_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="sizes cannot be"):
        RerankerConfig.from_dict({**CONFIG.to_dict(), **change})


@pytest.mark.parametrize("missing", ["pieces", "symbols"])
def test_sizes_that_are_missing_are_refused(missing: str) -> None:
    content = {name: size for name, size in CONFIG.to_dict().items() if name != missing}
    with pytest.raises(ModelError, match="missing or of another type"):
        RerankerConfig.from_dict(content)


def test_what_is_unknown_is_named() -> None:
    with pytest.raises(ModelError, match="'depth' is unknown"):
        RerankerConfig.from_dict({**CONFIG.to_dict(), "width": 3, "depth": 3})


def test_the_largest_sizes_may_be() -> None:
    assert make_config(ffn=2**16, heads=1).ffn == 2**16
    assert make_config(hidden=2**16, heads=2**16).heads == 2**16


def test_sizes_come_back_from_plain_data() -> None:
    config = make_config(hidden=24, heads=3, ffn=5, layers=7)
    assert RerankerConfig.from_dict(config.to_dict()) == config
    assert RerankerConfig.from_dict(json.loads(json.dumps(config.to_dict()))) == config


def test_symbols_are_numbered_behind_the_word_pieces() -> None:
    numbers = CONFIG.numbers
    first, count = WORDPIECE.vocabulary, len(CONFIG.symbols)
    assert list(numbers.values()) == list(range(first, first + count))
    assert tuple(numbers) == CONFIG.symbols


def test_every_layer_has_weights_of_its_own() -> None:
    one, three = make_config(layers=1).shapes(), make_config(layers=3).shapes()
    of_a_layer = {name.removeprefix("layers.0.") for name in one if name.startswith("layers.")}
    assert len(of_a_layer) == 12
    assert three.keys() - one.keys() == {
        f"layers.{number}.{name}" for number in (1, 2) for name in of_a_layer
    }
