"""Which hypotheses a reranker learns from, and what it learns of them."""

from __future__ import annotations

import math
import random

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'fastsql[train]' runs this")

from fastsql.reranker.reading import EARLIER, PROGRAM_TOKENS  # noqa: E402
from fastsql.reverse.source import Source  # noqa: E402
from fastsql.training.reranker.batches import Batch, BeamReader, drawn_from, loss_of  # noqa: E402
from fastsql.training.reranker.beams import Beam, Judged  # noqa: E402
from fastsql.training.reranker.settings import RerankerSettings, settings_from_dict  # noqa: E402

from ...worlds.toy_model import WORDPIECE  # noqa: E402


def judged(rank: float, right: bool = False, tokens: int = 3) -> Judged:
    rows = [np.full(tokens, number, dtype=np.int32) for number in (7, 0, 0)]
    return Judged(Source(*rows), rank, right)


def beam(*hypotheses: Judged, question: str = "how many?", weight: float = 1.0) -> Beam:
    return Beam("ward", question, (), weight, hypotheses)


def settings(**optim: float) -> RerankerSettings:
    data = {"held_out": "h.json", "written": {"new": ["beds"]}}
    return settings_from_dict({"name": "toy", "data": data, "optim": optim})


def test_two_right_hypotheses_and_the_likeliest_wrong_ones_are_learnt_from() -> None:
    right = [judged(-1.0, True), judged(-2.0, True), judged(-9.0, True)]
    wrong = [judged(rank) for rank in (-0.5, -0.7, -1.1, -1.2, -1.3, -1.4, -20.0)]
    seen = set()
    for seed in range(40):
        found = drawn_from([*right, *wrong], 6, random.Random(seed))
        assert sum(one.right for one in found) == 2
        assert found[0] is right[0]
        assert len(found) == 6
        assert {wrong[0], wrong[1]} <= set(found)
        assert wrong[-1] not in found, "nobody asks about what is far behind"
        seen |= set(found)
    assert seen == {*right, *wrong[:-1]}
    assert drawn_from([right[0], wrong[-1]], 6, random.Random(0)) == [right[0], wrong[-1]], (
        "unless it is alone"
    )


def test_the_loss_is_of_the_right_ones_share_and_of_each_by_itself() -> None:
    scores = torch.tensor([1.0, 0.0, 2.0, -1.0, 0.5])
    batch = Batch(None, torch.tensor([True, False, True, False, False]), [3, 2])  # type: ignore[arg-type]

    def alone(score: float, right: bool) -> float:
        return math.log1p(math.exp(-score if right else score))

    share = (math.exp(1) + math.exp(2)) / (math.exp(1) + 1 + math.exp(2))
    first = -math.log(share) + (alone(1, True) + alone(0, False) + alone(2, True)) / 3
    second = (alone(-1, False) + alone(0.5, False)) / 2  # none is right: there is nothing to choose
    assert loss_of(scores, batch).item() == pytest.approx((first + second) / 2, rel=1e-5)


def test_an_epoch_shows_every_question_as_often_as_its_weight_says() -> None:
    beams = [
        *(beam(judged(-1.0, True), judged(-2.0), question=f"known {n}") for n in range(40)),
        *(beam(judged(-1.0, True), judged(-2.0), question=f"new {n}", weight=2.0) for n in range(40)),
        *(beam(judged(-1.0), judged(-2.0), question=f"lost {n}") for n in range(40)),
        beam(judged(-1.0, True, tokens=PROGRAM_TOKENS + 1)),
    ]
    reader = BeamReader(beams, WORDPIECE, settings(wrong=0.5))
    assert len(reader) == 120, "what is too long is left out"
    questions = sum(len(batch.counts) for batch in reader.epoch("seed"))
    assert 120 + 5 < questions < 120 + 35
    assert max(len(batch.counts) for batch in reader.epoch("seed")) == 16
    again = [batch.rows.ids.tolist() for batch in reader.epoch("seed")]
    assert again == [batch.rows.ids.tolist() for batch in reader.epoch("seed")]
    assert again != [batch.rows.ids.tolist() for batch in reader.epoch("other")]


def test_unrelated_questions_may_stand_before_a_single_one() -> None:
    beams = [beam(judged(-1.0, True), judged(-2.0), question=f"question {n}") for n in range(30)]

    def preceded(share: float) -> int:
        batches = BeamReader(beams, WORDPIECE, settings(after_others=share)).epoch("seed")
        return sum(int((batch.rows.kinds == EARLIER).any()) for batch in batches)

    assert preceded(0.0) == 0
    assert preceded(1.0) == 2


def test_rows_of_all_lengths_find_their_cells() -> None:
    reader = BeamReader(
        [beam(judged(-1.0, True, tokens=n), judged(-2.0)) for n in (1, 30, 7, 12)], WORDPIECE, settings()
    )
    ((beams, batch),) = reader.plain()
    assert len(beams) == 4
    rows = batch.rows
    assert rows.spread[rows.cells].tolist() == list(range(len(rows.ids)))
    assert batch.counts == [2, 2, 2, 2]
