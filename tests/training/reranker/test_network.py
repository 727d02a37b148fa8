"""The torch network is the NumPy reference, and learns to tell what was asked from what was not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

torch = pytest.importorskip("torch", reason="pip install 'fastsql[train]' runs this")

from fastsql.model.attention import Part  # noqa: E402
from fastsql.model.encoder import WordTable  # noqa: E402
from fastsql.model.weights import quantise  # noqa: E402
from fastsql.parser.bundles import open_model  # noqa: E402
from fastsql.reranker.network import RerankerNetwork as Reference  # noqa: E402
from fastsql.reranker.reading import Row, asked, row  # noqa: E402
from fastsql.reverse.source import SourceReader  # noqa: E402
from fastsql.training.reranker.network import RerankerNetwork, pack  # noqa: E402
from fastsql.training.reranker.start import config_for, start_from  # noqa: E402

from ...worlds.toy_bundle import write_bundle  # noqa: E402
from ...worlds.toy_model import WORDPIECE  # noqa: E402
from ...worlds.toy_reranker import make_config, random_weights  # noqa: E402
from ...worlds.toy_reverse import QUERIES, SCHEMA, program  # noqa: E402

CONFIG = make_config()
QUESTIONS = ("patients?", "the age of a, the age of b", "诊断", "q")


def rows() -> list[Row]:
    """Every question with every query, of many lengths."""
    reader = SourceReader(SCHEMA, WORDPIECE, CONFIG.numbers)
    return [
        row(asked(question, QUESTIONS[:number], WORDPIECE), reader.read(program(sql)))
        for number, question in enumerate(QUESTIONS)
        for sql in QUERIES
    ]


def loaded() -> tuple[RerankerNetwork, Reference]:
    """Both networks with the same weights."""
    weights = random_weights(CONFIG)
    words = WordTable(*quantise(weights.pop("words.weight")))
    every = words.rows(np.arange(CONFIG.pieces, dtype=np.int32))
    network = RerankerNetwork(CONFIG).eval()
    tensors = {name: torch.from_numpy(array) for name, array in weights.items()}
    network.load_state_dict({"words.weight": torch.from_numpy(every), **tensors})
    return network, Reference(CONFIG, Part(weights), words)


def test_the_numpy_reference_rates_as_torch_does() -> None:
    network, reference = loaded()
    with torch.no_grad():
        ours = network(pack(rows())).numpy()
    np.testing.assert_allclose([reference.log_odds(one) for one in rows()], ours, rtol=1e-4, atol=1e-5)


def test_a_row_is_rated_and_taught_the_same_whatever_is_packed_beside_it() -> None:
    network, _ = loaded()
    together = network(pack(rows()))
    alone = torch.cat([network(pack([one])) for one in rows()])
    torch.testing.assert_close(together, alone, rtol=1e-4, atol=1e-5)
    gradients = []
    for scores in (together, alone):
        network.zero_grad()
        scores.square().sum().backward()
        gradients.append([one.grad.clone() for one in network.parameters() if one.requires_grad])
    for one, other in zip(*gradients, strict=True):
        torch.testing.assert_close(one, other, rtol=1e-3, atol=1e-4)


def test_every_weight_of_the_network_is_one_of_the_file() -> None:
    network = RerankerNetwork(CONFIG)
    assert {name: tuple(weight.shape) for name, weight in network.state_dict().items()} == CONFIG.shapes()


def test_it_starts_from_the_encoder_of_a_bundle(tmp_path_factory: pytest.TempPathFactory) -> None:
    bundle = open_model(str(write_bundle(tmp_path_factory.mktemp("start") / "bundle")))
    config = config_for(bundle, 9)
    assert (config.layers, config.hidden) == (2, 24), "no more layers than there are"
    network = RerankerNetwork(config)
    start_from(network, bundle)
    stored = bundle.weights().read(encoder=True)
    for name, weight in network.layers[1].state_dict().items():
        np.testing.assert_array_equal(weight.numpy(), stored[f"encoder.layers.1.{name}"])
    count = config.symbols.index("count")
    (ids,) = bundle.tokenizer().encode_texts(["count"])
    mean = network.words.weight[ids[1:-1]].mean(0)
    torch.testing.assert_close(network.symbols.weight[count], mean)


def test_queries_are_told_apart_by_heart() -> None:
    torch.manual_seed(1)
    network = RerankerNetwork(replace(CONFIG, hidden=32, layers=1), dropout=0.0)
    packed = pack(rows())
    right = torch.eye(4).flatten()
    learnt = [one for one in network.parameters() if one.requires_grad]
    optimizer = torch.optim.AdamW(learnt, lr=1e-2)
    for _ in range(60):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(network(packed), right)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    assert loss.item() < 0.1
    assert network(packed).view(4, 4).argmax(1).tolist() == [0, 1, 2, 3]
