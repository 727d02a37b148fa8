"""``fastsql chat``: a conversation over a database, in which questions may refer to those before them."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastsql.cli.console import Console
from fastsql.cli.options import BY_LANGUAGE, add_model_options, load_parser, moment
from fastsql.cli.remembered import add_examples_option, remember_file
from fastsql.cli.schema_options import add_reading_options, read_schema, read_values
from fastsql.errors import FastSQLError

if TYPE_CHECKING:
    from fastsql.cli.chat_turns import Conversation
    from fastsql.schema import Schema

_EPILOG = """\
examples:
  fastsql chat hospital.sqlite
  fastsql chat postgresql://clerk@db/ward --namespace public --exclude "tmp_*"
  printf 'Which patients have pneumonia?\\nOnly the women.\\n' | fastsql chat hospital.sqlite

Each line is a question, or a command such as /undo, /sql, /why or /export FILE; /help lists them. "yes" to a refusal's "Did
you mean ...?" gives that. In a terminal, with the extra chat, Tab completes names of tables and columns, and values.
Questions are kept in memory alone, unless you export the conversation. hospital.sqlite: see fastsql demo --keep.
"""
_PROMPT = "? "


def add(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Register the command."""
    parser = commands.add_parser(
        "chat",
        help="ask a database, one question after the other",
        description="Ask a database in a conversation: a question may refer to the answers before it.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "database",
        metavar="DB",
        help="an SQLite file, a PostgreSQL URL (extra postgres), or a DuckDB file (extra duckdb; give --schema, too)",
    )
    parser.add_argument(
        "--now", metavar="TIME", type=moment, help="the time that 'now' means, as a literal in the SQL"
    )
    parser.add_argument(
        "--ungrounded", action="store_true", help="let columns equal what the database did not hold when read"
    )
    parser.add_argument(
        "--no-suggestions",
        action="store_true",
        help="refuse without saying what is missing and what would help, which quotes the question and values",
    )
    group = parser.add_argument_group("schema")
    group.add_argument("--schema", metavar="S", help="what fastsql parse takes for a schema (default: DB)")
    group.add_argument(
        "--values", metavar="V", help="a database to look up values in (default: DB, but for DuckDB)"
    )
    add_reading_options(group)
    add_examples_option(parser)
    add_model_options(parser, BY_LANGUAGE)
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Read the database, then answer line by line."""
    from fastsql.cli.chat_turns import Conversation
    from fastsql.execution import open_executor

    with open_executor(options.database) as executor:
        dialect = executor.dialect
    options.schema = options.schema or options.database
    if dialect != "duckdb":  # whose values cannot be read
        options.values = options.values or options.database
    options.keys_from = None
    schema = read_schema(options)
    values = read_values(options, schema)
    parser = load_parser(options)
    if options.examples is not None:
        remember_file(parser, options.examples, schema, values=values, dialect=dialect)
    interactive = sys.stdin.isatty() and sys.stdout.isatty()
    with open_executor(options.database, schema=schema) as executor:
        session = parser.session(
            schema,
            values=values,
            executor=executor,
            dialect=dialect,
            now=options.now,
            grounded=not options.ungrounded,
            suggest=not options.no_suggestions,
        )
        console = Console()
        conversation = Conversation(session, console, echo=not interactive)
        if not interactive:
            for line in iter(sys.stdin.readline, ""):
                if not conversation.take(line):
                    break
                sys.stdout.flush()  # whoever is at the other end may wait for the answer
            return 0
        console.line("Ask, or type /help. The end of input (Ctrl-D) or /quit ends.", "bold")
        _converse(conversation, _reader(schema, values), console)
    return 0


def _converse(conversation: Conversation, read: Callable[[str], str], console: Console) -> None:
    """Take line after line from a terminal; Ctrl-C abandons one, typed or being answered."""
    while _goes_on(conversation, read, console):
        pass


def _goes_on(conversation: Conversation, read: Callable[[str], str], console: Console) -> bool:
    try:
        return conversation.take(read(_PROMPT))
    except KeyboardInterrupt:
        console.line()
        return True
    except EOFError:
        console.line()
        return False


def _reader(schema: Schema, values: Any) -> Callable[[str], str]:
    """What reads a line from a terminal: with completion where prompt_toolkit is installed."""
    try:
        from fastsql.cli.chat_prompt import line_reader
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] != "prompt_toolkit":
            raise
        return input
    return line_reader(schema, lambda: _dictionary(schema, values))


def _dictionary(schema: Schema, values: Any) -> Any:
    """The values to complete; none where the database cannot be read now."""
    from fastsql.linking.dictionary import ValueDictionary

    if not isinstance(values, str | Path):
        return values
    try:
        return ValueDictionary.from_database(values, schema)
    except FastSQLError:
        return ()
