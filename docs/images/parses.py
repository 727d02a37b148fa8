"""One real parse, with all that its pictures show."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import fastsql
from fastsql.backends import encoder_runtime
from fastsql.decode import Search, beam_search
from fastsql.demo import NOW, create_hospital
from fastsql.grammar import ActionSpace
from fastsql.linking.prepare import Prepared, prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.model.decoder import Memory
from fastsql.result import Result

QUESTION = "Has patient 71021258 been prescribed warfarin this month?"
BEAM = 4


@dataclass(frozen=True)
class Step:
    """The unfinished hypotheses before one step: each one's last action, and which one of the step before it continues."""

    actions: tuple[int, ...]
    origins: tuple[int, ...]


@dataclass(frozen=True)
class Parse:
    """A parse with what its stages made."""

    parser: fastsql.Parser
    result: Result
    prepared: Prepared
    links: SchemaLinks
    memory: Memory
    space: ActionSpace
    search: Search
    steps: tuple[Step, ...]


class Recorder:
    """A model whose decoder notes which hypotheses it is asked about; everything else is the model's."""

    def __init__(self, model: Any) -> None:
        self._model = model
        self.steps: list[Step] = []

    def start(self, question: Any, hypotheses: int) -> Recorder:
        """A decoder before its first decision."""
        self._decoder = self._model.start(question, hypotheses)
        self._origins: tuple[int, ...] = (0,) * hypotheses
        return self

    def step(
        self, previous: NDArray[Any], symbols: NDArray[Any], parents: NDArray[Any]
    ) -> NDArray[np.float32]:
        """Scores of all actions."""
        self.steps.append(Step(tuple(int(a) for a in previous), self._origins))
        scores: NDArray[np.float32] = self._decoder.step(previous, symbols, parents)
        return scores

    def reorder(self, kept: NDArray[Any]) -> None:
        """Goes on with these hypotheses."""
        self._origins = tuple(int(one) for one in kept)
        self._decoder.reorder(kept)


def parse(folder: Path) -> Parse:
    """The question asked of the demo's hospital, which is made in `folder`."""
    database = folder / "hospital.sqlite"
    create_hospital(database)
    schema = fastsql.Schema.from_sqlite(database, max_values=12)
    values = fastsql.ValueDictionary.from_database(database, schema)
    parser = fastsql.load("ehr-en", device="python")
    result = parser.parse(QUESTION, schema, values=values, now=NOW, beam=BEAM)
    # The stages once more, for what a result does not keep. The lexicon's values stand with the schema, as in a parse.
    dressed = parser._lexicon.apply(schema, parser.limits)
    model = parser.bundle.model("onnx" if encoder_runtime() == "onnxruntime" else "numpy")
    state = model.encode_schema(dressed)
    prepared = prepare(QUESTION, state.links, model.tokenizer, dictionary=values)
    space = ActionSpace.for_question(dressed, QUESTION, prepared.offsets, prepared.candidates)
    recorder = Recorder(model)
    asked = model.encode_question(prepared, state)
    search = beam_search(recorder, asked, space, beam=BEAM)
    return Parse(parser, result, prepared, state.links, asked.memory, space, search, tuple(recorder.steps))
