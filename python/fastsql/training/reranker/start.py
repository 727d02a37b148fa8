"""What a reranker starts from: the first layers of a parser's encoder, and symbols called by the words of their names."""

from __future__ import annotations

import numpy as np
import torch

from fastsql.grammar.compile import load_grammar
from fastsql.model.attention import Array
from fastsql.model.bundle import Bundle
from fastsql.model.tokenizer import Tokenizer
from fastsql.model.weights import dequantise
from fastsql.reranker.config import RerankerConfig
from fastsql.reverse.source import ITEMS, OTHER
from fastsql.training.reranker.network import RerankerNetwork


def config_for(bundle: Bundle, layers: int) -> RerankerConfig:
    """The sizes of a reranker of so many of a bundle's encoder's layers."""
    encoder = bundle.config.model.encoder
    symbols = (OTHER, *ITEMS, *load_grammar().productions)
    return RerankerConfig(
        encoder.vocabulary, symbols, encoder.hidden, encoder.heads, encoder.ffn, min(layers, encoder.layers)
    )


@torch.no_grad()
def start_from(network: RerankerNetwork, bundle: Bundle) -> None:
    """Takes the encoder's embeddings, first norm and first layers over; a symbol is the mean of its name's pieces."""
    file, tokenizer = bundle.weights(), bundle.tokenizer()
    weights, words = file.read(encoder=True), dequantise(*file.words())
    network.words.weight.copy_(torch.from_numpy(words))
    positions = weights["encoder.position.weight"][: len(network.positions.weight)]
    network.positions.weight[: len(positions)].copy_(torch.from_numpy(positions))
    network.symbols.weight.copy_(torch.from_numpy(_named(network.config.symbols, words, tokenizer)))
    for part, name in (
        (network.norm, "encoder.norm"),
        *((layer, f"encoder.layers.{number}") for number, layer in enumerate(network.layers)),
    ):
        part.load_state_dict({one: torch.from_numpy(weights[f"{name}.{one}"]) for one in part.state_dict()})


def _named(symbols: tuple[str, ...], words: Array, tokenizer: Tokenizer) -> Array:
    pieces = tokenizer.encode_texts([name.replace("_", " ") for name in symbols])
    found: Array = np.stack([words[ids[1:-1]].mean(axis=0) for ids in pieces]).astype(np.float32)
    return found
