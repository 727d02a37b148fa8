"""Questions are drawn as their probabilities say, the same for a seed."""

from __future__ import annotations

import numpy as np
import pytest

from fastsql.reverse.generation import MAX_PIECES, Generator, Written, left_out
from fastsql.reverse.source import SourceReader

from ..worlds.toy_model import WORDPIECE
from ..worlds.toy_reverse import QUERIES, SCHEMA, make_model, program

MODEL = make_model(seed=3)
NETWORK = MODEL.network
READER = SourceReader(SCHEMA, WORDPIECE, NETWORK.config.numbers)
SOURCES = [READER.read(program(sql)) for sql in QUERIES]
GENERATOR = Generator(NETWORK, banned=())


def sample(seed: int, nucleus: float = 1.0) -> list[Written]:
    rngs = [np.random.default_rng((seed, number)) for number in range(len(SOURCES))]
    return GENERATOR.sample(NETWORK.encode(SOURCES), rngs, 1.0, nucleus)


def test_the_same_seed_draws_the_same() -> None:
    assert sample(1) == sample(1)
    assert sample(1) != sample(2)


def test_what_is_told_of_a_drawn_question_is_its_log_probability() -> None:
    for source, written in zip(SOURCES, sample(5), strict=True):
        pieces = [*written.pieces, NETWORK.config.end][:MAX_PIECES]
        expected = NETWORK.log_probabilities(
            NETWORK.encode([source]), np.array([pieces], dtype=np.int32)
        ).sum()
        assert written.log_probability == pytest.approx(expected, rel=1e-3)


def test_a_beam_finds_what_is_likelier_than_what_is_drawn() -> None:
    found = GENERATOR.beam(NETWORK.encode(SOURCES[:1]), SOURCES[0], 4)
    assert len({one.pieces for one in found}) == 4
    drawn = sample(1)[0]
    best = max(found, key=lambda one: one.log_probability / (len(one.pieces) + 1))
    assert best.log_probability / (len(best.pieces) + 1) > drawn.log_probability / (len(drawn.pieces) + 1)


def test_what_a_question_lacks_of_its_source_is_counted_by_values_and_names() -> None:
    source = SOURCES[0]
    every = [piece for piece in source.ids.tolist() if piece < NETWORK.config.pieces]
    value = next(span for span in source.spans if span.value)
    without = [piece for piece in every if piece not in source.ids[value.start : value.end]]
    assert left_out(every, source) == (0, 0)
    assert left_out([], source) == (1, len({span.text for span in source.spans if not span.value}))
    assert left_out(without, source)[0] == 1


def test_a_beam_of_one_takes_the_likeliest_piece_each_time() -> None:
    encoded = NETWORK.encode(SOURCES[1:2])
    (written,) = GENERATOR.beam(encoded, SOURCES[1], 1)
    greedy = GENERATOR.sample(encoded, [np.random.default_rng(0)], 1.0, 1e-6)[0]
    assert written.pieces == greedy.pieces


def test_copied_pieces_say_where_they_stand_in_the_source() -> None:
    for source, written in zip(SOURCES, sample(7), strict=True):
        for piece, place in zip(written.pieces, written.copied, strict=True):
            assert place == -1 or source.ids[place] == piece
        only_copied = [
            place
            for piece, place in zip(written.pieces, written.copied, strict=True)
            if piece not in NETWORK.config.outputs
        ]
        assert all(place >= 0 for place in only_copied)


def test_the_end_of_a_question_is_written_though_it_stands_for_no_text() -> None:
    generator = Generator(NETWORK, banned=(NETWORK.config.end,))
    rngs = [np.random.default_rng((1, number)) for number in range(len(SOURCES))]
    assert generator.sample(NETWORK.encode(SOURCES), rngs, 1.0, 1.0) == sample(1)


def test_banned_pieces_are_written_only_where_they_are_copied() -> None:
    banned = NETWORK.config.outputs[3]
    generator = Generator(NETWORK, banned=(banned,))
    rngs = [np.random.default_rng(number) for number in range(12)]
    for written in generator.sample(NETWORK.encode(SOURCES[:1] * 12), rngs, 1.5, 1.0):
        places = [
            place for piece, place in zip(written.pieces, written.copied, strict=True) if piece == banned
        ]
        assert all(place >= 0 for place in places)
