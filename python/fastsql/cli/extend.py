"""``fastsql extend``: write variants of a database with other tables, and the questions that still hold there."""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import note
from fastsql.cli.options import count, positive
from fastsql.cli.schema_options import add_profile_option, with_profile_of

if TYPE_CHECKING:
    from fastsql.datasets import Example
    from fastsql.schema import Schema
    from fastsql.synthesis.extension import Extension

_KINDS = ("relation", "merge", "split")
_LINES = 5
"""Pairs that are named of those that were not carried over."""
_EPILOG = """\
operations:
  relation   a foreign key gets a table of its own
  merge      two tables that a foreign key links become one
  split      a table becomes several, one for each value of a column of few values

examples:
  fastsql extend clinic.sqlite --queries pairs.json -o extended
  fastsql extend clinic.sqlite --queries pairs.json -n 5 --steps 2 --operations merge,split -o extended

The folder holds rows of the database: treat it as you treat them.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "extend",
        help="write variants of a database with other tables, and its questions with SQL for them",
        description="Write variants of an SQLite database: the same rows in other tables, with queries that give the same.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("database", metavar="DATABASE", type=Path, help="an SQLite file, plain or .gz")
    parser.add_argument(
        "--queries", metavar="DATA.json", type=Path, help="questions with SQL over this database"
    )
    parser.add_argument(
        "--schema",
        metavar="S",
        help="its schema with labels and keys, such as a schemas.json that names it (default: as the file declares it)",
    )
    add_profile_option(parser)
    parser.add_argument(
        "-n", "--variants", metavar="N", type=positive, default=1, help="databases at most (default: 1)"
    )
    parser.add_argument(
        "--steps",
        metavar="N",
        type=positive,
        default=1,
        help="operations on each, one on another (default: 1)",
    )
    parser.add_argument(
        "--operations",
        metavar="NAME,...",
        type=_operations,
        default=_KINDS,
        help="those to draw from (default: relation,merge,split)",
    )
    parser.add_argument("--seed", metavar="S", type=int, default=1, help="seed of what is drawn (default: 1)")
    parser.add_argument(
        "--show",
        metavar="N",
        type=count,
        default=3,
        help="rewritten queries to print, with their values (default: 3)",
    )
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="a new folder")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the folder; say what became of the pairs."""
    from fastsql.datasets import DatabaseFiles
    from fastsql.synthesis.extension import variants
    from fastsql.synthesis.extension.output import DATABASES, new_folder, write_extensions

    name = options.database.name.partition(".")[0]
    with DatabaseFiles(options.database, [name]) as files, new_folder(options.output) as folder:
        database = files.path(name)
        if database is None:
            raise FileNotFoundError(2, "No such file", str(options.database))
        schema = _schema(options, database, name)
        pairs = () if options.queries is None else _pairs(options.queries, name)
        made = []
        for one in variants(
            schema,
            database,
            folder / DATABASES,
            options.variants,
            pairs=pairs,
            seed=options.seed,
            steps=options.steps,
            operations=options.operations,
        ):
            _tell(one, len(pairs))
            made.append(one)
        if len(made) < options.variants:
            note(f"{len(made)} of {options.variants} variants: seeds find no others")
        write_extensions(made, folder)
    changed = [pair for one in made for pair in one.pairs if pair.example.sql != pair.original]
    for pair in changed[: options.show]:
        print(f"{pair.example.question}\n  was {pair.original}\n  is  {pair.example.sql}")
    return 0


def _schema(options: argparse.Namespace, database: Path, name: str) -> Schema:
    from dataclasses import replace

    from fastsql.schema import Schema

    schema = (
        Schema.from_sqlite(database) if options.schema is None else Schema.coerce(options.schema, name=name)
    )
    return replace(with_profile_of(options, schema), name=name)


def _pairs(path: Path, name: str) -> list[Example]:
    """The pairs of a file that are about the database: those that name it, or all, where they name one alone."""
    from fastsql.datasets import DatasetError, read_examples

    found = [pair for pair in read_examples(path) if pair.sql is not None]
    own = [pair for pair in found if pair.db_id == name]
    if not own and len({pair.db_id for pair in found}) == 1:
        own = found
    if not own:
        raise DatasetError(
            "no pair is about this database", where=f"{path}: {name!r}", remedy="Give its pairs."
        )
    return own


def _tell(made: Extension, pairs: int) -> None:
    note(f"{made.schema.name}: {len(made.schema.tables)} tables")
    for operation in made.operations:
        note(f"  {operation}")
    if not pairs:
        return
    forms = Counter(pair.form for pair in made.pairs)
    note(
        f"  {len(made.pairs)} of {pairs} pairs: {', '.join(f'{n} {form}' for form, n in forms.most_common())}"
    )
    gone = sum(bool(pair.gone) for pair in made.pairs)
    if gone:
        note(f"  {gone} name a table or column in their question that is called otherwise now, or is no more")
    for dropped in made.dropped[:_LINES]:
        note(f"  {dropped.id}: {dropped.why}; not carried over")
    if len(made.dropped) > _LINES:
        note(f"  and {len(made.dropped) - _LINES} more are not carried over")


def _operations(text: str) -> tuple[str, ...]:
    """Names of operations between commas."""
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    if not names or not set(names) <= set(_KINDS):
        raise argparse.ArgumentTypeError(f"{text!r} is not some of {', '.join(_KINDS)}")
    return names
