"""Extended databases: operations drawn by a seed, one after the other, each on what the one before has made."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from fastsql.datasets import Example
from fastsql.execution import Executor, open_executor
from fastsql.schema import Schema
from fastsql.schema.sqlite_file import open_read_only
from fastsql.synthesis.extension.carry import carry_rows
from fastsql.synthesis.extension.facts import Facts, with_declared_types
from fastsql.synthesis.extension.merge import merge_sites
from fastsql.synthesis.extension.operation import Extended, Site
from fastsql.synthesis.extension.pairs import CarriedPair, Carrier, DroppedPair
from fastsql.synthesis.extension.relation import relation_sites
from fastsql.synthesis.extension.split import split_sites
from fastsql.synthesis.source import SynthesisError

Finder = Callable[[Schema, Facts], "Iterator[Site]"]
"""Finds the sites of an operation."""
OPERATIONS: dict[str, Finder] = {
    "relation": relation_sites,
    "merge": merge_sites,
    "split": split_sites,
}
"""The operations by name, each with what finds its sites."""
_MOST_ROWS = 100_000
"""Rows of an answer that are compared."""
_SECONDS = 10.0
"""Seconds that a query may take."""
_TRIES = 4
"""Seeds that are tried for each variant that is asked for: many schemas have few sites."""


@dataclass(frozen=True)
class Extension:
    """An extended database: its schema, the operations that made it, and the pairs that hold there."""

    schema: Schema
    database: Path
    parent: str
    operations: tuple[str, ...]
    pairs: tuple[CarriedPair, ...]
    dropped: tuple[DroppedPair, ...]


def find_sites(
    schema: Schema, database: Path, operations: Sequence[str] = tuple(OPERATIONS)
) -> tuple[Site, ...]:
    """Where operations apply, always in the same order. Raises SynthesisError where the database cannot be read."""
    with open_database(schema, database) as facts:
        return tuple(site for find in _finders(operations) for site in find(facts.schema, facts))


def extend(
    schema: Schema,
    database: Path,
    target: Path,
    *,
    pairs: Iterable[Example] = (),
    seed: str = "1",
    steps: int = 1,
    operations: Sequence[str] = tuple(OPERATIONS),
    name: str = "",
) -> Extension:
    """An extended database in a new file. The same arguments give the same bytes.

    Args:
        schema: that of the database.
        database: an SQLite file; it is only read.
        target: the new file.
        pairs: questions with SQL over the database.
        seed: of the operations and their sites.
        steps: operations one after the other, fewer where none is left that applies.
        operations: names of those to draw from; each kind is as likely as any other that applies.
        name: of the new database, its file's where empty.

    Raises SynthesisError where no operation applies, or the database cannot be read.
    """
    rng = random.Random(seed)

    finders = _finders(operations)

    def draw(present: Schema, facts: Facts, used: frozenset[int]) -> list[Site]:
        return _drawn(rng, present, facts, finders, used)

    return _extend(schema, database, target, pairs, [draw] * steps, name or target.stem)


def extend_at(
    schema: Schema,
    database: Path,
    target: Path,
    sites: Sequence[Callable[[Schema, Facts], Site | None]],
    pairs: Iterable[Example] = (),
    name: str = "",
) -> Extension:
    """As :func:`extend`, at sites that are named one after the other, each by a look at what has become of the schema."""

    def chosen(choose: Callable[[Schema, Facts], Site | None]) -> _Choice:
        return lambda present, facts, _: [site] if (site := choose(present, facts)) is not None else []

    return _extend(schema, database, target, pairs, [chosen(one) for one in sites], name or target.stem)


def variants(
    schema: Schema,
    database: Path,
    folder: Path,
    number: int,
    *,
    pairs: Sequence[Example] = (),
    seed: int = 1,
    steps: int = 1,
    operations: Sequence[str] = tuple(OPERATIONS),
) -> Iterator[Extension]:
    """At most `number` extended databases, no two by the same operations at the same sites, as files of a folder."""
    known: set[tuple[str, ...]] = set()
    for trial in range(number * _TRIES):
        if len(known) == number:
            return
        name = f"{schema.name}_x{len(known) + 1}"
        target = folder / f"{name}.sqlite"
        made = extend(
            schema,
            database,
            target,
            pairs=pairs,
            seed=f"{seed}/{trial}",
            steps=steps,
            operations=operations,
            name=name,
        )
        if made.operations in known:
            target.unlink()
            continue
        known.add(made.operations)
        yield made


_Choice = Callable[[Schema, Facts, frozenset[int]], "list[Site]"]
"""Sites of a schema, the first of which is taken that can be; told the tables that the queries name."""


def _extend(
    schema: Schema,
    database: Path,
    target: Path,
    pairs: Iterable[Example],
    choices: Sequence[_Choice],
    name: str,
) -> Extension:
    carrier = Carrier(pairs)
    done: list[str] = []
    with open_database(schema, database) as facts:
        present, path = facts.schema, database
    with tempfile.TemporaryDirectory(prefix="fastsql-") as folder:
        for number, choose in enumerate(choices, 1):
            with open_database(present, path) as facts:
                sites = choose(present, facts, carrier.used_tables(present))
                if not sites:
                    break
                made = Path(folder) / f"{number}.sqlite"
                extended = _applied(sites, present, path, made)
                carrier.rewrite(present, extended, facts)
            done.append(extended.site.describe(present))
            present, path = extended.schema, made
        if not done:
            raise SynthesisError(
                "no operation applies to it",
                where=f"schema {schema.name!r}",
                remedy="Operations need foreign keys that the rows keep, or columns of two to five values.",
            )
        with _executor(database) as before, _executor(path) as after:
            carrier.check(before, after)
        _take(path, target)
    return Extension(
        replace(present, name=name),
        target,
        schema.name,
        tuple(done),
        tuple(_named(pair, name) for pair in carrier.pairs),
        tuple(carrier.dropped),
    )


def _executor(database: Path) -> Executor:
    return open_executor(database, row_limit=_MOST_ROWS, time_limit=_SECONDS)


def _applied(sites: Sequence[Site], schema: Schema, database: Path, target: Path) -> Extended:
    """What becomes of a schema at the first site where its rows can be carried over. Raises the error of the last."""
    failure = SynthesisError("no operation applies to it")
    for site in sites:
        found = _tried(site, schema, database, target)
        if isinstance(found, Extended):
            return found
        failure = found
    raise failure


def _tried(site: Site, schema: Schema, database: Path, target: Path) -> Extended | SynthesisError:
    try:
        extended = site.apply(schema)
        carry_rows(schema, extended, database, target)
    except SynthesisError as error:
        return error
    return extended


def _finders(operations: Sequence[str]) -> list[Finder]:
    unknown = [name for name in operations if name not in OPERATIONS]
    if unknown or not operations:
        raise SynthesisError(
            "there is no such operation",
            where=f"operation {(*unknown, '')[0]!r}",
            remedy=f"There are: {', '.join(OPERATIONS)}.",
        )
    return [OPERATIONS[name] for name in operations]


def _drawn(
    rng: random.Random, schema: Schema, facts: Facts, finders: Sequence[Finder], used: frozenset[int]
) -> list[Site]:
    """The sites in the order in which they are tried: by kinds as they are drawn, those that matter to queries first."""
    kinds = [sites for find in finders if (sites := list(find(schema, facts)))]
    rng.shuffle(kinds)
    found = [site for sites in kinds for site in rng.sample(sites, len(sites))]
    return sorted(found, key=lambda site: used.isdisjoint(site.tables(schema)))


def _named(pair: CarriedPair, name: str) -> CarriedPair:
    example = pair.example
    return replace(pair, example=replace(example, id=f"{example.id}@{name}", db_id=name))


def _take(path: Path, target: Path) -> None:
    """Move the last file of the chain: it may be on another disk."""
    target.write_bytes(path.read_bytes())
    target.chmod(0o600)


@contextmanager
def open_database(schema: Schema, database: Path) -> Iterator[Facts]:
    """Facts of a database while it is open. What SQLite cannot read is a SynthesisError."""
    try:
        with open_read_only(database) as connection:
            yield Facts(with_declared_types(schema, connection), connection)
    except sqlite3.Error as error:
        raise SynthesisError(
            f"SQLite cannot read it ({type(error).__name__})",
            where=str(database),
            remedy="Check that it is the schema's SQLite database, intact and unlocked.",
        ) from error
