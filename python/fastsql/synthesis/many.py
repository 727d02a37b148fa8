"""Pairs over the schemas of a pool, as a data set in the uniform form: pairs, schemas, and an excerpt of values."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from fastsql.datasets import Example
from fastsql.errors import FastSQLError
from fastsql.execution import Executor
from fastsql.execution.executor import DatabaseGoneError
from fastsql.schema import Schema, Value
from fastsql.schema.draft import flag
from fastsql.synthesis.generate import Report, generate_drawn
from fastsql.synthesis.pool import PooledSchema, SchemaPool, SchemaRows
from fastsql.synthesis.round_trip import came_back, with_round_trip
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.source import SynthesisError
from fastsql.synthesis.workers import Here, Workers
from fastsql.synthesis.write import write_pairs
from fastsql.whole_file import write_whole

VALUES = 40
"""Values of a column that the excerpt holds."""
_NOTES = 20
"""Lines on the progress."""
_ROUND = 64
"""Schemas that are worked on before what they lack is asked of others."""
_LARGEST_SEED = 2**31

Best = Callable[..., "str | None"]
"""A parser's best SQL for a question over a `schema`, None where it has none; a function that can be pickled."""

Excerpt = dict[str, dict[str, list[Value]]]
"""Values by table and column."""


@dataclass(frozen=True)
class MadeSet:
    """A data set that is made."""

    pairs: tuple[Example, ...]
    schemas: tuple[Schema, ...]
    values: dict[str, Excerpt]

    def __add__(self, other: MadeSet) -> MadeSet:
        return MadeSet(
            self.pairs + other.pairs, self.schemas + other.schemas, {**self.values, **other.values}
        )


@dataclass(frozen=True)
class _Part:
    """What is made over one schema; nothing, where it says why it is `left_out`."""

    pairs: tuple[Example, ...] = ()
    values: Excerpt = field(default_factory=dict)
    left_out: str = ""


@dataclass(frozen=True)
class _Task:
    rows: SchemaRows
    quota: int
    seed: int
    parse: Best | None
    drop: bool


def make_set(
    pool: SchemaPool,
    pairs: int,
    seed: int,
    report: Report,
    *,
    workers: Workers | None = None,
    parse: Best | None = None,
    drop: bool = False,
) -> MadeSet:
    """About as many pairs of each schema, `pairs` in all; what the schemas of one round lack, those of the next ones give.

    The same arguments give the same, whoever the `workers` are; without any, it is this process. Schemas over which nothing
    can be made are left out and told. With `parse`, pairs whose query does not come back from its question are marked, or
    left out (`drop`). Raises SynthesisError where nothing is made at all.
    """
    found: list[Example] = []
    schemas: list[Schema] = []
    values: dict[str, Excerpt] = {}
    left_out: Counter[str] = Counter()
    workers = workers or Here()
    begun, number = time.monotonic(), len(pool.schemas)
    step = max(1, number // _NOTES)
    place = 0
    while place < number and len(found) < pairs:
        # All of a round are asked for the same, so that none waits for what another one lacks.
        quota = -(-(pairs - len(found)) // (number - place))
        asked = pool.schemas[place : place + min(_ROUND, pairs - len(found))]
        tasks = [_Task(pool.rows_of(one), quota, seed, parse, drop) for one in asked]
        for one, part in zip(asked, workers.map(_part, tasks), strict=True):
            place += 1
            if part.left_out:
                left_out[part.left_out] += 1
                continue
            found += part.pairs[: pairs - len(found)]
            schemas.append(one.schema)
            values[one.db_id] = part.values
            if place % step == 0 or place == number:
                rate = len(found) / max(time.monotonic() - begun, 1e-9)
                report(f"{place} of {number} schemas, {len(found)} pairs, {rate:.0f} a second")
    for why, count in left_out.items():
        report(f"{count} schemas left out: {why}")
    if not found:
        raise SynthesisError("no pairs can be made over any of the schemas")
    return MadeSet(tuple(found), tuple(schemas), values)


def set_files(folder: Path, name: str = "") -> tuple[Path, Path, Path]:
    """The files of a data set's pairs, schemas and values."""
    prefix = f"{name}." if name else ""
    return (
        folder / f"{prefix}pairs.json.gz",
        folder / f"{prefix}schemas.json",
        folder / f"{prefix}values.json.gz",
    )


def write_set(made: MadeSet, folder: Path, name: str = "") -> tuple[Path, Path, Path]:
    """Writes pairs, schemas and values; the pairs last, so that where they are the others are, too."""
    pairs, schemas, values = set_files(folder, name)
    folder.mkdir(parents=True, exist_ok=True)
    listed = json.dumps([one.to_dict() for one in made.schemas], ensure_ascii=False).encode()
    write_whole(schemas, listed, private=True)
    held = json.dumps(made.values, ensure_ascii=False).encode()
    write_whole(values, gzip.compress(held, mtime=0), private=True)
    write_pairs(made.pairs, pairs)
    return pairs, schemas, values


def _part(task: _Task) -> _Part:
    one = task.rows.of
    try:
        with task.rows.open() as executor:
            made = pairs_over(one, executor, task.quota, task.seed)
            values = excerpt(one.schema, executor)
        if task.parse is not None:
            made = tuple(with_round_trip(made, partial(task.parse, schema=one.schema), one.schema))
    except DatabaseGoneError:  # the same arguments would make other files
        raise
    except FastSQLError as error:
        return _Part(left_out=error.what)
    if task.drop:
        made = tuple(pair for pair in made if came_back(pair))
    return _Part(tuple(made), values) if made else _Part(left_out="no query comes back from its question")


def pairs_over(one: PooledSchema, executor: Executor, quota: int, seed: int) -> Sequence[Example]:
    """Pairs over one schema of a pool. Raises SynthesisError where none is found."""
    source = SchemaSource(
        one.schema, executor, known_templates(), db_id=one.db_id, profile=one.profile, unknown=one.unknown
    )
    # A seed of its own: the same one would draw the same templates over every schema.
    own = int(hashlib.sha256(f"{seed}/{one.db_id}".encode()).hexdigest(), 16) % _LARGEST_SEED
    return generate_drawn(source, quota, own, report=lambda _: None)


def excerpt(schema: Schema, executor: Executor) -> Excerpt:
    """Of every column of text some of its values, and flags."""
    contents = Contents(schema, executor)
    found: Excerpt = {}
    for index, column in enumerate(schema.columns):
        if column.type not in ("text", "number"):
            continue
        cells = contents.values(index)
        kept = flag(cells) if column.type == "number" else [one for one in cells if isinstance(one, str)]
        if kept:
            found.setdefault(schema.table_name(column.table), {})[column.name] = kept[:VALUES]
    return found
