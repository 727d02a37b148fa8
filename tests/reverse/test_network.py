"""The network's promises: probabilities, no look ahead, no influence of padding."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.errors import ModelError
from fastsql.model.attention import Part
from fastsql.model.encoder import WordTable
from fastsql.model.weights import quantise
from fastsql.reverse.config import ReverseConfig
from fastsql.reverse.network import ReverseNetwork
from fastsql.reverse.source import SourceReader

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reverse import QUERIES, SCHEMA, make_config, make_model, program, random_weights

MODEL = make_model()
NETWORK = MODEL.network
READER = SourceReader(SCHEMA, WORDPIECE, NETWORK.config.numbers)
SOURCES = [READER.read(program(sql)) for sql in QUERIES]


def test_all_pieces_together_have_the_probability_one() -> None:
    pieces = np.arange(WORDPIECE.vocabulary, dtype=np.int32)[:, None]
    encoded = NETWORK.encode(SOURCES[:1] * len(pieces))
    assert np.exp(NETWORK.log_probabilities(encoded, pieces)).sum() == pytest.approx(1, abs=1e-5)


def test_a_source_scores_alike_alone_and_among_longer_ones() -> None:
    pieces = np.array([[6, 8, 7, WORDPIECE.sep]], dtype=np.int32)
    together = NETWORK.log_probabilities(NETWORK.encode(SOURCES), np.repeat(pieces, len(SOURCES), axis=0))
    for source, row in zip(SOURCES, together, strict=True):
        alone = NETWORK.log_probabilities(NETWORK.encode([source]), pieces)
        np.testing.assert_allclose(alone[0], row, rtol=1e-4, atol=1e-5)


def test_later_pieces_change_nothing_before_them() -> None:
    encoded = NETWORK.encode(SOURCES[:1])
    one, other = (
        NETWORK.log_probabilities(encoded, np.array([[6, 8, last]], dtype=np.int32)) for last in (7, 9)
    )
    np.testing.assert_array_equal(one[:, :2], other[:, :2])
    assert one[0, 2] != other[0, 2]


def test_piece_by_piece_is_the_same_as_all_at_once() -> None:
    encoded = NETWORK.encode(SOURCES[:2])
    pieces = np.array([[2, 6, 8, 7], [2, 9, 9, 5]], dtype=np.int32)
    whole, _ = NETWORK.decode(encoded, pieces)
    memory, states = None, []
    for position in range(pieces.shape[1]):
        state, memory = NETWORK.decode(encoded, pieces[:, position : position + 1], memory)
        states.append(state)
    np.testing.assert_allclose(np.concatenate(states, axis=1), whole, rtol=1e-4, atol=1e-5)


def test_what_stands_in_the_source_can_be_asked_with_whether_it_can_be_written_or_not() -> None:
    """With all scores equal, each token of the source and each piece that can be written has the same share."""
    config = make_config()
    weights = {name: np.zeros_like(weight) for name, weight in random_weights(config).items()}
    network = ReverseNetwork(config, Part(weights), WordTable(*quantise(weights["words.weight"])))
    source = SOURCES[1]
    words = [piece for piece in source.ids.tolist() if piece < config.pieces]
    only_copied = next(piece for piece in words if piece not in config.outputs)
    absent = next(piece for piece in range(config.pieces) if piece not in (*words, *config.outputs))
    pieces = np.array([[only_copied], [absent]], dtype=np.int32)
    copied, other = network.log_probabilities(network.encode([source] * 2), pieces)[:, 0]
    shares = len(config.outputs) + 1 + len(words)
    others = 1 / (config.pieces - len(config.outputs))
    assert np.exp(copied) == pytest.approx((words.count(only_copied) + others) / shares, rel=1e-4)
    assert np.exp(other) == pytest.approx(others / shares, rel=1e-4)


@pytest.mark.parametrize(
    "change",
    [
        {"d": 0},
        {"d": 18, "heads": 4},
        {"ffn": 2**20},
        {"outputs": (5, 5)},
        {"end": 10**6},
        {"depth": 3},
        {"symbols": ("eq",)},
    ],
    ids=lambda change: next(iter(change)),
)
def test_sizes_that_cannot_be_are_refused(change: dict[str, object]) -> None:
    with pytest.raises(ModelError, match="sizes"):
        ReverseConfig.from_dict({**make_config().to_dict(), **change})


def test_sizes_come_back_from_plain_data() -> None:
    assert ReverseConfig.from_dict(make_config().to_dict()) == make_config()
