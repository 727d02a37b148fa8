"""Between decoding and writing: what remembered pairs say of a question, and how a pair is read to be remembered."""

from __future__ import annotations

import math
import threading
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastsql.decode import Hypothesis
from fastsql.engine import Decoded, Engine
from fastsql.errors import ExampleError, VerificationError
from fastsql.forking import renew_in_child
from fastsql.grammar import load_grammar, read_path
from fastsql.grammar.program import Program, masked
from fastsql.grammar.render import render
from fastsql.limits import DEFAULT, Limits
from fastsql.linking.canonical import canonical_literals
from fastsql.memory.example import Example, asked_as, plain
from fastsql.memory.memory import Kept, direction, nearest
from fastsql.memory.wording import masked_text
from fastsql.parser.link import Linked, link
from fastsql.parser.write import program_of
from fastsql.reliability.assess import named_tokens
from fastsql.result import Remembered
from fastsql.schema import Schema
from fastsql.verification.parse import parse_query
from fastsql.verification.parse import write as write_sql
from fastsql.verification.verify import verify

if TYPE_CHECKING:
    from collections.abc import Iterable

    from fastsql.memory.wording import Span

SAME = 0.97
"""How often a query was right whose question had been remembered with other literals (memory/DECISIONS.md, as the next)."""
ALIKE = ((0.99, 0.95), (0.9, 0.9))
"""From which cosine on, how often the model's query was right that has the form of the nearest pair's."""
_SHORT = replace(DEFAULT, actions=load_grammar().cost[0])
"""The shortest query will do where only the question is read."""
Path = tuple[int, ...]
_NEAR = 16
"""Pairs, likest first, that are compared with a question word by word."""


class Reader:
    """Reads questions as vectors, their literals masked. Thread-safe.

    What is needed, `Decoded.pooled`, comes before the graph and knows no schema: over one column, the rest costs little.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._schema: Any = None
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Wait for no thread of the other process."""
        self._lock = threading.Lock()

    def vector(self, text: str, spans: Iterable[Span]) -> NDArray[np.float32]:
        """The direction of a question's vector, float32[d], each span and each number masked."""
        with self._lock:
            if self._schema is None:
                self._schema = self._engine.encode_schema(Schema.from_ddl("CREATE TABLE t (c TEXT)"))
        text = masked_text(text, spans)
        linked = link(text, text, self._schema, None, self._engine, _SHORT)
        return direction(self._engine.decode(linked.prepared, self._schema, linked.space, 1).pooled)


def recall(linked: Linked, decoded: Decoded, kept: Kept, reader: Reader) -> tuple[Decoded, Remembered | None]:
    """The hypotheses of a question with the one first that remembered pairs speak for, and which pair that is.

    Pairs whose question is the same but for literals supply their query, unless they disagree, or literals to put in are
    missing or unclear. Failing that, the nearest pair speaks for the likeliest hypothesis where both have one form.
    """
    prepared = linked.prepared
    vector = reader.vector(prepared.text, [one.span for one in prepared.candidates])
    near = nearest(kept, vector, _NEAR)
    named = named_tokens(prepared, linked.schema.links).tolist()
    said: dict[Program, tuple[Path, Remembered]] = {}
    asked = asked_as(linked.question)
    for number, example, likeness in [one for one in near if one[1].asked == asked] or near:
        for path in example.paths(linked.space, named):
            query = plain(_canonical(read_path(path, linked.space), linked))
            said.setdefault(query, (path, Remembered(number, True, likeness, SAME)))
    if len(said) == 1:
        ((query, (path, remembered)),) = said.items()
        return _with_first(query, path, remembered, linked, decoded)
    number, example, likeness = near[0]
    sure = next((sure for least, sure in ALIKE if likeness >= least), 0.0)
    if sure and not said and masked(program_of(linked, decoded)) == masked(example.program):
        return decoded, Remembered(number, False, likeness, sure)
    return decoded, None


def _with_first(
    query: Program, path: Path, remembered: Remembered, linked: Linked, decoded: Decoded
) -> tuple[Decoded, Remembered]:
    """The hypotheses with a query as the first: the beam's own where it holds it."""
    search = decoded.search
    found = [plain(program_of(linked, decoded, number)) for number in range(len(search.finished))]
    if query in found:
        first = search.finished[found.index(query)]
    else:
        actions = tuple(action for action in path if action >= 0)
        # Beside the others it stands with the probability that it is given.
        each = math.log(remembered.confidence) / max(len(actions), 1)
        first = Hypothesis(actions, (each,) * len(actions), path, (0.0,) * len(actions))
        remembered = replace(remembered, supplied=True)
        linked.programs[path] = read_path(
            path, linked.space
        )  # word for word: "over 80" may be `>= 80` in this place
    others = tuple(one for one in search.finished if one.path != first.path)
    return replace(decoded, search=replace(search, finished=(first, *others))), remembered


def _canonical(program: Program, linked: Linked) -> Program:
    return canonical_literals(program, linked.space.schema, linked.dictionary)


def read_example(
    question: str, sql: str, dialect: str, linked: Linked, limits: Limits, reader: Reader
) -> Example:
    """A pair to be remembered, its question linked.

    Raises ExampleError for SQL that is not of this schema, or that the grammar cannot say.
    """
    from fastsql.grammar.convert import ConversionError, sql_to_program  # which no parse needs

    schema = linked.space.schema
    fault = ""
    try:
        query = parse_query(sql, dialect=dialect, limits=limits)
        program = sql_to_program(sql if dialect == "sqlite" else write_sql(query, "sqlite"), schema)
        verify(render(program, schema), schema, limits=limits)
    except VerificationError as error:
        fault = error.what
    except ConversionError as error:
        fault = f"the grammar cannot say it ({error})"
    if fault:  # outside of the handler: what the error hangs on may hold literals
        raise ExampleError(fault, where="the SQL of a pair", remedy="Give one SELECT over this schema.")
    found = Example.of(question, sql, program, linked.space)
    spans = [*(one.span for one in linked.prepared.candidates), *found.spans]
    return replace(found, vector=reader.vector(linked.prepared.text, spans))
