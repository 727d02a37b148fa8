"""How long does the automaton take to advance and to say what may come next?

    python benchmarks/mask.py                            10, 111, 500 and 2,000 columns, random queries
    python benchmarks/mask.py --gold --json mask.json    and gold queries of ehrsql2024 on MIMIC-IV (FASTSQL_DATA)

A step is one action: the mask of what may come, then the state after it. Native and Python take the same actions of the same
queries on one thread; their masks are compared before anything is timed. The native figures are those of the search's inner
loop in C++, with the memory for a query's states allocated anew for each query. The best of several rounds counts, in
processor time, so that other work on the machine costs neither of them anything.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql import backends
from fastsql.datasets import read_examples, read_schemas
from fastsql.grammar import ActionSpace, Literal, State, sql_to_program, trace_program
from fastsql.grammar.program import Terminal
from fastsql.grammar.tables import grammar_table, question_table, schema_table
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


def gold(folder: Path, queries: int) -> Workload:
    """Gold queries of ehrsql2024, each in the space of its own question with its literals found."""
    schema = read_schemas(folder / "ehrsql2024" / "schemas.json")["mimic_iv"]
    found: list[tuple[ActionSpace, Numbers]] = []
    for example in read_examples(folder / "ehrsql2024" / "valid.json"):
        if example.sql is None or len(found) == queries:
            continue
        program = sql_to_program(example.sql, schema)
        space = space_for(schema, example.question, [c for c in map(candidate, program) if c is not None])
        found.append((space, trace_program(program, space).actions))
    return Workload("gold", len(schema.columns), tuple(found))


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


def replay(space: ActionSpace, decisions: Sequence[int]) -> tuple[int, list[NDArray[np.bool_]]]:
    """Actions that the Python automaton takes, and the masks of its decisions."""
    state = State.start(space)
    masks: list[NDArray[np.bool_]] = []
    left = iter(decisions)
    while not state.finished:
        mask = state.mask()
        legal = state.legal()
        if legal.size > 1:
            masks.append(mask)
        state = state.advance(next(left) if legal.size > 1 else int(legal[0]), decision=legal.size > 1)
    return state.used, masks


def measure(core: ModuleType, workload: Workload, seconds: float) -> dict[str, float]:
    """Microseconds a step of each, the best round's; raises AssertionError where the two disagree."""
    items: dict[int, Any] = {}
    native: list[tuple[Any, Numbers]] = []
    grammar = core.Grammar(grammar_table(workload.queries[0][0].grammar))
    steps = 0
    for space, decisions in workload.queries:
        key = id(space.schema)
        items[key] = items.get(key) or core.SchemaItems(grammar, schema_table(space.schema))
        automaton = core.Automaton(core.ActionSpace(items[key], question_table(space)))
        _, _, packed, used, finished = automaton.replay(decisions)
        expected_used, masks = replay(space, decisions.tolist())
        octets = packed.astype("<u8").view(np.uint8).reshape(len(packed), -1)
        legal = np.unpackbits(octets, axis=1, count=space.size, bitorder="little").astype(bool)
        assert finished
        assert used == expected_used
        np.testing.assert_array_equal(legal, np.stack(masks))
        native.append((automaton, decisions))
        steps += used

    def native_round() -> None:
        for automaton, decisions in native:
            automaton.replay(decisions)

    def python_round() -> None:
        for space, decisions in workload.queries:
            replay(space, decisions.tolist())

    return {
        "native": best_seconds(native_round, seconds) / steps * 1e6,
        "python": best_seconds(python_round, seconds) / steps * 1e6,
        "steps": float(steps),
    }


def best_seconds(run: Any, seconds: float) -> float:
    """The fastest of as many runs as fit into `seconds`, three at least."""
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < 3 or time.perf_counter() < end:
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, nargs="+", default=[10, 111, 500, 2000])
    parser.add_argument("--queries", type=int, default=40, help="a workload")
    parser.add_argument("--seconds", type=float, default=2.0, help="per measurement")
    parser.add_argument("--gold", action="store_true", help="gold queries of ehrsql2024, too")
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    core = backends.native()
    if core is None:
        print(f"no native module: {backends.native_status().reason}", file=sys.stderr)
        return 1
    workloads = [synthetic(columns, options.queries) for columns in options.columns]
    if options.gold:
        workloads.append(gold(Path(os.environ["FASTSQL_DATA"]), options.queries))
    results = []
    print(f"mask and advance, microseconds a step; {core.compiler}, {os.cpu_count()} processors, one thread")
    print(
        f"{'queries':>8} {'columns':>8} {'actions':>8} {'steps':>7} {'native':>9} {'python':>9} {'ratio':>7}"
    )
    for workload in workloads:
        found = measure(core, workload, options.seconds)
        results.append(
            {
                "queries": workload.name,
                "columns": workload.columns,
                "actions": workload.actions,
                "microseconds": found,
            }
        )
        print(
            f"{workload.name:>8} {workload.columns:8d} {workload.actions:8d} {int(found['steps']):7d}"
            f" {found['native']:9.3f} {found['python']:9.1f} {found['python'] / found['native']:6.0f}x"
        )
    if options.json:
        options.json.write_text(json.dumps({"mask": results}, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
