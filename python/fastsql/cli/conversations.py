"""``fastsql conversations``: make conversations of a data set's questions, or say those it has in the language of turns."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import note
from fastsql.cli.options import count, keep_sources, moment, output_file
from fastsql.cli.schema_options import add_profile_option, profile_files_of

if TYPE_CHECKING:
    from fastsql.datasets import Example
    from fastsql.profile.model import Profile
    from fastsql.schema import Schema
    from fastsql.synthesis.interactions import Interaction

_PARTS = ("train", "test", "longer")
"""Files of a split."""
_EPILOG = """\
examples:
  fastsql conversations train.json --schemas schemas.json --databases mimic_iv.sqlite.gz --split compositional -o talks.json
  fastsql conversations cosql/train.json --schemas cosql/schemas.json --held-out ehr-en.held_out.json -o cosql.json.gz
  fastsql conversations ward.json --schemas schemas.json --databases ward.sqlite --profile ward.toml -o talks.json

Single questions are taken apart to interactions, as EHR-SeqSQL was made. Conversations (records with `interaction` and
`turn`) keep their questions; each query is said by what it shares with those before it. The file may hold values of a
database: treat it as you treat its rows.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "conversations",
        help="make conversations of a data set's questions",
        description="Write conversations whose queries refer to earlier turns, in the uniform form: one record a turn.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "data", metavar="DATA", type=Path, help="questions or conversations in the uniform form"
    )
    parser.add_argument("--schemas", metavar="S", required=True, help="their schemas.json")
    add_profile_option(parser, several=True)
    parser.add_argument(
        "--databases",
        metavar="D",
        help="of single questions: their SQLite file, or a folder; turns are run there, and the last one must return what "
        "the question does",
    )
    parser.add_argument(
        "--now",
        metavar="T",
        type=moment,
        help="of single questions: what now means, such as '2100-12-31 23:59:00'",
    )
    parser.add_argument(
        "--held-out", metavar="F", help="held_out.json of a training run, whose databases are left out"
    )
    parser.add_argument(
        "--split",
        choices=("random", "compositional"),
        help="of single questions: write train, test and longer interactions of the test part, to OUT.train.json and so on",
    )
    parser.add_argument(
        "--longer", metavar="N", type=count, default=100, help="longer interactions of a split (default: 100)"
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=1, help="seed of everything random (default: 1)"
    )
    parser.add_argument(
        "--show", metavar="N", type=count, default=2, help="conversations to print (default: 2)"
    )
    parser.add_argument(
        "-o", "--output", metavar="FILE", type=output_file, required=True, help="a .json or .json.gz file"
    )
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the conversations; say what they are like."""
    from fastsql.datasets import read_examples, read_schemas
    from fastsql.datasets.interactions import is_conversational
    from fastsql.datasets.profiles import read_profiles, with_profiles
    from fastsql.synthesis.interactions import SPLITS, put_together, write_interactions
    from fastsql.synthesis.source import SynthesisError

    paths = [_named(options.output, part) for part in (_PARTS if options.split else ("",))]
    keep_sources(paths, [options.data, options.schemas, options.profile, options.databases, options.held_out])
    held_out = _held_out(options.held_out)
    examples = read_examples(options.data)
    recorded = is_conversational(examples)
    if recorded and (options.split or options.databases or options.now):
        raise SynthesisError(
            "recorded conversations are neither run nor split",
            where=str(options.data),
            remedy="Leave --split, --databases and --now out.",
        )
    schemas = read_schemas(
        options.schemas, databases={one.db_id for one in examples if one.db_id not in held_out}
    )
    files = profile_files_of(options, schemas)
    schemas = with_profiles(schemas, files)
    profiles = read_profiles(schemas, files)
    if recorded:
        made = _converted(examples, schemas, held_out, options)
    else:
        asked = [one for one in examples if one.db_id not in held_out]
        made = _constructed(asked, schemas, profiles, options)
    parts: list[Sequence[Interaction]] = [made]
    if options.split:
        train, test = SPLITS[options.split](made, options.seed)
        longer = [
            one
            for db_id, schema in schemas.items()
            for one in put_together(
                [talk for talk in test if talk.db_id == db_id],
                schema,
                seed=options.seed,
                count=options.longer,
                profile=profiles.get(db_id),
            )
        ]
        parts = [train, test, longer]
    for part, path in zip(parts, paths, strict=True):
        write_interactions(part, schemas, path)
        describe(part, f"{path.name}: ")
    show(made[: options.show])
    return 0


def describe(interactions: Sequence[Interaction], name: str = "") -> None:
    """Their statistics, on standard error."""
    from fastsql.synthesis.interactions.statistics import count as statistics

    for line in statistics(interactions).lines():
        note(f"{name}{line}")


def show(interactions: Sequence[Interaction]) -> None:
    """Conversations as people read them."""
    for one in interactions:
        print(one.goal or one.id)
        for number, turn in enumerate(one.turns):
            print(f"  {number + 1}. {turn.question}\n     {turn.sql}")


def say_dropped(dropped: Mapping[str, int]) -> None:
    """How much was left out, and why."""
    for reason, number in Counter(dropped).most_common():
        note(f"left out: {number}, {reason}")


def _converted(
    examples: Sequence[Example],
    schemas: Mapping[str, Schema],
    held_out: frozenset[str],
    options: argparse.Namespace,
) -> Sequence[Interaction]:
    from fastsql.datasets.interactions import as_interactions
    from fastsql.synthesis.interactions import WAYS, convert_conversations

    recorded = as_interactions(examples, str(options.data))
    converted = convert_conversations(recorded, schemas, held_out=held_out, report=note)
    ways = ", ".join(f"{converted.ways[way]} {way}" for way in WAYS)
    note(f"turns: {converted.first} first, {ways}")
    say_dropped(converted.skipped)
    if held_out:
        note(f"left out: {converted.held_out} conversations over databases that are held out")
    return converted.interactions


def _constructed(
    examples: Sequence[Example],
    schemas: Mapping[str, Schema],
    profiles: Mapping[str, Profile],
    options: argparse.Namespace,
) -> Sequence[Interaction]:
    from fastsql.datasets import DatabaseFiles
    from fastsql.synthesis.interactions import construct_all

    with DatabaseFiles(options.databases, sorted(schemas)) as files:
        constructed = construct_all(
            examples,
            schemas,
            {name: files.path(name) for name in schemas},
            profiles=profiles,
            seed=options.seed,
            now=options.now,
            report=note,
        )
    say_dropped(constructed.dropped)
    return constructed.interactions


def _held_out(path: str | None) -> frozenset[str]:
    from fastsql.training.corpus.split import HeldOut

    return frozenset() if path is None else HeldOut.load(Path(path)).databases


def _named(output: Path, part: str) -> Path:
    """The file of a part of a split: OUT.train.json."""
    if not part:
        return output
    suffix = ".json.gz" if output.name.endswith(".json.gz") else output.suffix
    return output.with_name(f"{output.name.removesuffix(suffix)}.{part}{suffix}")
