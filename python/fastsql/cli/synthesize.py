"""``fastsql synthesize``: write synthetic questions with SQL for one's own database."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import note
from fastsql.cli.conversations import describe, say_dropped, show
from fastsql.cli.options import count, keep_sources, output_file, positive, share
from fastsql.cli.schema_options import add_choice_options, add_profile_option, profile_of, read_schema
from fastsql.cli.synthesis_steps import opened, read_back, reworded, seeds

if TYPE_CHECKING:
    from fastsql.execution import Executor
    from fastsql.profile.model import Profile
    from fastsql.synthesis.schema import SchemaSource

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
        metavar="FILE",
        type=Path,
        help="questions with SQL over this database (.json, .csv or .sql; docs/adapting.md), whose templates are used ten "
        "times as often as others",
    )
    add_profile_option(parser)
    parser.add_argument(
        "--conversations",
        action="store_true",
        help="take each question apart to a conversation, whose turns refer to earlier ones; neither contrasts nor "
        "unanswerable questions then",
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
    """Write the pairs, or conversations made of them; say what they are like."""
    from fastsql.synthesis.schema import SchemaSource, known_templates
    from fastsql.synthesis.schema.source import MIX
    from fastsql.synthesis.source import SynthesisError

    keep_sources([options.output], [options.schema, options.seeds, options.profile])
    if options.conversations and (options.reword is not None or options.round_trip or options.wordings > 1):
        raise SynthesisError(
            "conversations have words of their own", remedy="Leave --reword, --wordings and --round-trip out."
        )
    schema = read_schema(options)
    profile = profile_of(options, schema)
    with opened(options.schema, schema, profile, options.seed) as executor:
        templates = (
            *known_templates(),
            *(() if options.seeds is None else seeds(options.seeds, schema, executor)),
        )
        drawn = SchemaSource(
            schema,
            executor,
            templates,
            db_id=_name(options.schema),
            mix=options.mix or MIX,
            profile=profile,
        )
        if options.conversations:
            _write_conversations(drawn, executor, profile, options)
        else:
            _write_pairs(drawn, profile, options)
    for column in drawn.unread:
        note(f"column {column}: it could not be read, and is asked nothing about")
    return 0


def _write_pairs(drawn: SchemaSource, profile: Profile | None, options: argparse.Namespace) -> None:
    from fastsql.synthesis.statistics import hardness_table
    from fastsql.synthesis.varied import generate_varied
    from fastsql.synthesis.write import write_pairs

    pairs = generate_varied(
        drawn,
        options.examples,
        options.seed,
        contrast=options.contrast,
        unanswerable=options.unanswerable,
        singles=None if options.reword is None else reworded(drawn, profile, options.reword),
        wordings=options.wordings,
        report=note,
    )
    if options.round_trip:
        pairs = read_back(pairs, drawn.schema, options.round_trip == "drop")
    write_pairs(pairs, options.output)
    note(hardness_table(pairs))
    for pair in pairs[: options.show]:
        print(f"{pair.question}\n  {pair.sql or 'no answer: ' + pair.extra['unanswerable']}")


def _write_conversations(
    drawn: SchemaSource, executor: Executor, profile: Profile | None, options: argparse.Namespace
) -> None:
    """Every pair stands for itself, as contrasts do not: it becomes a conversation whose last answer is its own."""
    from fastsql.synthesis.generate import generate_drawn
    from fastsql.synthesis.interactions import Checker, Goal, construct, write_interactions

    pairs = generate_drawn(drawn, options.examples, options.seed, report=note)
    made = construct(
        [Goal(pair.id, pair.question, str(pair.sql)) for pair in pairs],
        Checker(drawn.schema, executor),
        db_id=drawn.db_id,
        seed=options.seed,
        profile=profile,
        report=note,
    )
    write_interactions(made.interactions, {drawn.db_id: drawn.schema}, options.output)
    say_dropped(made.dropped)
    describe(made.interactions)
    show(made.interactions[: options.show])


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
