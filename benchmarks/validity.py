"""Is every SQL that the automaton lets through valid, whatever the scores?

    python benchmarks/validity.py                         20,000 decodes over all sets in FASTSQL_DATA
    python benchmarks/validity.py --decodes 200 --set bird --seed 3 --json validity.json
    python benchmarks/validity.py --decodes 2000 --dialect postgres
    python benchmarks/validity.py --native --decodes 1000000 --every 20 --processes 2
    python benchmarks/validity.py --native --turns 6 --decodes 20000      20,000 conversations of six turns

Decodes queries with random scores: noise alone, or noise and a random preference for each action, in turn. Schemas and
questions are those of the data sets, evenly over the sets. No model takes part. Each query must be complete within the
budget, parse in sqlglot, name only what the schema and its own aliases offer, have few enough words for the verifier, and
prepare in SQLite on an empty database. With `--dialect postgres` it is written for PostgreSQL, with strict grouping, and
prepares on a private server there; with `--dialect duckdb` it is written for DuckDB and prepares there. `--native` has the
C++ automaton decode. `--every K` has every query prepared, but only one in K parsed in sqlglot and resolved.
Decode number K depends on the seed and K alone: `--start K --decodes 1` repeats it. With `--turns N` each is a conversation
of N questions, whose queries may point at those before them, but for one in eight, which count as refused; in half of the
conversations they prefer to.
"""

from __future__ import annotations

import argparse
import gc
import multiprocessing
import os
import re
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.backends import native, resolve_device
from fastsql.cli.console import Console
from fastsql.datasets import read_examples, read_schemas
from fastsql.errors import DialectError, FastSQLError, VerificationError
from fastsql.grammar import ActionSpace, Program, State, Turn, load_grammar, read_path, read_turn, render
from fastsql.grammar.actions import PRODUCTION
from fastsql.grammar.inlining import inline
from fastsql.grammar.tables import grammar_table, question_table, schema_table
from fastsql.limits import DEFAULT
from fastsql.linking import find_candidates
from fastsql.linking.question import clean_question
from fastsql.schema import Schema
from fastsql.verification.resolve import UnresolvedError, resolve
from fastsql.verification.text import scan_text
from fastsql.verification.verify import parenthesis_depth, parse_query

sys.path.insert(0, str(Path(__file__).parent))
from engines import DatabaseMissingError, EngineError, Prepare, preparer
from record import save

DECODES = 20_000
PREFERENCES = (0.0, 2.0, 4.0)
"""Standard deviations of the preferences for actions, taken in turn; the noise is Gumbel's, of scale 1."""
FILES = ("dev.json", "valid.json", "examples.json.gz", "train.json", "train.json.gz")
QUESTIONS = 200
"""Questions of each set that are used."""
PIECES = (r"\w+|[^\w\s]", r"\w|[^\w\s]", r"\w{1,4}|[^\w\s]")
"""Ways to cut a question into tokens, taken in turn."""
FORGOTTEN = 8
"""One turn in so many cannot be pointed at."""
FONDNESS = 4.0
"""What is added, in every second conversation, to the preference for productions that point at a turn."""
KEPT = 20
"""Failures that are kept with their SQL."""
YOUNG = 50_000
"""Objects that come before the collector looks at them: those of some queries, nearly all of which are gone by then."""


@dataclass(frozen=True)
class Source:
    """The schemas and questions of a data set."""

    name: str
    schemas: tuple[Schema, ...]
    questions: tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """The dialect that is written, and what compiles it."""

    dialect: str
    prepare: Prepare
    every: int = 1
    """One query in so many is parsed and resolved, too."""
    turns: int = 1
    """Questions of a conversation."""
    core: Any = None
    """The native module, if its automaton is to decode."""


