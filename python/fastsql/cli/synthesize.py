"""``fastsql synthesize``: write synthetic questions with SQL for one's own database."""

from __future__ import annotations

import argparse
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastsql.schema import Schema
    from fastsql.synthesis.schema.library import Weighted

_SHOWN = 5
_EPILOG = """\
examples:
  fastsql synthesize clinic.sqlite -n 5000 -o pairs.json.gz
  fastsql synthesize postgresql://reader@localhost/clinic -o pairs.json --seeds questions.json

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
        "database", metavar="DATABASE", help="an SQLite or DuckDB file, or a database URL (extra db)"
    )
    parser.add_argument(
        "-n", "--examples", metavar="N", type=int, default=5000, help="pairs at most (default: 5000)"
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
        "-o", "--output", metavar="FILE", type=Path, required=True, help="a .json or .json.gz file"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the pairs; say what they are like."""
    from fastsql.execution import open_executor
    from fastsql.schema import Schema
    from fastsql.synthesis import generate_drawn, write_pairs
    from fastsql.synthesis.schema import SchemaSource, known_templates
    from fastsql.synthesis.statistics import count_hardness

    schema = Schema.coerce(options.database)
    templates = (*known_templates(), *(() if options.seeds is None else _seeds(options.seeds, schema)))
    with ExitStack() as stack:
        executor = stack.enter_context(open_executor(options.database))
        source = SchemaSource(schema, executor, templates, db_id=schema.name or Path(options.database).stem)
        pairs = generate_drawn(source, options.examples, options.seed, report=_note)
    write_pairs(pairs, options.output)
    counts = count_hardness(pairs)
    _note(", ".join(f"{count} {level}" for level, count in counts.items()))
    for pair in pairs[:_SHOWN]:
        print(f"{pair.question}\n  {pair.sql}")
    return 0


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
