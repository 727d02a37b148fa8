"""How long does the automaton take to advance and to say what may come next, and how long do others?

    python benchmarks/mask.py                            10, 111, 500 and 2,000 columns, random queries
    python benchmarks/mask.py --gold --json mask.json    and gold queries of ehrsql2024 on MIMIC-IV (FASTSQL_DATA)
    python benchmarks/mask.py --peers                    and xgrammar and llguidance on the same gold queries

A step is one action: the mask of what may come, then the state after it. Native and Python take the same actions of the same
queries on one thread; their masks are compared before anything is timed. The native figures are those of the search's inner
loop in C++, with the memory for a query's states allocated anew for each query. The best of several rounds counts, in
processor time, so that other work on the machine costs neither of them anything.

The peers constrain a language model that writes the same queries as text, a token at a time (`constraint_peers.py`). What
they allow is weaker: a context-free grammar with the schema's names (`sql_subset.py`), which knows neither scope nor types.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql import backends
from fastsql.datasets import Example, read_examples, read_schemas
from fastsql.grammar import ActionSpace, ConversionError, GroundingError, State
from fastsql.grammar.tables import grammar_table, question_table, schema_table
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from constraint_peers import (
    MissingPackageError,
    Timed,
    as_written,
    byte_pairs,
    peers,
    timed,
    training_texts,
)
from figures import best_seconds, show, spread
from queries import Numbers, Workload, gold_query, synthetic
from record import machine, save


def gold_examples(data: Path) -> tuple[Schema, list[Example]]:
    """MIMIC-IV, and the answerable questions of ehrsql2024 valid."""
    schema = read_schemas(data / "ehrsql2024" / "schemas.json")["mimic_iv"]
    found = read_examples(data / "ehrsql2024" / "valid.json")
    return schema, [example for example in found if example.sql is not None]


def gold(schema: Schema, examples: Sequence[Example], queries: int) -> Workload:
    """The first gold queries, each in the space of its own question."""
    taken = tuple(gold_query(str(e.sql), e.question, schema) for e in examples[:queries])
    return Workload("gold", len(schema.columns), taken)


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


def step_by_step(automaton: Any, decisions: Sequence[int]) -> int:
    """The native automaton with a call for every mask and every advance, as the peers are driven; returns the actions."""
    state, left, actions = automaton.start(), iter(decisions), 0
    while not state.finished:
        legal = state.legal()
        decides = len(legal) > 1
        state = state.advance(next(left) if decides else int(legal[0]), decision=decides)
        actions += 1
    return actions


def ours(
    core: ModuleType, schema: Schema, queries: Sequence[tuple[Example, Numbers]], seconds: float
) -> list[Timed]:
    """The native automaton over gold queries: in the search's loop, and called step by step.

    To begin is to make the question's action space, in Python and then in C++; its candidates have been found before.
    """
    spaces = [gold_query(str(example.sql), example.question, schema)[0] for example, _ in queries]
    begin = time.perf_counter()
    items = core.SchemaItems(core.Grammar(grammar_table(spaces[0].grammar)), schema_table(schema))
    compile_ms = 1000 * (time.perf_counter() - begin)
    automata = [core.Automaton(core.ActionSpace(items, question_table(space))) for space in spaces]
    decisions = [taken for _, taken in queries]
    lists = [taken.tolist() for taken in decisions]
    count = len(queries)
    steps = sum(step_by_step(*pair) for pair in zip(automata, lists, strict=True)) / count

    def begin_all() -> None:
        for space in spaces:
            made = ActionSpace.for_question(schema, space.text, space.tokens, space.candidates)
            core.Automaton(core.ActionSpace(items, question_table(made)))

    def loop() -> None:
        for automaton, taken in zip(automata, decisions, strict=True):
            automaton.replay(taken)

    def calls() -> None:
        for automaton, taken in zip(automata, lists, strict=True):
            step_by_step(automaton, taken)

    begin_us = best_seconds(begin_all, seconds / 4) / count * 1e6
    return [
        Timed(name, compile_ms, begin_us, best_seconds(run, seconds) / count * 1e6, steps)
        for name, run in (("fastsql", loop), ("fastsql, a call a step", calls))
    ]


def against_peers(core: ModuleType, data: Path, queries: int, seconds: float) -> dict[str, Any]:
    """Everybody's times over the gold queries that all of them have, and how many that are. Raises MissingPackageError."""
    schema, examples = gold_examples(data)
    tokenizer = byte_pairs(training_texts(data))
    found = peers(tokenizer, schema, [constant.name for constant in schema.constants])
    shared: list[tuple[Example, Numbers, list[int]]] = []
    for example in examples:
        ids = tokenizer.encode(as_written(str(example.sql))).ids
        if not all(peer.accepts(ids) for peer in found):
            continue
        try:
            shared.append((example, gold_query(str(example.sql), example.question, schema)[1], ids))
        except (ConversionError, GroundingError):
            continue
    taken = spread(shared, queries)
    rows = ours(core, schema, [(example, decisions) for example, decisions, _ in taken], seconds)
    rows += [timed(peer, [ids for _, _, ids in taken], seconds) for peer in found]
    return {
        "vocabulary": tokenizer.get_vocab_size(),
        "gold_queries": len(examples),
        "in_all_grammars": len(shared),
        "timed": len(taken),
        "rows": [{**asdict(row), "step_us": row.step_us} for row in rows],
    }


