"""``fastsql corpus``: write synthetic questions with SQL over many schemas."""

from __future__ import annotations

import argparse
import os
from pathlib import Path

from fastsql.cli.console import note
from fastsql.cli.options import positive
from fastsql.cli.schema_options import add_profile_option

_EPILOG = """\
examples:
  fastsql corpus --schemas 1000 --pairs 5000 -o made
  fastsql corpus --schemas 200 --pairs 2000 --kinds designs -o made     without any data set
  fastsql corpus --schemas 200 --pairs 2000 --language zh -o made       in Chinese
  fastsql corpus --schemas 9000 --pairs 200000 --round-trip flag --ray 10.0.0.5:6379 -o made
  fastsql corpus --schemas 500 --profile profiles -o made               profiles/NAME.toml of published schemas
  fastsql corpus --written --pairs 2000 -o asked                        written by hand
  fastsql corpus --written --designs dental,trials -o held              all questions over two designs, to measure by
  fastsql corpus --written --demo -o everyday                           all questions over the demo hospital

It writes pairs.json.gz, schemas.json and values.json.gz, which a training configuration names as examples, schemas and
values; with --written also turns.json.gz, conversations, and with --designs or --demo the databases. A configuration may
also ask for such pairs itself: [data.made], [data.written].
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "corpus",
        help="write synthetic questions with SQL over many schemas",
        description="Write questions with SQL over many schemas: hospital-like ones of our own making, and published ones.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--schemas", metavar="N", type=positive, default=1000, help="schemas (default: 1000)")
    parser.add_argument(
        "--pairs", metavar="M", type=positive, default=5000, help="pairs in all (default: 5000)"
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=1, help="seed of everything random (default: 1)"
    )
    parser.add_argument(
        "--kinds",
        metavar="K,...",
        default="",
        help="kinds of schemas (default: designs,spider,bird,wikisql_partial; in Chinese: designs,chase)",
    )
    parser.add_argument(
        "--language",
        choices=("en", "zh"),
        default="en",
        help="in which things are called and asked for (default: en)",
    )
    parser.add_argument(
        "--written",
        action="store_true",
        help="questions written by hand, over as many variants of our own schemas as it takes",
    )
    parser.add_argument(
        "--designs",
        metavar="NAME,...",
        default="",
        help="with --written: all questions over these designs, each over one of three variants",
    )
    parser.add_argument(
        "--demo", action="store_true", help="with --written: all questions over the demo hospital instead"
    )
    parser.add_argument(
        "--data", metavar="DIR", type=Path, help="folder of the published data sets (default: $FASTSQL_DATA)"
    )
    add_profile_option(parser, several=True)
    parser.add_argument(
        "--held-out",
        metavar="FILE",
        type=Path,
        help="held_out.json of a training run: its databases are left out",
    )
    parser.add_argument(
        "--round-trip",
        choices=("drop", "flag"),
        help="parse every question: leave out, or mark, pairs whose query does not come back",
    )
    parser.add_argument(
        "--processes",
        metavar="N",
        type=positive,
        default=1,
        help="of this machine that make pairs side by side, the same ones (default: 1)",
    )
    parser.add_argument(
        "--ray",
        metavar="ADDRESS",
        help="make them on the Ray cluster there; 'local' starts one of --processes workers (extra: ray)",
    )
    parser.add_argument("-o", "--output", metavar="DIR", type=Path, required=True, help="folder to write to")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write the data set; say how far it is."""
    from fastsql.cli.synthesis_steps import best
    from fastsql.synthesis.carried import VARIANTS, carry_held_out, carry_over, write_carried
    from fastsql.synthesis.hospital.everyday import everyday_set
    from fastsql.synthesis.many import make_set, write_set
    from fastsql.synthesis.pool import SchemaPool
    from fastsql.synthesis.source import SynthesisError
    from fastsql.synthesis.workers import open_workers
    from fastsql.training.corpus.split import HeldOut

    names = _listed(options.designs)
    if (names or options.demo) and not options.written:
        option = "--designs" if names else "--demo"
        raise SynthesisError(f"{option} takes written questions", remedy="Give --written, too.")
    if options.demo and (names or options.language != "en"):
        raise SynthesisError(
            "--demo asks in English, and over the demo hospital alone",
            remedy="Leave --designs and --language out.",
        )
    if options.written and (options.round_trip or options.processes > 1 or options.ray or options.profile):
        raise SynthesisError(
            "written questions are over schemas of our own, carried over in this process, and not parsed",
            remedy="Leave --profile, --round-trip, --processes and --ray out.",
        )
    if options.written:
        language, databases = options.language, options.output / "databases"
        if options.demo:
            carried = everyday_set(databases)
        elif names:
            carried = carry_held_out(names, VARIANTS, note, databases, language=language)
        else:
            carried = carry_over(options.pairs, options.seed, note, language=language)
        for path in write_carried(carried, options.output):
            print(path)
        return 0
    held_out = frozenset[str]() if options.held_out is None else HeldOut.load(options.held_out).databases
    folder = options.data or (Path(os.environ["FASTSQL_DATA"]) if "FASTSQL_DATA" in os.environ else None)
    kinds = _listed(options.kinds)
    with (
        SchemaPool(
            options.schemas,
            options.seed,
            folder=folder,
            kinds=kinds,
            held_out=held_out,
            language=options.language,
            profiles=None if options.profile is None else Path(options.profile),
        ) as pool,
        open_workers(options.processes, options.ray) as workers,
    ):
        made = make_set(
            pool,
            options.pairs,
            options.seed,
            note,
            workers=workers,
            parse=best if options.round_trip else None,
            drop=options.round_trip == "drop",
        )
    for path in write_set(made, options.output):
        print(path)
    return 0


def _listed(names: str) -> tuple[str, ...]:
    return tuple(name for name in map(str.strip, names.split(",")) if name)
