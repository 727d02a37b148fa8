"""Roles of words and items of the query: labels come from programs, and what is not there does not count."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="pip install '.[train]' runs this")

import torch

from fastsql.explanation.roles import ROLES
from fastsql.grammar import load_grammar
from fastsql.model.config import EncoderConfig, ModelConfig
from fastsql.model.tokenizer import Tokenizer
from fastsql.training.batches.batch import Batch
from fastsql.training.batches.maker import ExampleMaker
from fastsql.training.config import TrainConfig
from fastsql.training.corpus.corpus import load_corpus
from fastsql.training.network.auxiliary import Auxiliary
from fastsql.training.network.model import Model


@pytest.fixture(scope="module")
def maker(config: TrainConfig, tmp_path_factory: pytest.TempPathFactory) -> ExampleMaker:
    corpus = load_corpus(config.data, 7, tmp_path_factory.mktemp("cache"))
    tokenizer = Tokenizer.from_file(Path(config.model.encoder) / "tokenizer.json", 126)
    grammar = load_grammar()
    encoder = EncoderConfig(
        hidden=24, layers=1, heads=2, ffn=24, vocabulary=tokenizer.vocabulary, positions=128
    )
    sizes = ModelConfig(len(grammar.productions), len(grammar.symbols), d=16, heads=2, encoder=encoder)
    return ExampleMaker(corpus, corpus.train, tokenizer, sizes, candidates=24, parts=True)


@pytest.fixture(scope="module")
def batch(maker: ExampleMaker) -> Batch:
    made, _ = maker.make(range(6), epoch=0)
    assert made is not None
    return made


@pytest.fixture
def model(maker: ExampleMaker) -> Model:
    torch.manual_seed(5)
    return Model(maker.config).eval()


def test_labels_say_where_the_query_uses_what(batch: Batch) -> None:
    assert batch.known_roles.all()
    lengths = batch.token_lengths - 2
    for row, length in enumerate(lengths):
        labels = batch.token_roles[row]
        assert labels[:length].any(axis=1).all()
        assert not labels[length:].any()
        assert not (labels[:, 0] & labels[:, 1:].any(axis=1)).any(), "what is not used stands nowhere"
    assert batch.token_roles[..., ROLES.index("WHERE")].any()
    assert (batch.used_items.sum(axis=1) >= 1).all()
    assert not batch.used_items.all()


def test_batches_for_decisions_alone_have_no_labels(maker: ExampleMaker, batch: Batch) -> None:
    plain = ExampleMaker.__new__(ExampleMaker)
    plain.__dict__.update(maker.__dict__, parts=False)
    made, _ = plain.make(range(6), epoch=0)
    assert made is not None
    assert not made.known_roles.any()
    np.testing.assert_array_equal(made.actions, batch.actions)


def test_each_task_teaches_the_graph(model: Model, batch: Batch) -> None:
    for roles, pruning in ((1.0, 0.0), (0.0, 1.0)):
        auxiliary = Auxiliary(16, 2, roles, pruning)
        model.zero_grad()
        auxiliary(model.read(batch), batch).backward()
        found = [weight.grad for weight in model.graph.parameters() if weight.grad is not None]
        assert any(float(one.abs().sum()) > 0 for one in found), (roles, pruning)


def test_the_auxiliary_tasks_can_be_learnt(model: Model, batch: Batch) -> None:
    auxiliary = Auxiliary(16, 2, 1.0, 1.0)
    optimizer = torch.optim.Adam([*model.parameters(), *auxiliary.parameters()], lr=3e-3)
    losses = []
    for _ in range(60):
        loss = auxiliary(model.read(batch), batch)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    assert losses[-1] < 0.6 * losses[0]


def test_neither_padding_nor_unknown_examples_count(model: Model, maker: ExampleMaker, batch: Batch) -> None:
    auxiliary = Auxiliary(16, 2, 1.0, 1.0)
    with torch.no_grad():
        memory = model.read(batch)
        whole = auxiliary(memory, batch)
        spoilt = batch.token_roles.copy()
        for row, length in enumerate(batch.token_lengths - 2):
            spoilt[row, length:] = True
        torch.testing.assert_close(auxiliary(memory, replace(batch, token_roles=spoilt)), whole)
        first = replace(batch, known_roles=np.arange(len(batch)) == 0)
        other = replace(first, token_roles=np.concatenate([batch.token_roles[:1], ~batch.token_roles[1:]]))
        torch.testing.assert_close(auxiliary(memory, first), auxiliary(memory, other))
        nothing = replace(batch, known_roles=np.zeros(len(batch), dtype=bool))
        assert float(auxiliary(memory, nothing)) == 0
