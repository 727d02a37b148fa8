"""Steps of ``fastsql synthesize`` and ``fastsql corpus``: what they draw from, and what is done to drawn questions."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import note

if TYPE_CHECKING:
    from fastsql.datasets import Example
    from fastsql.execution import Executor
    from fastsql.parser import ParserByLanguage
    from fastsql.profile.model import Profile
    from fastsql.schema import Schema
    from fastsql.synthesis.rewording import RewordedSource
    from fastsql.synthesis.schema import SchemaSource
    from fastsql.synthesis.schema.library import Weighted


@contextlib.contextmanager
def opened(source: str, schema: Schema, profile: Profile | None, seed: int) -> Iterator[Executor]:
    """The database that `source` names; where it is a schema alone, one with rows that are made up."""
    from fastsql.execution import open_executor
    from fastsql.schema.sources import is_database
    from fastsql.synthesis.contents import MadeDatabase, constraints_of

    if is_database(source):
        with open_executor(source, schema=schema) as executor:
            yield executor
        return
    constraints = constraints_of(source, schema)
    if constraints.unread:
        note("NOT NULL and UNIQUE could not be read of the DDL: rows that are made up may break them")
    with MadeDatabase(schema, str(seed), profile=profile, constraints=constraints) as made:
        number = sum(map(len, made.rows))
        note(f"no database is given: {number:,} rows are made up for {len(made.rows)} tables")
        yield made.executor


def reworded(source: SchemaSource, profile: Profile | None, model: str) -> RewordedSource:
    """The source with questions chosen among its own and a reverse model's, where one is named or comes with fastsql."""
    from fastsql.backends import native
    from fastsql.parser.bundles import DEFAULT_MODEL, open_model
    from fastsql.reverse import bundled_reverse, load_reverse
    from fastsql.reverse.likelihood import open_likelihood
    from fastsql.synthesis.embedding import SentenceEncoder
    from fastsql.synthesis.guard import Guard
    from fastsql.synthesis.rewording import RewordedSource

    bundle = open_model(DEFAULT_MODEL)
    embed = SentenceEncoder(bundle.path).embed
    path = Path(model) if model else bundled_reverse()
    if not model and not path.is_file():
        note("no reverse model comes with this fastsql: questions are chosen among the grammar's own")
        return RewordedSource(source, embed, None)
    named = source.schema.with_profile(profile or source.schema.profile)
    tokenizer = bundle.tokenizer()
    judge = partial(open_likelihood(path, tokenizer, core=native()), schema=named)
    guard = Guard(named, judge, partial(best, schema=source.schema))
    return RewordedSource(source, embed, load_reverse(path, tokenizer).over(named), guard=guard)


def read_back(pairs: list[Example], schema: Schema, drop: bool) -> list[Example]:
    """The pairs with what became of their round trip; only those that came back where the others are to be dropped."""
    from fastsql.synthesis.round_trip import came_back, with_round_trip

    marked = list(with_round_trip(pairs, partial(best, schema=schema), schema))
    back = [pair for pair in marked if came_back(pair)]
    asked = sum(pair.sql is not None for pair in marked)
    note(f"{asked - len(marked) + len(back)} of {asked} queries come back from their questions")
    return back if drop else marked


@lru_cache(maxsize=1)
def _bundled() -> ParserByLanguage:
    import fastsql

    return fastsql.load("auto", suggest=False)


def best(question: str, schema: Schema) -> str | None:
    """The best SQL of the bundled parser of the question's language, given or not; a process opens it once."""
    return _bundled().parse(question, schema).best


def seeds(path: Path, schema: Schema, executor: Executor) -> list[Weighted]:
    """The templates of a user's own queries, weighted up. Those that cannot be used are named on standard error."""
    from dataclasses import replace

    from fastsql.adapt.seeds import read_seeds
    from fastsql.datasets import Example
    from fastsql.synthesis.schema.library import read_seeds as read_templates

    found = read_seeds(path, schema, executor)
    templates, without = read_templates(
        (Example(one.place, schema.name, one.question, one.sql), schema) for one in found.usable
    )
    for place, why in (*found.left_out.items(), *without.items()):
        note(f"{path}, {place}: {why}; not used")
    return [replace(one, count=one.count * 100) for one in templates]
