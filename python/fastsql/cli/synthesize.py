"""``fastsql synthesize``: write synthetic questions with SQL for one's own database."""

from __future__ import annotations

import argparse
import contextlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.options import count, output_file, positive, share
from fastsql.cli.schema_options import add_choice_options, read_schema
from fastsql.errors import SchemaError

if TYPE_CHECKING:
    from fastsql.datasets import Example
    from fastsql.execution import Executor
    from fastsql.profile.model import Profile
    from fastsql.schema import Schema
    from fastsql.synthesis.rewording import RewordedSource
    from fastsql.synthesis.schema import SchemaSource
    from fastsql.synthesis.schema.library import Weighted

_EPILOG = """\
examples:
  fastsql synthesize clinic.sqlite -n 5000 -o pairs.json.gz
  fastsql synthesize clinic.sqlite -o pairs.json --mix easy=0.5,medium=0.5 --contrast 0 --unanswerable 0.25
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
    parser.add_argument(
        "--mix",
        metavar="LEVEL=SHARE,...",
        type=_mix,
        help="shares of Spider's levels easy, medium, hard, extra and beyond; those not named get none (default: those of "
        "Spider's dev set)",
    )
    parser.add_argument(
        "--contrast",
        metavar="SHARE",
        type=share,
        default=0.2,
        help="share of pairs that come in couples, which differ in one thing (default: %(default)s)",
    )
    parser.add_argument(
        "--unanswerable",
        metavar="SHARE",
        type=share,
        default=0.1,
        help="share of questions that no query answers (default: %(default)s)",
    )
    add_choice_options(parser)
    parser.add_argument(
        "--show", metavar="N", type=count, default=5, help="pairs to print, with their values (default: 5)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=output_file, required=True, help="a .json or .json.gz file"
    )
    parser.add_argument(
        "--reword",
        metavar="MODEL",
        nargs="?",
        const="",
        help="choose among eight wordings of the grammar and eight of a reverse model (default: the bundled one, if any)",
    )
    parser.add_argument(
        "--wordings",
        metavar="K",
        type=int,
        choices=(1, 2),
        default=1,
        help="questions a query: 1 or 2 (default: 1)",
    )
    parser.add_argument(
        "--round-trip",
        choices=("drop", "flag"),
        help="parse every question: leave out, or mark, pairs whose query does not come back",
    )
    parser.set_defaults(run=run, keys_from=None, reference=None, column_seconds=None)


def run(options: argparse.Namespace) -> int:
    """Write the pairs; say what they are like."""
    from fastsql.profile.reading import read_profile
    from fastsql.synthesis import generate_varied, write_pairs
    from fastsql.synthesis.schema import SchemaSource, known_templates
    from fastsql.synthesis.schema.source import MIX
    from fastsql.synthesis.statistics import hardness_table

    for source in filter(None, (options.schema, options.seeds, options.profile)):
        if options.output.exists() and Path(source).exists() and options.output.samefile(source):
            raise SchemaError("it would be written over", where=str(source), remedy="Give another -o.")
    schema = read_schema(options)
    profile = None if options.profile is None else read_profile(options.profile, schema)
    templates = (*known_templates(), *(() if options.seeds is None else _seeds(options.seeds, schema)))
    with _opened(options, schema, profile) as executor:
        drawn = SchemaSource(
            schema,
            executor,
            templates,
            db_id=_name(options.schema),
            mix=options.mix or MIX,
            profile=profile,
        )
        pairs = generate_varied(
            drawn,
            options.examples,
            options.seed,
            contrast=options.contrast,
            unanswerable=options.unanswerable,
            singles=None if options.reword is None else _reworded(drawn, profile, options.reword),
            wordings=options.wordings,
            report=_note,
        )
    if options.round_trip:
        pairs = _round_trip(pairs, schema, options.round_trip == "drop")
    write_pairs(pairs, options.output)
    for column in drawn.unread:
        _note(f"column {column}: it could not be read, and is asked nothing about")
    _note(hardness_table(pairs))
    for pair in pairs[: options.show]:
        print(f"{pair.question}\n  {pair.sql or 'no answer: ' + pair.extra['unanswerable']}")
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
    with MadeDatabase(schema, str(options.seed), profile=profile, constraints=constraints) as made:
        number = sum(map(len, made.rows))
        _note(f"no database is given: {number:,} rows are made up for {len(made.rows)} tables")
        yield made.executor


def _mix(text: str) -> dict[str, float]:
    """Shares of levels, as in "easy=0.3,hard=0.7". The levels are those of `evaluation/hardness.py`."""
    from fastsql.evaluation.hardness import LEVELS

    mix: dict[str, float] = {}
    for part in text.split(","):
        level, _, number = part.strip().partition("=")
        if level not in LEVELS or level in mix:
            raise argparse.ArgumentTypeError(f"{level!r} is not one of {', '.join(LEVELS)}, named once")
        mix[level] = share(number)
    if not any(mix.values()):
        raise argparse.ArgumentTypeError("every share is 0")
    return {level: number for level, number in mix.items() if number}


def _name(database: str) -> str:
    """What the pairs call the database: the last part of its path, without what follows a dot."""
    return Path(database.partition("?")[0]).stem


def _reworded(source: SchemaSource, profile: Profile | None, model: str) -> RewordedSource:
    """The source with questions chosen among its own and a reverse model's, where one is named or comes with fastsql."""
    from fastsql.parser.bundles import DEFAULT_MODEL, open_model
    from fastsql.reverse import bundled_reverse, load_reverse
    from fastsql.synthesis.embedding import SentenceEncoder
    from fastsql.synthesis.rewording import RewordedSource

    bundle = open_model(DEFAULT_MODEL)
    embed = SentenceEncoder(bundle.path).embed
    path = Path(model) if model else bundled_reverse()
    if not model and not path.is_file():
        _note("no reverse model comes with this fastsql: questions are chosen among the grammar's own")
        return RewordedSource(source, embed, None)
    named = source.schema.with_profile(profile or source.schema.profile)
    return RewordedSource(source, embed, load_reverse(path, bundle.tokenizer()).over(named))


def _round_trip(pairs: list[Example], schema: Schema, drop: bool) -> list[Example]:
    """The pairs with what became of their round trip; only those that came back where the others are to be dropped."""
    import fastsql
    from fastsql.synthesis.round_trip import came_back, with_round_trip

    parser = fastsql.load()
    marked = list(with_round_trip(pairs, lambda question: parser.parse(question, schema).best, schema))
    back = [pair for pair in marked if came_back(pair)]
    asked = sum(pair.sql is not None for pair in marked)
    _note(f"{asked - len(marked) + len(back)} of {asked} queries come back from their questions")
    return back if drop else marked


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
