"""Queries as decisions over an action space: random ones on schemas of any width, and gold ones of a data set."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar import ActionSpace, Literal, State, sql_to_program, trace_program
from fastsql.grammar.program import Terminal
from fastsql.linking import Candidate, find_candidates
from fastsql.linking.question import clean_question
from fastsql.schema import Schema

QUESTION = 'How many patients were given "heparin" at 12.5 or 5 units in the icu since 08/2100?'
TYPES = ("INTEGER", "TEXT", "TIMESTAMP", "REAL", "TEXT", "INTEGER", "BOOLEAN")
COLUMNS_PER_TABLE = 7
VALUES = 20
"""Values of every tenth column's small domain."""
LONGER = ("item", "join", "eq", "and", "asc", "group")
"""Not every query should end at once: productions that are a little likelier."""

Numbers = NDArray[np.int32]


@dataclass(frozen=True)
class Workload:
    """Queries over one schema: an action space and the decisions that write a query in it, for each."""

    name: str
    columns: int
    queries: tuple[tuple[ActionSpace, Numbers], ...]

    @property
    def actions(self) -> int:
        """Flat ids of the largest space."""
        return max(space.size for space, _ in self.queries)


def synthetic(columns: int, queries: int) -> Workload:
    """Random queries over a schema of so many columns, seven a table."""
    tables = {
        f"t{first // COLUMNS_PER_TABLE}": {
            f"c{j}": TYPES[j % len(TYPES)] for j in range(first, min(first + COLUMNS_PER_TABLE, columns))
        }
        for first in range(0, columns, COLUMNS_PER_TABLE)
    }
    schema = Schema.from_dict(tables)
    domains = {
        (schema.tables[c.table].name, c.name): [f"value {k}" for k in range(VALUES)]
        for c in schema.columns[1::10]
    }
    space = space_for(schema.with_values(domains), QUESTION)
    return Workload(
        "random", columns, tuple((space, random_decisions(space, seed)) for seed in range(queries))
    )


def gold_query(sql: str, question: str, schema: Schema) -> tuple[ActionSpace, Numbers]:
    """A gold query in the space of its own question with its literals found.

    Raises ConversionError for SQL that the grammar has no words for, and GroundingError for what it does not offer here.
    """
    program = sql_to_program(sql, schema)
    space = space_for(schema, question, [c for c in map(candidate, program) if c is not None])
    return space, trace_program(program, space).actions


def candidate(item: Terminal) -> Candidate | None:
    """What linking would have to find for a query to be written, where it is a literal."""
    if not isinstance(item, Literal) or item.name or item.value in (0, 1, 2):
        return None
    kind = "date" if item.format else "text" if isinstance(item.value, str) else "number"
    return Candidate(item.value, kind, (0, 1), "quoted" if kind == "text" else kind, (), item.format)


def space_for(schema: Schema, question: str, more: Sequence[Candidate] = ()) -> ActionSpace:
    """The space of a question, a token for each word."""
    text = clean_question(question)
    ends = [i for i, c in enumerate(text) if c == " "] + [len(text)]
    tokens = np.asarray(list(zip([0, *(e + 1 for e in ends[:-1])], ends, strict=True)), dtype=np.int32)
    return ActionSpace.for_question(schema, text, tokens, (*find_candidates(text, schema), *more))


def random_decisions(space: ActionSpace, seed: int) -> Numbers:
    """The decisions of a query that noise and a little preference for longer ones write."""
    random = np.random.default_rng(seed)
    scores = np.zeros(space.size)
    for name in LONGER:
        if name in space.grammar.productions:
            scores[space.grammar.production(name)] = 2.0
    state = State.start(space)
    decisions: list[int] = []
    while not state.finished:
        legal = state.legal()
        action = int(legal[np.argmax(scores[legal] + random.gumbel(size=legal.size))])
        decisions += [action] if legal.size > 1 else []
        state = state.advance(action, decision=legal.size > 1)
    return np.asarray(decisions, dtype=np.int32)
