"""Which tables of which database a command is about, and the values that are read of it."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.cli.options import seconds

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.profile.model import Profile
    from fastsql.schema import Schema

_LINES = 5
"""Warnings that are shown."""


def add_schema_options(parser: argparse.ArgumentParser) -> None:
    """The schema, and the database of its values."""
    group = parser.add_argument_group("schema")
    group.add_argument(
        "--schema",
        metavar="S",
        required=True,
        help="an SQLite file, a .sql or .json file, a database URL (extra db), or CREATE TABLE text",
    )
    add_reading_options(group)
    group.add_argument(
        "--values", metavar="DB", help="a database to look up values in: names of drugs, diagnoses, ..."
    )
    group.add_argument(
        "--keys-from",
        metavar="DB",
        help="a database to look for keys in that nobody declared: columns whose values are keys of another table",
    )


def add_reading_options(group: argparse._ActionsContainer) -> None:
    """Which tables, what people know of them, and how long their values may take."""
    add_choice_options(group)
    add_profile_option(group)
    group.add_argument(
        "--reference",
        metavar="N,...",
        type=_names,
        action="extend",
        help="tables that are terminologies and say nothing of patients: their rows are read with the values",
    )
    group.add_argument(
        "--column-seconds",
        metavar="S",
        type=seconds,
        help="seconds that reading the values of one column may take (default: 10)",
    )


def add_profile_option(group: argparse._ActionsContainer, *, several: bool = False) -> None:
    """What people have written about the schema; `several`: the command takes a data set's schemas."""
    group.add_argument(
        "--profile",
        metavar="P",
        help="a profile, which fastsql profile made and people edited, or a folder of them, NAME.toml of each schema"
        if several
        else "a profile of the schema, which fastsql profile made and people edited",
    )


def add_choice_options(group: argparse._ActionsContainer) -> None:
    """Which of a database's tables make up the schema."""
    for option, text in (
        (
            "--namespace",
            "schemas of the database to read; SQL names their tables with them (default: its own default)",
        ),
        ("--tables", "tables to read (default: all); * stands for any characters"),
        ("--exclude", "tables and views to leave out"),
        ("--views", "views to read, too; '*' for all"),
    ):
        group.add_argument(option, metavar="N,...", type=_names, action="extend", help=text)


def read_schema(options: argparse.Namespace) -> Schema:
    """The schema that the options ask for. Ctrl-C while values are read goes on with those read until then."""
    from fastsql.schema import ReadingInterrupted, Schema

    settings: dict[str, Any] = {"progress": _progress(options.schema)}
    if options.column_seconds is not None:
        settings["column_seconds"] = options.column_seconds
    try:
        schema = Schema.coerce(
            options.schema,
            namespace=options.namespace,
            tables=options.tables,
            exclude=options.exclude or (),
            views=options.views or (),
            **settings,
        )
    except ReadingInterrupted as stopped:
        schema = _gone_on_with(stopped)
    if options.keys_from is not None:
        schema = schema.with_keys_from(options.keys_from)
    schema = with_profile_of(options, schema)
    if options.reference:
        schema = schema.with_reference_tables(*options.reference)
    _tell("schema", schema.warnings)
    return schema


def with_profile_of(options: argparse.Namespace, schema: Schema) -> Schema:
    """The schema with what the profile says, where one is given."""
    return schema if options.profile is None else schema.with_profile(options.profile)


def profile_of(options: argparse.Namespace, schema: Schema) -> Profile | None:
    """The profile itself, for what makes questions; None where none is given."""
    from fastsql.profile.reading import read_profile

    return None if options.profile is None else read_profile(options.profile, schema)


def profile_files_of(options: argparse.Namespace, schemas: Collection[str]) -> Mapping[str, Path]:
    """The profile's file of each of a data set's schemas that has one."""
    from fastsql.datasets.profiles import profile_files

    return {} if options.profile is None else profile_files(options.profile, schemas)


def read_values(options: argparse.Namespace, schema: Schema) -> ValueDictionary | str | None:
    """What the parser is given for values: a server's are read here, where a terminal can show how far it is."""
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import ReadingInterrupted

    if options.values is None or "://" not in options.values:
        return options.values  # a file, whose small domains the parser adds to the schema
    settings = {} if options.column_seconds is None else {"column_seconds": options.column_seconds}
    try:
        dictionary = ValueDictionary.from_database(
            options.values, schema, progress=_progress(options.values), **settings
        )
    except ReadingInterrupted as stopped:
        dictionary = _gone_on_with(stopped)
    _tell("values", [f"column {table}.{column}: {why}" for table, column, why in dictionary.skipped])
    return dictionary


def _names(text: str) -> list[str]:
    """Names between commas."""
    return [name for name in map(str.strip, text.split(",")) if name]


def _tell(what: str, lines: Sequence[str]) -> None:
    """Say what was left out, the first of it."""
    sys.stderr.writelines(f"{what}: {line}\n" for line in lines[:_LINES])
    if len(lines) > _LINES:
        sys.stderr.write(f"{what}: and {len(lines) - _LINES:,} more\n")


def _progress(source: str) -> bool | None:
    """Whether reading it may take so long that somebody wants to see how far it is."""
    return True if "://" in source and sys.stderr.isatty() else None


def _gone_on_with(stopped: Any) -> Any:
    sys.stderr.write("\nvalues: interrupted; going on with what was read. Press Ctrl-C again to end.\n")
    return stopped.partial
