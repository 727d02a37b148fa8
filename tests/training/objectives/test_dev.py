from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install '.[train]' runs this")

from fastsql.grammar import load_grammar  # noqa: E402
from fastsql.grammar.actions import CANDIDATE, PRODUCTION, START  # noqa: E402
from fastsql.model.config import EncoderConfig, ModelConfig  # noqa: E402
from fastsql.model.tokenizer import Tokenizer  # noqa: E402
from fastsql.training.batches.batch import Batch  # noqa: E402
from fastsql.training.batches.maker import ExampleMaker  # noqa: E402
from fastsql.training.config import TrainConfig  # noqa: E402
from fastsql.training.corpus.corpus import load_corpus  # noqa: E402
from fastsql.training.objectives.decisions import Output  # noqa: E402
from fastsql.training.objectives.dev import DevPart, DevScore, right_programs  # noqa: E402


@pytest.fixture(scope="module")
def maker(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> ExampleMaker:
    corpus = load_corpus(config.data, 7, tmp_path_factory.mktemp("cache"))
    tokenizer = Tokenizer.from_file(Path(config.model.encoder) / "tokenizer.json", 126)
    grammar = load_grammar()
    encoder = EncoderConfig(vocabulary=tokenizer.vocabulary, positions=128)
    sizes = ModelConfig(len(grammar.productions), len(grammar.symbols), d=16, heads=2, encoder=encoder)
    return ExampleMaker(corpus, corpus.train, tokenizer, sizes, candidates=24)


@pytest.fixture(scope="module")
def batch(maker: ExampleMaker) -> Batch:
    made, left_out = maker.make(range(6), epoch=0)
    assert made is not None
    assert left_out == 0
    return made


def decide(batch: Batch, best: np.ndarray) -> list[bool]:
    nothing = torch.zeros(())
    found: list[bool] = right_programs(batch, Output(nothing, nothing, torch.from_numpy(best))).tolist()
    return found


def gold_candidate(batch: Batch) -> tuple[int, int, int, int]:
    """Row, step, number and first token of a text candidate that a gold program points at."""
    offset, size = batch.layout.offsets[CANDIDATE], batch.layout.sizes[CANDIDATE]
    rows, steps = np.nonzero(
        (batch.actions >= offset) & (batch.actions < offset + size) & batch.decision_mask
    )
    row, step = int(rows[0]), int(steps[0])
    number = int(batch.actions[row, step]) - offset
    return row, step, number, int(batch.candidate_weights[row, number].argmax())


def test_gold_decisions_are_right(batch: Batch) -> None:
    assert decide(batch, batch.actions.copy()) == [True] * 6


def test_padding_does_not_count(batch: Batch) -> None:
    best = batch.actions.copy()
    best[~batch.decision_mask] += 1
    assert decide(batch, best) == [True] * 6


def test_one_wrong_decision_makes_a_program_wrong(batch: Batch) -> None:
    best = batch.actions.copy()
    best[2, 0] = batch.layout.offsets[PRODUCTION] + (best[2, 0] == 0)
    assert decide(batch, best) == [True, True, False, True, True, True]


@pytest.mark.parametrize("shift", [0, 1])
def test_spelling_a_candidate_out_is_right_from_its_first_token(batch: Batch, shift: int) -> None:
    row, step, _, first = gold_candidate(batch)
    best = batch.actions.copy()
    best[row, step] = batch.layout.offsets[START] + first + shift
    assert decide(batch, best)[row] is (shift == 0)


def test_a_part_of_no_examples_has_no_batches(maker: ExampleMaker) -> None:
    empty = ExampleMaker.__new__(ExampleMaker)
    empty.samples = ()
    assert DevPart.prepare(empty, 10) == DevPart((), 0)


def test_a_limit_takes_the_same_examples_each_time(maker: ExampleMaker) -> None:
    one, other = (DevPart.prepare(maker, 5) for _ in range(2))
    assert one.total == other.total == 5
    for left, right in zip(one.batches, other.batches, strict=True):
        assert (left.token_ids == right.token_ids).all()


def test_a_weight_in_training_is_none_in_scoring(maker: ExampleMaker) -> None:
    rare = ExampleMaker.__new__(ExampleMaker)
    vars(rare).update(vars(maker))
    rare.samples = tuple(replace(sample, weight=0.1) for sample in maker.samples)
    part = DevPart.prepare(rare, 12)
    assert sum(len(batch) for batch in part.batches) == part.total == 12


def test_unseen_templates_are_a_third_of_the_score() -> None:
    assert DevScore(templates=0.0, examples=0.9, databases=None, loss=1.0).value == pytest.approx(0.6)