@dataclass
class Tally:
    """What was counted over one data set."""

    schemas: int
    decodes: int = 0
    pointing: int = 0
    """Those that point at an earlier turn."""
    complete: int = 0
    parsed: int = 0
    parse: int = 0
    resolve: int = 0
    prepare: int = 0
    actions: list[int] = field(default_factory=list)
    characters: int = 0
    depth: int = 0
    decode_ms: float = 0.0
    verify_ms: float = 0.0

    def add(self, other: Tally) -> None:
        """Counts the other's decodes, too."""
        for name in (
            "schemas",
            "decodes",
            "pointing",
            "complete",
            "parsed",
            "parse",
            "resolve",
            "prepare",
            "decode_ms",
            "verify_ms",
        ):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.actions += other.actions
        self.characters = max(self.characters, other.characters)
        self.depth = max(self.depth, other.depth)

    def report(self) -> dict[str, Any]:
        """The figures; times are means a decode."""
        count = max(self.decodes, 1)
        return {
            "schemas": self.schemas,
            "decodes": self.decodes,
            **({"pointing": self.pointing} if self.pointing else {}),
            "complete": self.complete,
            "parsed": self.parsed,
            "parse": self.parse,
            "resolve": self.resolve,
            "prepare": self.prepare,
            "actions": {"mean": round(sum(self.actions) / count, 1), "max": max(self.actions, default=0)},
            "characters_max": self.characters,
            "parentheses_max": self.depth,
            "ms": {"decode": round(self.decode_ms / count, 2), "verify": round(self.verify_ms / count, 2)},
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked. Returns 1 if any decode failed."""
    options = _options().parse_args(arguments)
    console = Console()
    sources = _sources(options)
    if not sources:
        print(f"no schemas.json in {options.data}/*; set FASTSQL_DATA or give --data", file=sys.stderr)
        return 1
    parts = [
        (options, range(options.start + part, options.start + options.decodes, options.processes))
        for part in range(options.processes)
    ]
    if options.processes == 1:
        outcomes = [run(*parts[0])]
    else:
        with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
            outcomes = pool.starmap(run, parts)
    tallies = {source.name: Tally(len(source.schemas)) for source in sources}
    for found, _ in outcomes:
        for name, tally in found.items():
            tallies[name].add(tally)
    failures = [failure for _, found in outcomes for failure in found][:KEPT]
    total = Tally(0)
    for tally in tallies.values():
        total.add(tally)
    reports = {name: tally.report() for name, tally in tallies.items()} | {"all": total.report()}
    _print(console, reports, failures)
    content = {"dialect": options.dialect, "seed": options.seed, "start": options.start}
    save(options.json, {**content, "sets": reports, "failures": failures}, __file__, arguments)
    return int(total.prepare < total.decodes or total.resolve < total.parsed)


def run(options: argparse.Namespace, numbers: range) -> tuple[dict[str, Tally], list[dict[str, Any]]]:
    """The decodes of these numbers: what was counted for each data set, and what failed."""
    sources = _sources(options)
    # The schemas of all sets are millions of objects, which the collector need not walk through again and again.
    gc.freeze()
    gc.set_threshold(YOUNG)
    tallies = {source.name: Tally(0) for source in sources}
    failures: list[dict[str, Any]] = []
    with preparer(options.dialect) as prepare:
        core = native_module() if options.native else None
        target = Target(options.dialect, prepare, options.every, options.turns, core)
        shown = numbers.start == options.start
        for number in Console().track(numbers, "decoding", len(numbers)) if shown else numbers:
            source = sources[number % len(sources)]
            turn = number // len(sources)
            schema = source.schemas[turn % len(source.schemas)]
            earlier: tuple[Turn, ...] = ()
            for asked in range(target.turns):
                question = source.questions[(turn + asked) % len(source.questions)]
                space, random = ask(
                    schema, question, number * target.turns + asked, options.seed, target, earlier
                )
                fault, program = decode_one(space, random, number, tallies[source.name], target)
                if fault and len(failures) < KEPT:
                    failures.append({"set": source.name, "schema": schema.name, "decode": number, **fault})
                if asked + 1 < target.turns and program:
                    earlier = (*earlier, read_turn(program, space, usable=random.integers(FORGOTTEN) > 0))
    return tallies, failures


def native_module() -> Any:
    """The native module. Raises ModelError where there is none."""
    resolve_device("cpu")
    return native()


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--decodes", type=int, default=DECODES)
    parser.add_argument("--start", type=int, default=0, help="number of the first decode")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--dialect", choices=("sqlite", "postgres", "duckdb"), default="sqlite")
    parser.add_argument("--turns", type=int, default=1, metavar="N", help="questions of a conversation")
    parser.add_argument("--native", action="store_true", help="decode with the C++ automaton")
    parser.add_argument("--every", type=int, default=1, metavar="K", help="parse and resolve one query in K")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--set", nargs="+", help="names of data sets; all that are found")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--json", type=Path)
    return parser


def _sources(options: argparse.Namespace) -> list[Source]:
    return read_sources(options.data, None if options.set is None else tuple(options.set), options.dialect)


@lru_cache(maxsize=1)
def read_sources(data: Path, names: tuple[str, ...] | None, dialect: str = "sqlite") -> list[Source]:
    """The data sets of a folder, those of the given names or all, in the order of their names.

    Schemas that a dialect's engine cannot hold are passed over, and sets that have no other.
    """
    found = []
    for file in sorted(data.glob("*/schemas.json")):
        if names and file.parent.name not in names:
            continue
        examples = next((path for name in FILES if (path := file.parent / name).is_file()), None)
        asked = read_examples(examples)[:QUESTIONS] if examples is not None else ()
        questions = tuple(clean_question(example.question) for example in asked) or ("",)
        schemas = tuple(
            one for one in read_schemas(file).values() if dialect != "postgres" or is_told_apart(one)
        )
        if schemas:
            found.append(Source(file.parent.name, schemas, questions))
    return found


def is_told_apart(schema: Schema) -> bool:
    """Whether names differ within their first 63 bytes, behind which PostgreSQL cuts them."""
    tables = [(table.namespace, table.name) for table in schema.tables]
    columns = [(str(column.table), column.name) for column in schema.columns]
    return all(
        len({(of, name.encode()[:63]) for of, name in names}) == len(names) for names in (tables, columns)
    )


def ask(
    schema: Schema, question: str, number: int, seed: int, target: Target, turns: tuple[Turn, ...]
) -> tuple[ActionSpace, np.random.Generator]:
    """The action space of a question, and the random numbers of its decode."""
    random = np.random.default_rng((seed, number))
    tokens = [match.span() for match in re.finditer(PIECES[number % len(PIECES)], question)]
    space = ActionSpace.for_question(
        schema,
        question,
        np.asarray(tokens, dtype=np.int32).reshape(-1, 2),
        find_candidates(question, schema),
        strict_grouping=target.dialect == "postgres",
        turns=turns,
    )
    return space, random


def decode_one(
    space: ActionSpace, random: np.random.Generator, number: int, tally: Tally, target: Target
) -> tuple[dict[str, str], Program]:
    """Decode and verify one query. Returns what is wrong and the SQL, or nothing; and the query, where it is complete."""
    schema = space.schema
    preference = PREFERENCES[number // len(PIECES) % len(PREFERENCES)] * random.standard_normal(space.size)
    if number // len(PIECES) % 2:
        preference[pointing(space)] += FONDNESS
    tally.decodes += 1
    clock = time.perf_counter()
    if target.core is None:
        path, finished = _decode(space, preference, random)
    else:
        path, finished = _decode_native(space, preference, int(random.integers(1 << 62)), target.core)
    tally.decode_ms += 1000 * (time.perf_counter() - clock)
    used = len(path)
    if not finished or used > space.limits.actions:
        return {"fault": f"a dead end after {used} actions", "sql": ""}, ()
    tally.complete += 1
    program = read_path(path, space)
    plain = inline(program, space.turns, schema, space.grammar)
    tally.pointing += plain is not program
    try:
        sql = render(plain, schema, dialect=target.dialect)
    except DialectError as error:
        return {"fault": str(error), "sql": ""}, program
    tally.actions.append(used)
    tally.characters = max(tally.characters, len(sql))
    tally.depth = max(tally.depth, parenthesis_depth(sql))
    clock = time.perf_counter()
    fault = _verify(sql, schema, tally, target, whole=number // len(PIECES) % target.every == 0)
    tally.verify_ms += 1000 * (time.perf_counter() - clock)
    return {"fault": fault, "sql": sql} if fault else {}, program


def pointing(space: ActionSpace) -> list[int]:
    """Productions that point at an earlier turn; none where there is none."""
    return [space.flat(PRODUCTION, action) for action in _of_turns()] if space.turns else []


@lru_cache(maxsize=1)
def _of_turns() -> tuple[int, ...]:
    heads = (head for heads in load_grammar().alternatives for head in heads)
    found = {head.action for head in heads if head.requires & {"turn", "member", "extended"}}
    return tuple(action for action in found if action is not None)


def _decode(
    space: ActionSpace, preference: NDArray[np.float64], random: np.random.Generator
) -> tuple[list[int], bool]:
    """All actions, as `read_path` reads them, and whether they are a whole query."""
    state = State.start(space)
    path: list[int] = []
    while not state.finished:
        legal = state.legal()
        if not legal.size or state.used + state.cost > space.limits.actions:
            return path, False
        forced = legal.size == 1
        best = 0 if forced else int(np.argmax(preference[legal] + random.gumbel(size=legal.size)))
        action = int(legal[best])
        path.append(~action if forced else action)
        state = state.advance(action, decision=not forced)
    return path, True


def _decode_native(
    space: ActionSpace, preference: NDArray[np.float64], seed: int, core: Any
) -> tuple[list[int], bool]:
    """The same by the native automaton, which draws its own noise."""
    native_space = core.ActionSpace(_native_schema(core, space.schema), question_table(space))
    path, finished = core.Automaton(native_space).sample(preference.astype(np.float32), seed)
    return path.tolist(), finished


@lru_cache(maxsize=1)
def _native_grammar(core: Any) -> Any:
    return core.Grammar(grammar_table(load_grammar()))


_native_schemas: dict[str, Any] = {}
"""By fingerprint: to hash a whole schema for each query takes longer than to decode it."""


def _native_schema(core: Any, schema: Schema) -> Any:
    known = _native_schemas.get(schema.fingerprint)
    if known is None:
        known = core.SchemaItems(_native_grammar(core), schema_table(schema))
        _native_schemas[schema.fingerprint] = known
    return known


def _verify(sql: str, schema: Schema, tally: Tally, target: Target, *, whole: bool) -> str:
    """What is wrong with the SQL; empty if nothing is. Without `whole`, it is only prepared."""
    try:
        if target.dialect == "sqlite":
            scan_text(sql, target.dialect, DEFAULT)
        if whole:
            tally.parsed += 1
            query = parse_query(sql, dialect=target.dialect)
            tally.parse += 1
            resolve(query, schema)
            tally.resolve += 1
        target.prepare(sql, schema)
        tally.prepare += 1
    except (VerificationError, UnresolvedError, EngineError) as error:
        return str(error)
    return ""


def _print(console: Console, reports: dict[str, dict[str, Any]], failures: Sequence[dict[str, Any]]) -> None:
    columns = [
        "set",
        "schemas",
        "decodes",
        "complete",
        "parsed",
        "parse",
        "resolve",
        "prepare",
        "actions, mean",
        "max",
    ]
    columns += ["characters", "parentheses", "decode ms", "verify ms"]
    rows = []
    for name, report in reports.items():
        rows.append([name, *(report[c] for c in columns[1:8]), *report["actions"].values()])
        rows[-1] += [report["characters_max"], report["parentheses_max"], *report["ms"].values()]
    console.table(columns, rows)
    for failure in failures:
        console.line(
            f"\ndecode {failure['decode']}, {failure['set']} {failure['schema']}: {failure['fault']}"
        )
        console.sql(failure["sql"])


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (FastSQLError, DatabaseMissingError) as failure:
        sys.exit(f"validity: {failure}")
