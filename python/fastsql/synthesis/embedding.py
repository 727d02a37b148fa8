"""Embeddings of sentences by the encoder of a bundle."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from fastsql.model import load_bundle
from fastsql.model.attention import Array


class SentenceEncoder:
    """The mean of the encoder's states over a sentence, made a unit vector (Reimers and Gurevych, 2019)."""

    def __init__(self, bundle: str | Path) -> None:
        """`bundle`: the folder of a bundle. Raises ModelError."""
        self._model = load_bundle(bundle)

    def embed(self, sentences: Sequence[str]) -> Array:
        """float32[sentences, hidden]. Raises LimitError for a sentence longer than the encoder reads."""
        tokenizer, encoder = self._model.tokenizer, self._model.encoder
        by_length: defaultdict[int, list[int]] = defaultdict(list)
        ids = [[tokenizer.cls, *tokenizer.tokenize(one).ids.tolist(), tokenizer.sep] for one in sentences]
        for number, tokens in enumerate(ids):
            by_length[len(tokens)].append(number)
        found = np.zeros((len(sentences), self._model.config.encoder.hidden), dtype=np.float32)
        for numbers in by_length.values():
            group = np.asarray([ids[number] for number in numbers], dtype=np.int32)
            found[numbers] = encoder.encode(group).mean(axis=1)
        unit: Array = found / np.maximum(np.linalg.norm(found, axis=1, keepdims=True), 1e-9)
        return unit
