"""``--examples``: a file of questions with SQL that a parser remembers before it is asked."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fastsql.adapt.seeds import Written
    from fastsql.parser import Parser, ParserByLanguage
    from fastsql.schema import Schema


def add_examples_option(parser: argparse._ActionsContainer) -> None:
    """Which pairs are remembered."""
    parser.add_argument(
        "--examples",
        metavar="FILE",
        type=Path,
        help="questions with SQL to remember, as seeds are written (.json, .csv or .sql; docs/adapting.md)",
    )


def remember_file(
    parser: Parser | ParserByLanguage,
    path: Path,
    schema: Schema,
    *,
    values: Any = None,
    dialect: str = "sqlite",
) -> None:
    """Have a parser remember the pairs of a file. What cannot be remembered is told of by its place, without its words.

    Raises DatasetError where the file cannot be read as a whole.
    """
    from fastsql.adapt.seeds import read_written

    for one in read_written(path):
        if fault := _fault(one, parser, schema, values=values, dialect=dialect):
            sys.stderr.write(f"examples: {one.place}: {fault}\n")


def _fault(one: Written, parser: Parser | ParserByLanguage, schema: Schema, **options: Any) -> str:
    """Why a pair cannot be remembered; "" where it is."""
    from fastsql.errors import ExampleError, LimitError

    if one.sql is None:
        return "it has no SQL"
    try:
        parser.remember(one.question, one.sql, schema, **options)
    except (ExampleError, LimitError) as error:
        return error.what
    return ""
