"""Variants of CSS's two original databases, as its extended ones were made, with questions carried over."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

import json
import random
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from extension_css import with_rows
from fastsql.cli.console import note
from fastsql.datasets import Example
from fastsql.schema import Schema
from fastsql.schema.names import fold
from fastsql.synthesis.extension import extend
from fastsql.whole_file import write_whole

VARIANTS, STEPS, QUESTIONS = 16, 3, 150
"""Variants of an original, operations on each at most, and questions that are carried over to each."""
_TRIES = 3

Form = frozenset[frozenset[str]]
"""Tables by their columns."""


def write_variants(
    folder: Path,
    schemas: Sequence[Schema],
    examples: Iterable[Example],
    apart: Iterable[Schema],
    seed: int = 1,
) -> None:
    """`schemas.json` and `pairs.json` of variants of the schemas, none of them of the form of one that is kept `apart`.

    The examples are those over the originals that may be learnt from.
    """
    known = {form(schema) for schema in (*schemas, *apart)}
    described: list[dict[str, Any]] = []
    pairs: list[dict[str, Any]] = []
    by_database: dict[str, list[Example]] = {}
    for example in examples:
        by_database.setdefault(example.db_id, []).append(example)
    for schema in schemas:
        for variant, carried in _variants(schema, by_database.get(schema.name, []), known, seed):
            described.append(variant.to_dict())
            pairs += carried
        note(f"{len(described)} variants with {len(pairs)} questions")
    folder.mkdir(parents=True, exist_ok=True)
    for name, content in (("schemas.json", described), ("pairs.json", pairs)):
        write_whole(folder / name, json.dumps(content, ensure_ascii=False).encode())


def form(schema: Schema) -> Form:
    """What two databases have in common whose tables are called otherwise."""
    return frozenset(
        frozenset(fold(schema.columns[column].name) for column in table.columns) for table in schema.tables
    )


def _variants(
    schema: Schema, examples: Sequence[Example], known: set[Form], seed: int
) -> Iterator[tuple[Schema, list[dict[str, Any]]]]:
    rng = random.Random(seed)
    found = 0
    with tempfile.TemporaryDirectory() as place:
        rows, file = with_rows(schema, Path(place))
        for trial in range(VARIANTS * _TRIES):
            if found == VARIANTS:
                return
            name = f"{schema.name}_x{found + 1}"
            made = extend(
                rows.schema,
                file,
                Path(place) / f"{trial}.sqlite",
                pairs=rng.sample(examples, min(QUESTIONS, len(examples))),
                seed=f"{seed}/{trial}",
                steps=1 + trial % STEPS,
                name=name,
            )
            if form(made.schema) in known:
                continue
            known.add(form(made.schema))
            found += 1
            own = (pair.example for pair in made.pairs)
            yield (
                made.schema,
                [{"id": one.id, "db_id": name, "question": one.question, "sql": one.sql} for one in own],
            )
