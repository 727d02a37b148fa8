"""``fastsql synthesize``: write synthetic questions with SQL for one's own database."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.options import count, output_file, positive
from fastsql.cli.schema_options import add_choice_options, read_schema
from fastsql.errors import SchemaError

if TYPE_CHECKING:
    from fastsql.execution import Executor
    from fastsql.profile.model import Profile
    from fastsql.schema import Schema
    from fastsql.synthesis.schema.library import Weighted

_EPILOG = """\
examples:
  fastsql synthesize clinic.sqlite -n 5000 -o pairs.json.gz
  fastsql synthesize postgresql://reader@localhost/clinic -o pairs.json --seeds questions.json

  fastsql synthesize schema.sql -o pairs.json.gz         without a database: rows are made up

The pairs hold values of the database: treat the file as you treat its rows.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "synthesize",
        help="write synthetic questions with SQL for a database",
        description="Write questions with SQL for a database, in the uniform form. Every query returns something there.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "schema",
        metavar="SCHEMA",
        help="an SQLite file or a database URL (extra db); or a .sql or .json file, for which rows are made up",
    )
    parser.add_argument(
        "-n", "--examples", metavar="N", type=positive, default=5000, help="pairs at most (default: 5000)"
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=1, help="seed of everything random (default: 1)"
    )
    parser.add_argument(
        "--seeds",
        metavar="DATA.json",
        type=Path,
        help="questions with SQL over this database, whose templates are used ten times as often as others",
    )
    parser.add_argument(
        "--profile", metavar="P", help="a profile of the schema, which fastsql profile made and people edited"
    )
    add_choice_options(parser)
    parser.add_argument(
        "--show", metavar="N", type=count, default=5, help="pairs to print, with their values (default: 5)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=output_file, required=True, help="a .json or .json.gz file"
    )
    parser.set_defaults(run=run, keys_from=None, reference=None, column_seconds=None)


def run(options: argparse.Namespace) -> int:
    """Write the pairs; say what they are like."""
    from fastsql.profile.reading import read_profile
    from fastsql.synthesis import generate_drawn, write_pairs
    from fastsql.synthesis.schema import SchemaSource, known_templates
    from fastsql.synthesis.statistics import count_hardness

    for source in filter(None, (options.schema, options.seeds, options.profile)):
        if options.output.exists() and Path(source).exists() and options.output.samefile(source):
            raise SchemaError("it would be written over", where=str(source), remedy="Give another -o.")
    schema = read_schema(options)
    profile = None if options.profile is None else read_profile(options.profile, schema)
    templates = (*known_templates(), *(() if options.seeds is None else _seeds(options.seeds, schema)))
    with _opened(options, schema, profile) as executor:
        drawn = SchemaSource(schema, executor, templates, db_id=_name(options.schema), profile=profile)
        pairs = generate_drawn(drawn, options.examples, options.seed, report=_note)
    write_pairs(pairs, options.output)
    for column in drawn.unread:
        _note(f"column {column}: it could not be read, and is asked nothing about")
    _note(", ".join(f"{number} {level}" for level, number in count_hardness(pairs).items()))
    for pair in pairs[: options.show]:
        print(f"{pair.question}\n  {pair.sql}")
    return 0


@contextlib.contextmanager
def _opened(options: argparse.Namespace, schema: Schema, profile: Profile | None) -> Iterator[Executor]:
    """The database; where only a schema is given, one with rows that are made up."""
    from fastsql.execution import open_executor
    from fastsql.schema.sources import is_database
    from fastsql.synthesis.contents import MadeDatabase, constraints_of

    if is_database(options.schema):
        with open_executor(options.schema) as executor:
            yield executor
        return
    constraints = constraints_of(options.schema, schema)
    if constraints.unread:
        _note("NOT NULL and UNIQUE could not be read of the DDL: rows that are made up may break them")
    with MadeDatabase(schema, str(options.seed), profile=profile, constraints=constraints) as made:
        number = sum(map(len, made.rows))
        _note(f"no database is given: {number:,} rows are made up for {len(made.rows)} tables")
        yield made.executor


def _name(database: str) -> str:
    """What the pairs call the database: the last part of its path, without what follows a dot."""
    return Path(database.partition("?")[0]).stem


def _seeds(path: Path, schema: Schema) -> list[Weighted]:
    """The templates of a user's own queries, weighted up. Those without one are named on standard error."""
    from dataclasses import replace

    from fastsql.datasets import read_examples
    from fastsql.synthesis.schema.library import read_seeds

    found, left_out = read_seeds((example, schema) for example in read_examples(path))
    for name, why in left_out.items():
        _note(f"{path}: {name}: {why}; not used")
    return [replace(one, count=one.count * 100) for one in found]


def _note(line: str) -> None:
    print(line, file=sys.stderr)
