"""The reference: the NumPy model under the search of `fastsql.decode`, written to be read."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from fastsql.decode import Search, beam_search
from fastsql.engine.base import Decoded, check_space, link_question
from fastsql.engine.stopwatch import Stopwatch
from fastsql.linking.prepare import Prepared
from fastsql.model import Model, SchemaState

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fastsql.grammar import ActionSpace
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.linking.turns import EarlierTurn
    from fastsql.model.model import QuestionState
    from fastsql.schema import Schema


class ReferenceEngine:
    """The NumPy model, its encoder on ONNX Runtime where that is installed."""

    device = "python"
    threads = 1

    def __init__(self, model: Model, encoder: str = "numpy") -> None:
        """`encoder` names the model's."""
        self.model = model
        self.encoder = encoder
        self.tokenizer = model.tokenizer

    def encode_schema(self, schema: Schema) -> SchemaState:
        """See `Engine`."""
        return self.model.encode_schema(schema)

    def link(
        self,
        text: str,
        schema: SchemaState,
        dictionary: ValueDictionary | None,
        turns: Sequence[EarlierTurn] = (),
    ) -> Prepared:
        """See `Engine`."""
        return link_question(text, schema.links, self.tokenizer, self.model.config, dictionary, turns)

    def decode(
        self,
        prepared: Prepared,
        schema: SchemaState,
        space: ActionSpace,
        beam: int,
        patience: float = 0.0,
    ) -> Decoded:
        """See `Engine`."""
        check_space(prepared, space, self.model.config)
        watch = Stopwatch()
        tokens = self.model.encode_tokens(prepared)
        watch.lap("encode")
        steps = space.limits.actions if space.turns else None
        encoded = self.model.encode_question(prepared, schema, tokens, steps)
        watch.lap("graph")
        search = self.search(encoded, schema, space, beam, patience)
        watch.lap("decode")
        state = mean_state(encoded.memory.rows[: len(prepared.offsets)])
        return Decoded(search, state, mean_state(tokens), watch.laps)

    def search(
        self, question: QuestionState, schema: SchemaState, space: ActionSpace, beam: int, patience: float
    ) -> Search:
        """Hypotheses of a question that has been read; `schema` is the one that it was read with."""
        return beam_search(self.model, question, space, beam=beam, patience=patience)


def mean_state(rows: NDArray[np.float32]) -> NDArray[np.float32]:
    """The mean of rows float32[Q, d], float32[d]; zeros where there is none."""
    if not len(rows):
        return np.zeros(rows.shape[1], np.float32)
    mean: NDArray[np.float32] = rows.mean(axis=0)
    return mean
