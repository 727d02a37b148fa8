"""``fastsql parse``: a question in, SQL out."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from fastsql.cli.options import BY_LANGUAGE, add_model_options, load_parser, moment, positive
from fastsql.cli.remembered import add_examples_option, remember_file
from fastsql.cli.schema_options import add_schema_options, read_schema, read_values
from fastsql.view.cells import clean
from fastsql.view.terminal import Page
from fastsql.view.text import guess_lines, suggestion_lines

_EPILOG = """\
examples:
  fastsql parse "How many patients were prescribed warfarin?" --schema hospital.sqlite
  fastsql parse "What is the average age of all patients?" --schema "CREATE TABLE patients (id INT, name TEXT, age INT)"
  fastsql parse "What is the gender of patient 71021258?" --schema schema.sql --values hospital.sqlite --explain
  fastsql parse --schema hospital.sqlite --json < questions.txt
  fastsql parse --schema postgresql://clerk@db/ward --namespace public,billing < questions.txt

SQL goes to the standard output; why a question is refused, the best guess at it and what --explain tells, to the standard
error; with --json, what --explain tells is a part of the object.
The exit status is 1 if a question was refused. hospital.sqlite: see fastsql demo --keep.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "parse",
        help="turn a question into SQL",
        description="Turn a question, or one a line of the standard input, into SQL that is valid on the schema.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "question", nargs="?", default="-", help="the question; - or nothing reads one a line"
    )
    add_schema_options(parser)
    add_examples_option(parser)
    parser.add_argument(
        "--dialect",
        help="the SQL dialect to write (default: that of the database, where --schema is one; else sqlite)",
    )
    parser.add_argument(
        "--beam", metavar="N", type=positive, help="hypotheses to keep (default: the parser's)"
    )
    parser.add_argument(
        "--now", metavar="TIME", type=moment, help="the time that 'now' means, as a literal in the SQL"
    )
    parser.add_argument(
        "--ungrounded",
        action="store_true",
        help="let columns equal what --values does not hold, as where the database is newer",
    )
    parser.add_argument(
        "--no-suggestions",
        action="store_true",
        help="refuse without saying what is missing and what would help, which quotes the question and values",
    )
    parser.add_argument(
        "--explain",
        action="store_true",
        help="tell what each word stands for, where values come from, what else was likely, how long it took",
    )
    parser.add_argument(
        "--decisions", action="store_true", help="explain, and list every decision of the decoder, too"
    )
    parser.add_argument(
        "--roles",
        action="store_true",
        help="explain, and tell in which parts of the query the question's words stand, too",
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a question instead of SQL")
    add_model_options(parser, BY_LANGUAGE)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Parse and print."""
    from fastsql.schema.sources import is_database

    schema = read_schema(options)
    dialect = options.dialect or (schema.dialect if is_database(options.schema) else "sqlite")
    values = read_values(options, schema)
    parser = load_parser(options)
    settings: dict[str, Any] = {
        "dialect": dialect,
        "values": values,
        "now": options.now,
        "grounded": not options.ungrounded,
        "suggest": not options.no_suggestions,
    }
    if options.beam is not None:
        settings["beam"] = options.beam
    if options.examples is not None:
        remember_file(parser, options.examples, schema, values=values, dialect=dialect)
    explain = options.explain or options.decisions or options.roles
    refused = False
    for question in _questions(options.question, sys.stdin):
        result = parser.parse(question, schema, **settings)
        refused = refused or result.sql is None
        if options.json:
            sys.stdout.write(result.to_json(explain=explain) + "\n")
            continue
        if result.sql is not None:
            sys.stdout.write(f"{result.sql}\n")
        else:
            page = Page(sys.stderr)
            page.lines([[(f"refused: {clean(result.reason or '')}", "")]])
            if not explain:
                page.lines(suggestion_lines(result, page.width))
                page.lines(guess_lines(result.best, page.width) if result.best else [])
        if explain:
            sys.stdout.flush()  # where both streams are one terminal, the SQL comes first
            result.show(sys.stderr, decisions=options.decisions, roles=options.roles)
    return int(refused)


def _questions(argument: str, lines: Iterable[str]) -> Iterator[str]:
    if argument != "-":
        yield argument
        return
    yield from (line.strip() for line in lines if line.strip())
