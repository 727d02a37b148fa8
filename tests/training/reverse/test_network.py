"""The torch network is the NumPy reference, learns by heart, and copies what it cannot write."""

from __future__ import annotations

import random

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'fastsql[train]' runs this")

from fastsql.model.attention import Part  # noqa: E402
from fastsql.model.encoder import WordTable  # noqa: E402
from fastsql.model.weights import quantise  # noqa: E402
from fastsql.reverse import ReverseModel  # noqa: E402
from fastsql.reverse.config import ReverseConfig  # noqa: E402
from fastsql.reverse.network import ReverseNetwork as Reference  # noqa: E402
from fastsql.reverse.source import SourceReader  # noqa: E402
from fastsql.training.reverse.batches import collate  # noqa: E402
from fastsql.training.reverse.network import ReverseNetwork  # noqa: E402
from fastsql.training.reverse.words import narrow  # noqa: E402

from ...worlds.toy_model import WORDPIECE  # noqa: E402
from ...worlds.toy_reverse import QUERIES, SCHEMA, make_config, program, random_weights  # noqa: E402


def test_the_numpy_reference_scores_as_torch_does() -> None:
    config = make_config()
    weights = random_weights(config)
    words = quantise(weights.pop("words.weight"))
    table = WordTable(*words)
    every = table.rows(np.arange(config.pieces, dtype=np.int32))
    network = ReverseNetwork(config, torch.from_numpy(every)).eval()
    network.load_state_dict(
        {
            "words.weight": torch.from_numpy(every),
            **{name: torch.from_numpy(array) for name, array in weights.items()},
        }
    )
    reader = SourceReader(SCHEMA, WORDPIECE, config.numbers)
    sources = [reader.read(program(sql)) for sql in QUERIES]
    questions = [
        [*WORDPIECE.tokenize(text).ids.tolist(), WORDPIECE.sep]
        for text in ("patients?", "the age of a", "诊断", "q")
    ]
    batch = collate(sources, questions)
    with torch.no_grad():
        ours = network.log_probabilities(batch).numpy()
    reference = Reference(config, Part(weights), table)
    theirs = reference.log_probabilities(reference.encode(sources), batch.pieces.numpy().astype(np.int32))
    written = batch.written.numpy()
    np.testing.assert_allclose(theirs[written], ours[written], rtol=1e-4, atol=1e-5)


def test_every_weight_of_the_network_is_one_of_the_file() -> None:
    config = make_config()
    network = ReverseNetwork(config, torch.zeros(config.pieces, config.words))
    assert {name: tuple(weight.shape) for name, weight in network.state_dict().items()} == config.shapes()


def test_twenty_pairs_are_learnt_by_heart_and_copied_into_new_ones() -> None:
    """Values that stood in no pair are copied into the wording that was learnt."""
    torch.manual_seed(1)
    config = make_config(d=32, ffn=64, words=16, encoder_layers=1, decoder_layers=1)
    reader = SourceReader(SCHEMA, WORDPIECE, config.numbers)
    values = random.Random(1).sample("abcdefghijklmnopqrstuvwxyz", 24)
    forms = (
        ("SELECT COUNT(*) FROM patients WHERE gender = '{}'", "patients {}"),
        ("SELECT age FROM patients WHERE gender = '{}'", "gender {}"),
    )
    pairs = [[text.format(value) for text in forms[number % 2]] for number, value in enumerate(values)]
    words = np.random.default_rng(2).normal(size=(config.pieces, config.words)).astype(np.float32)
    network = ReverseNetwork(config, torch.from_numpy(narrow(words, config.words)), dropout=0.0)
    batch = collate(
        [reader.read(program(sql)) for sql, _ in pairs[:20]],
        [[*WORDPIECE.tokenize(question).ids.tolist(), WORDPIECE.sep] for _, question in pairs[:20]],
    )
    optimizer = torch.optim.AdamW([one for one in network.parameters() if one.requires_grad], lr=1e-2)
    for _ in range(40):
        loss = -network.log_probabilities(batch)[batch.written].mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.05
    over = _exported(network.eval(), config).over(SCHEMA)
    found = over.best([program(sql) for sql, _ in pairs], beam=1)
    asked = [question for _, question in pairs]
    assert [one.lower() for one in found[:20]] == asked[:20]
    assert all(one.lower().startswith(question) for one, question in zip(found[20:], asked[20:], strict=True))


def _exported(network: ReverseNetwork, config: ReverseConfig) -> ReverseModel:
    weights = {name: tensor.numpy() for name, tensor in network.state_dict().items()}
    words = WordTable(*quantise(weights.pop("words.weight")))
    return ReverseModel(Reference(config, Part(weights), words), WORDPIECE)


def test_narrow_words_keep_what_tells_them_apart() -> None:
    rng = np.random.default_rng(0)
    plane = rng.normal(size=(50, 3)) @ rng.normal(size=(3, 12))
    made = narrow(plane.astype(np.float32), 3)
    assert np.square(made).mean() == pytest.approx(1, rel=0.02)
    before = np.linalg.norm(plane[:, None] - plane, axis=-1)
    after = np.linalg.norm(made[:, None] - made, axis=-1)
    assert np.corrcoef(before.ravel(), after.ravel())[0, 1] > 0.999
