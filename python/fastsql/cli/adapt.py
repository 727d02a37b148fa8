"""``fastsql adapt``: a bundle for one's own database."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from fastsql.cli.console import note
from fastsql.cli.extras import train_extra
from fastsql.cli.options import keep_sources, positive, seconds
from fastsql.cli.schema_options import add_choice_options, add_profile_option, profile_of, read_schema

_EPILOG = """\
examples:
  fastsql adapt clinic.sqlite -o clinic-model
  fastsql adapt postgresql://reader@localhost/clinic -o clinic-model --seeds questions.csv --minutes 30
  fastsql adapt clinic.sqlite -o clinic-model --report adapted.html
  fastsql adapt clinic.sqlite -o clinic-model --endpoint http://127.0.0.1:8080/v1      with a language model's wordings
  fastsql chat clinic.sqlite --model clinic-model       the bundle in use

Nothing leaves the machine (with --endpoint, names of tables and columns go to the server that it names; values, seeds and
questions of people do not), and no word of a question or a row enters the bundle. A run that is broken off goes on where it
was when the same command is given again. Needs the extra adapt: pip install 'fastsql[adapt]'
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "adapt",
        help="train a bundled model further for one's own database",
        description="Make questions with SQL over a database, train a model further on them, fit its probabilities there,"
        " and write a bundle, unless it is worse than the model was.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "schema",
        metavar="DATABASE",
        help="an SQLite file, or a database URL (extra db); it is only read",
    )
    parser.add_argument(
        "-o", "--output", metavar="DIR", type=Path, required=True, help="the folder of the new bundle"
    )
    parser.add_argument(
        "--seeds",
        metavar="FILE",
        type=Path,
        help="questions with SQL that people wrote: .json, .csv or .sql; of 20 and more a quarter is kept apart to judge by",
    )
    add_profile_option(parser)
    length = parser.add_mutually_exclusive_group()
    length.add_argument(
        "--minutes", metavar="M", type=seconds, default=60.0, help="about how long it may take (default: 60)"
    )
    length.add_argument(
        "--steps",
        metavar="N",
        type=positive,
        help="so many updates of the weights: the same number, seed, threads and processes give the same bundle",
    )
    parser.add_argument(
        "--base",
        metavar="MODEL",
        help="a bundled model, or the folder of a bundle (default: the bundled one)",
    )
    parser.add_argument(
        "--seed", metavar="S", type=int, default=1, help="seed of everything random (default: 1)"
    )
    parser.add_argument("--threads", metavar="N", type=positive, help="processor threads (default: all)")
    parser.add_argument(
        "--processes",
        metavar="N",
        type=positive,
        default=1,
        help="processes that train together and share the threads: faster, for a gigabyte of memory each (default: 1)",
    )
    parser.add_argument(
        "--restart", action="store_true", help="begin anew where an earlier run was broken off"
    )
    parser.add_argument(
        "--report",
        metavar="R.html",
        type=Path,
        help="write a page: before and after, what no pair touches, pairs to look at; it shows questions and SQL",
    )
    parser.add_argument("--quiet", action="store_true", help="no progress")
    _add_endpoint_options(parser)
    add_choice_options(parser)
    parser.set_defaults(run=run, keys_from=None, reference=None, column_seconds=None)


def _add_endpoint_options(parser: argparse.ArgumentParser) -> None:
    """Which server words further questions."""
    group = parser.add_argument_group(
        "language model",
        "a server on the premises that speaks OpenAI's protocol (llama.cpp, vLLM, Ollama ...) words further questions;"
        " a key, if it wants one, is read from the environment variable FASTSQL_ENDPOINT_KEY",
    )
    group.add_argument(
        "--endpoint",
        metavar="URL",
        help="its address, such as http://127.0.0.1:8080/v1; it is sent queries with placeholders in place of values",
    )
    group.add_argument("--endpoint-model", metavar="NAME", default="", help="the model (default: its first)")
    group.add_argument(
        "--endpoint-queries",
        metavar="N",
        type=positive,
        default=1000,
        help="queries that it words at most, eight questions each; with --minutes, for half of them at most (default: 1000)",
    )
    group.add_argument(
        "--endpoint-off-machine",
        action="store_true",
        help="confirm an address that is not this machine's: names of tables and columns go there",
    )


def run(options: argparse.Namespace) -> int:
    """Adapt, and say what it brought."""
    from fastsql.parser.bundles import DEFAULT_MODEL

    keep_sources(
        [options.output, *filter(None, [options.report])], [options.schema, options.seeds, options.profile]
    )
    endpoint = None
    if options.endpoint is not None:
        from fastsql.endpoint import Endpoint

        endpoint = Endpoint(options.endpoint, options.endpoint_model, options.endpoint_off_machine)
    with train_extra():
        from fastsql.adapt import adapt
    schema = read_schema(options)
    profile = profile_of(options, schema)
    found = adapt(
        options.schema,
        options.output,
        schema=schema,
        profile=profile,
        seeds=options.seeds,
        base=options.base or DEFAULT_MODEL,
        minutes=options.minutes,
        updates=options.steps,
        seed=options.seed,
        threads=options.threads,
        processes=options.processes,
        restart=options.restart,
        endpoint=endpoint,
        queries=options.endpoint_queries,
        report=(lambda _: None) if options.quiet else note,
        quiet=options.quiet,
    )
    if options.report is not None:
        from fastsql.adapt.page import write_report
        from fastsql.evaluation.provenance import command_text

        write_report(options.report, found, command_text(options.command_line))
    print(f"{found.bundle}: {found.updates} updates in {found.seconds / 60:.1f} minutes")
    for part, title in (
        ("seeds", "seeds kept apart"),
        ("made", "pairs made"),
        ("unanswerable", "unanswerable"),
    ):
        before, after = found.before[part], found.after[part]
        if after["count"]:
            print(f"{title + ':':<18}{_line(before, part)} -> {_line(after, part)}")
    return 0


def _line(found: dict[str, Any], part: str) -> str:
    if part == "unanswerable":
        return f"{found['count'] - found['given']} of {found['count']} refused"
    given = f"{found['given']} given, {found['given_right']} of them right"
    return f"{found['right']} of {found['count']} right ({given})"
