"""Encoder and graph in NumPy, the search in the C++ core: for models whose graph that core does not have (`lge`)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from fastsql.backends import native
from fastsql.decode import Search
from fastsql.engine.native import hypothesis
from fastsql.engine.reference import ReferenceEngine
from fastsql.grammar import load_grammar
from fastsql.grammar.tables import grammar_table, question_table, schema_table

if TYPE_CHECKING:
    from fastsql import _core
    from fastsql.grammar import ActionSpace
    from fastsql.model import Bundle, SchemaState
    from fastsql.model.model import QuestionState

DECODER = "decoder."


class LineGraphEngine(ReferenceEngine):
    """The reference with the core's search in place of its own."""

    device = "cpu"

    def __init__(self, bundle: Bundle, encoder: str, threads: int) -> None:
        """`encoder` is "numpy" or "onnxruntime". Raises ModelError: a file of the bundle is damaged."""
        super().__init__(bundle.model("numpy" if encoder == "numpy" else "onnx", threads), encoder)
        core: Any = native()
        self._core = core
        self._grammar = core.Grammar(grammar_table(load_grammar()))
        stored = bundle.weights().stored(encoder=False)
        decoder = {name: weight for name, weight in stored.items() if name.startswith(DECODER)}
        self._decoder = core.Decoder(bundle.config.model.to_dict(), decoder)
        self._items: WeakKeyDictionary[SchemaState, _core.SchemaItems] = WeakKeyDictionary()

    def search(
        self, question: QuestionState, schema: SchemaState, space: ActionSpace, beam: int, patience: float
    ) -> Search:
        """As the reference's, in the core."""
        items = self._items.get(schema)
        if items is None:
            items = self._items[schema] = self._core.SchemaItems(self._grammar, schema_table(space.schema))
        own = self._core.ActionSpace(items, question_table(space))
        rows = question.memory.parts()
        found, unfinished, steps = self._decoder.search(own, *rows, beam=beam, patience=patience)
        return Search(tuple(hypothesis(*parts) for parts in found), unfinished, steps)
