"""``fastsql parse``: a question in, SQL out."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from fastsql.cli.options import add_model_options, load_parser, moment, positive

if TYPE_CHECKING:
    from fastsql.result import Result

_EPILOG = """\
examples:
  fastsql parse "How many patients are older than 60?" --schema hospital.sqlite
  fastsql parse "How many patients are older than 60?" --schema "CREATE TABLE patients (id INT, age INT)"
  fastsql parse "Which drugs had patient 10021312 last month?" --schema schema.sql --values hospital.sqlite --explain
  fastsql parse --schema hospital.sqlite --json < questions.txt

SQL goes to the standard output, why a question is refused and what --explain tells to the standard error.
The exit status is 1 if a question was refused.
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
    parser.add_argument(
        "--schema",
        metavar="S",
        required=True,
        help="an SQLite file, a .sql or .json file, a database URL (extra db), or CREATE TABLE text",
    )
    parser.add_argument(
        "--values", metavar="DB", help="a database to look up values in: names of drugs, diagnoses, ..."
    )
    parser.add_argument("--dialect", default="sqlite", help="the SQL dialect to write (default: %(default)s)")
    parser.add_argument(
        "--beam", metavar="N", type=positive, help="hypotheses to keep (default: the parser's)"
    )
    parser.add_argument(
        "--now", metavar="TIME", type=moment, help="the time that 'now' means, as a literal in the SQL"
    )
    parser.add_argument(
        "--explain", action="store_true", help="tell what was linked to what, confidence and timings"
    )
    parser.add_argument("--json", action="store_true", help="one JSON object a question instead of SQL")
    add_model_options(parser)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Parse and print."""
    from fastsql.schema import Schema

    schema = Schema.coerce(options.schema)
    parser = load_parser(options)
    settings: dict[str, Any] = {"dialect": options.dialect, "values": options.values, "now": options.now}
    if options.beam is not None:
        settings["beam"] = options.beam
    refused = False
    for question in _questions(options.question, sys.stdin):
        result = parser.parse(question, schema, **settings)
        refused = refused or result.sql is None
        if options.json:
            sys.stdout.write(json.dumps(as_json(result), ensure_ascii=False) + "\n")
        elif result.sql is not None:
            sys.stdout.write(f"{result.sql}\n")
        else:
            sys.stderr.write(f"refused: {result.reason}\n")
        if options.explain:
            sys.stderr.writelines(f"{line}\n" for line in explanation(result))
    return int(refused)


def as_json(result: Result) -> dict[str, Any]:
    """A result as plain data."""
    return {
        "question": result.question,
        "sql": result.sql,
        "best": result.best,
        "confidence": result.confidence,
        "abstained": result.abstained,
        "reason": result.reason,
        "links": [
            {"span": list(link.span), "text": link.text, "kind": link.kind, "target": link.target}
            for link in result.links
        ],
        "values": [
            {
                "value": literal.value,
                "source": literal.source,
                "span": None if literal.span is None else list(literal.span),
                "column": literal.column,
            }
            for literal in result.values
        ],
        "timings": dict(result.timings),
    }


def explanation(result: Result) -> Iterator[str]:
    """Links, confidence and timings, one line each."""
    for link in result.links:
        yield f"  {link.text!r} -> {link.kind} {link.target}"
    yield f"  confidence {result.confidence:.2f}" + (
        f", refused: {result.reason}" if result.abstained else ""
    )
    if result.timings:
        yield "  " + ", ".join(f"{stage} {value:.1f} ms" for stage, value in result.timings.items())


def _questions(argument: str, lines: Iterable[str]) -> Iterator[str]:
    if argument != "-":
        yield argument
        return
    yield from (line.strip() for line in lines if line.strip())