def show_steps(results: Sequence[dict[str, Any]]) -> None:
    """The automaton alone."""
    rows = {}
    for result in results:
        found = result["microseconds"]
        rows[f"{result['queries']}, {result['columns']:,} columns"] = {
            **found,
            "actions": f"{result['actions']:,}",
            "steps": f"{int(found['steps']):,}",
            "ratio": found["python"] / found["native"],
        }
    show("mask and advance, microseconds a step", rows, ["actions", "steps", "native", "python", "ratio"], 3)


def show_peers(found: dict[str, Any]) -> None:
    """Everybody's times, and how many times the first's."""
    first = found["rows"][0]
    rows = {
        row["name"]: {
            "compile ms": row["compile_ms"],
            "begin us": row["begin_us"],
            "steps": row["steps"],
            "us a step": row["step_us"],
            "us a query": row["query_us"],
            "times ours": row["query_us"] / first["query_us"],
        }
        for row in found["rows"]
    }
    title = (
        f"constraint time over {found['timed']} of the {found['in_all_grammars']} gold queries (of {found['gold_queries']})"
        f" that every grammar has; tokens of a vocabulary of {found['vocabulary']:,}"
    )
    show(title, rows, list(next(iter(rows.values()))), 2)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print tables; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--columns", type=int, nargs="*", default=[10, 111, 500, 2000])
    parser.add_argument("--queries", type=int, default=40, help="a workload")
    parser.add_argument("--seconds", type=float, default=2.0, help="per measurement")
    parser.add_argument("--gold", action="store_true", help="gold queries of ehrsql2024, too")
    parser.add_argument("--peers", action="store_true", help="xgrammar and llguidance, too")
    parser.add_argument(
        "--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")), help="default: $FASTSQL_DATA"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    core = backends.native()
    if core is None:
        print(f"no native module: {backends.native_status().reason}", file=sys.stderr)
        return 1
    workloads = [synthetic(columns, options.queries) for columns in options.columns]
    if options.gold:
        workloads.append(gold(*gold_examples(options.data), options.queries))
    print(f"{core.compiler}, {machine()}, one thread")
    report: dict[str, Any] = {"mask": []}
    for workload in workloads:
        report["mask"].append(
            {
                "queries": workload.name,
                "columns": workload.columns,
                "actions": workload.actions,
                "microseconds": measure(core, workload, options.seconds),
            }
        )
    if report["mask"]:
        show_steps(report["mask"])
    if options.peers:
        try:
            report["peers"] = against_peers(core, options.data, options.queries, options.seconds)
        except MissingPackageError as error:
            print(error, file=sys.stderr)
            return 1
        show_peers(report["peers"])
    save(options.json, report, __file__, arguments)
    return 0


if __name__ == "__main__":
    sys.exit(main())
