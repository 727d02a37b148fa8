"""``fastsql profile``: what is known of a schema, as a file for people to edit."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.cli.console import Console
from fastsql.cli.options import output_file, positive, seconds
from fastsql.cli.schema_options import add_choice_options, read_schema
from fastsql.errors import FastSQLError
from fastsql.profile.model import BY_ROWS, LEAST_PATIENTS

if TYPE_CHECKING:
    from fastsql.profile.model import Profile
    from fastsql.schema import ForeignKey, Schema

_EPILOG = """\
examples:
  fastsql profile hospital.sqlite -o clinic.toml
  fastsql profile hospital.sqlite -o clinic.toml --update          after the schema has changed
  fastsql profile schema.sql --database hospital.sqlite --least 20 -o clinic.toml
  fastsql profile postgresql://clerk@db/ward --namespace public,billing -o clinic.toml
  fastsql parse "Which bills are unpaid?" --schema hospital.sqlite --profile clinic.toml

The file holds names, words, kinds, units, keys and comments, and of categories the values that so many patients share as
--least says: nothing of one patient's row. docs/profile.md explains its keys, and which commands take one.
"""


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "profile",
        help="write down what is known of a schema, for people to edit",
        description="Read a schema, tell words, kinds, units, keys and categories, and write them to a TOML file.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "schema",
        metavar="SCHEMA_OR_DATABASE",
        help="an SQLite file, a .sql or .json file, a database URL (extra db), or CREATE TABLE text",
    )
    parser.add_argument(
        "-o",
        "--output",
        metavar="FILE",
        type=output_file,
        required=True,
        help="the file to write, such as clinic.toml",
    )
    parser.add_argument(
        "--update",
        action="store_true",
        help="add to the file what it lacks, and keep what people have written",
    )
    add_choice_options(parser)
    values = parser.add_argument_group("the database")
    values.add_argument(
        "--database",
        metavar="DB",
        help="where values and keys are looked for (default: SCHEMA, if it is one)",
    )
    values.add_argument(
        "--least",
        metavar="N",
        type=positive,
        help=f"patients who must share a value before the file may hold it (default: {LEAST_PATIENTS}, or as the file says)",
    )
    values.add_argument(
        "--no-values", action="store_true", help="write no values, and tell keys by name alone"
    )
    values.add_argument(
        "--column-seconds",
        metavar="S",
        type=seconds,
        help="seconds that counting one column may take (default: 10)",
    )
    values.add_argument(
        "--key-seconds",
        metavar="S",
        type=seconds,
        default=30.0,
        help="seconds that looking for keys may take (default: %(default)g)",
    )
    parser.set_defaults(run=run, keys_from=None, profile=None, reference=None)


def run(options: argparse.Namespace) -> int:
    """Read, write, and say what was written."""
    from fastsql.profile.reading import checked
    from fastsql.profile.updating import least_of, update_file
    from fastsql.profile.writing import profile_text, write_profile

    path: Path = options.output
    if path.exists() and not options.update:
        raise FastSQLError(
            "it is there already", where=str(path), remedy="Give --update to add to it, or another name."
        )
    known = least_of(path) if path.exists() else None
    if None not in (known, options.least) and known != options.least:
        raise FastSQLError(
            f"its values are those that {known:,} patients share",
            where=str(path),
            remedy="Leave --least out, or write another.",
        )
    schema = read_schema(options)
    database = None if options.no_values else options.database or _database(options.schema)
    least = None if database is None else options.least or known or LEAST_PATIENTS
    profile = _profile(options, schema, database, least or LEAST_PATIENTS)
    for line in profile.warnings:
        sys.stderr.write(f"profile: {line}\n")
    console = Console(out=sys.stdout)
    if options.update and path.exists():
        change = update_file(path, schema, profile, least)
        added, gone = _listed("added", change.added), _listed("commented out", change.gone)
        console.line(f"{path}: {added}{gone}{change.values:,} new values")
        return 0
    text = profile_text(schema, profile, least)
    checked(str(path), text, schema)  # what cannot be read again is not written
    write_profile(path, text)
    for line in _summary(schema, profile, least):
        console.line(line)
    console.line(f"Written to {path}. Edit it, and give it to the other commands with --profile {path}.")
    return 0


def _profile(options: argparse.Namespace, schema: Schema, database: str | None, least: int) -> Profile:
    from fastsql.profile.counting import with_counted_values
    from fastsql.profile.derive import derive
    from fastsql.profile.updating import with_said_of
    from fastsql.schema.pace import COLUMN_SECONDS, Pace

    if database is None:
        # Values in a JSON file may have been read from rows.
        is_json = options.schema.lower().endswith(".json")
        return derive(schema, declared_values=not is_json and _database(options.schema) is None)
    likely, all_keys = _likely(schema, database, options.key_seconds)
    profile = derive(schema, likely=likely)
    if options.output.exists():
        profile = with_said_of(options.output, schema, profile)
    limit = COLUMN_SECONDS if options.column_seconds is None else options.column_seconds
    pace = Pace(limit, progress=sys.stderr.isatty())
    return with_counted_values(schema, profile, database, least=least, all_keys=all_keys, pace=pace)


def _likely(schema: Schema, database: str, limit: float) -> tuple[tuple[ForeignKey, ...], bool]:
    """Keys that the values of a database tell, and whether all were looked for."""
    found = schema.with_keys_from(database, seconds=limit)
    warnings = found.warnings[len(schema.warnings) :]
    for warning in warnings:
        sys.stderr.write(f"profile: {warning}\n")
    return found.foreign_keys[len(schema.foreign_keys) :], not warnings


def _database(source: str) -> str | None:
    """The source where it is a database itself."""
    from fastsql.schema.sources import is_database

    return source if is_database(source) else None


def _summary(schema: Schema, profile: Profile, least: int | None) -> list[str]:
    kinds: dict[str, int] = {}
    for column in profile.columns:
        kinds[column.kind] = kinds.get(column.kind, 0) + 1
    spelled = sum(one.words != item.label for one, item in zip(profile.columns, schema.columns, strict=True))
    values = sum(len(column.values) for column in profile.columns)
    references = sum(table.reference for table in profile.tables)
    likely = sum(bool(column.refers_to) for column in profile.columns)
    lines = [
        f"{len(schema.tables):,} tables, {references:,} of them terminologies; {len(schema.columns):,} columns:",
        "  "
        + ", ".join(f"{count:,} {kind}" for kind, count in sorted(kinds.items(), key=lambda item: -item[1])),
        f"  {spelled:,} with words that their labels lack; {likely:,} likely keys that nobody declared",
    ]
    if least is not None:
        lines.append(f"  {values:,} values of categories that {least:,} patients or more share {BY_ROWS}")
    return lines


def _listed(what: str, names: tuple[str, ...]) -> str:
    if not names:
        return f"nothing {what}, "
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else "")
    return f"{what}: {shown}; "


_SHOWN = 5
"""Names that a message lists."""
