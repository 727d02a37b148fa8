"""The reranker in NumPy: the reference, written in the order in which data flows."""

from __future__ import annotations

import numpy as np

from fastsql.model.attention import Array, Part
from fastsql.model.encoder import EPSILON, WordTable, encoder_layer
from fastsql.reranker.config import RerankerConfig
from fastsql.reranker.reading import Row


class RerankerNetwork:
    """Layers of a BERT encoder over a question with a program; `words` are the embeddings of word pieces."""

    def __init__(self, config: RerankerConfig, weights: Part, words: WordTable) -> None:
        self.config = config
        self._weights = weights
        self._words = words

    def log_odds(self, row: Row) -> float:
        """The log-odds, in nats, that the program is what is asked; a row has at most `MAX_TOKENS` tokens."""
        x = self._embed(row)[None]
        for number in range(self.config.layers):
            x = encoder_layer(self._weights.at(f"layers.{number}"), x, self.config.heads)
        output = self._weights.at("output")
        hidden = np.tanh(output.linear("hidden", x[0, 0]))
        return float(output.linear("log_odds", hidden)[0])

    def _embed(self, row: Row) -> Array:
        """First states [tokens, hidden]: what a token is, where it stands, and how it belongs to the rest."""
        weights, pieces = self._weights, self.config.pieces
        worded = self._words.rows(np.minimum(row.ids, pieces - 1))
        symbols = weights["symbols.weight"][np.maximum(row.ids - pieces, 0)]
        x = np.where((row.ids < pieces)[:, None], worded, symbols)
        x = x + weights["positions.weight"][: len(row.ids)] + weights["kinds.weight"][row.kinds]
        x = x + weights["tables.weight"][row.tables] + weights["shared.weight"][row.shared]
        return weights.norm("norm", x, EPSILON)
