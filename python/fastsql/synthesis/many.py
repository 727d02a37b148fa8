"""Pairs over the schemas of a pool, as a data set in the uniform form: pairs, schemas, and an excerpt of values."""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastsql.datasets import Example
from fastsql.errors import FastSQLError
from fastsql.execution import Executor
from fastsql.schema import Schema, Value
from fastsql.synthesis.generate import Report, generate_drawn
from fastsql.synthesis.pool import PooledSchema, SchemaPool
from fastsql.synthesis.schema import SchemaSource, known_templates
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.source import SynthesisError
from fastsql.synthesis.write import write_pairs
from fastsql.whole_file import write_whole

VALUES = 40
"""Values of a column that the excerpt holds."""
_NOTES = 20
"""Lines on the progress."""
_LARGEST_SEED = 2**31

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


def make_set(pool: SchemaPool, pairs: int, seed: int, report: Report) -> MadeSet:
    """About as many pairs of each schema, `pairs` in all; what one schema lacks, the following ones give.

    The same arguments give the same. Schemas over which nothing can be made are left out and told. Raises SynthesisError
    where that are all.
    """
    found: list[Example] = []
    schemas: list[Schema] = []
    values: dict[str, Excerpt] = {}
    left_out: Counter[str] = Counter()
    begun, number = time.monotonic(), len(pool.schemas)
    step = max(1, number // _NOTES)
    for place, one in enumerate(pool.schemas):
        quota = -(-(pairs - len(found)) // (number - place))
        if quota <= 0:
            break
        try:
            with pool.open(one) as executor:
                own = pairs_over(one, executor, quota, seed)
                values[one.db_id] = excerpt(one.schema, executor)
        except FastSQLError as error:
            left_out[error.what] += 1
            continue
        found += own
        schemas.append(one.schema)
        if (place + 1) % step == 0 or place + 1 == number:
            rate = len(found) / max(time.monotonic() - begun, 1e-9)
            report(f"{place + 1} of {number} schemas, {len(found)} pairs, {rate:.0f} a second")
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


def pairs_over(one: PooledSchema, executor: Executor, quota: int, seed: int) -> Sequence[Example]:
    """Pairs over one schema of a pool. Raises SynthesisError where none is found."""
    source = SchemaSource(one.schema, executor, known_templates(), db_id=one.db_id, profile=one.profile)
    # A seed of its own: the same one would draw the same templates over every schema.
    own = int(hashlib.sha256(f"{seed}/{one.db_id}".encode()).hexdigest(), 16) % _LARGEST_SEED
    return generate_drawn(source, quota, own, report=lambda _: None)


def excerpt(schema: Schema, executor: Executor) -> Excerpt:
    """Of every column of text some of its values."""
    contents = Contents(schema, executor)
    found: Excerpt = {}
    for index, column in enumerate(schema.columns):
        texts = [value for value in contents.values(index) if isinstance(value, str)]
        if column.type == "text" and texts:
            found.setdefault(schema.table_name(column.table), {})[column.name] = list(texts[:VALUES])
    return found
