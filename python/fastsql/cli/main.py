"""The `fastsql` program: reads the arguments, runs one command, turns errors into messages and an exit status."""

from __future__ import annotations

import argparse
import os
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from fastsql.cli import (
    adapt,
    augment,
    calibrate,
    card,
    chat,
    console,
    conversations,
    corpus,
    demo,
    doctor,
    encoder,
    evaluate,
    export,
    extend,
    fit_ranking,
    parse,
    profile,
    renumber,
    synthesize,
    train,
)
from fastsql.errors import CalibrationWarning, FastSQLError

_DESCRIPTION = "Questions to hospital databases, answered with SQL: on this machine, in milliseconds, or honestly refused."
_EPILOG = """\
examples:
  fastsql demo                                          watch it answer questions on a synthetic hospital
  fastsql parse "How many patients were prescribed warfarin?" --schema hospital.sqlite
  fastsql chat hospital.sqlite                          a conversation: questions that refer to those before them
  fastsql profile hospital.sqlite -o clinic.toml        what it knows of a schema, for you to correct
  fastsql eval valid.json --schemas schemas.json --databases mimic_iv.sqlite.gz --json report.json
  fastsql adapt hospital.sqlite -o own-model             train the model further for your own database
  fastsql train configs/ehr-en.toml --output runs/first --max-minutes 30
  fastsql calibrate runs/first/bundle --config configs/ehr-en.toml
  fastsql doctor                                        what is installed, and what is used

exit status: 0 done, 1 refused (parse), 2 an error, 130 interrupted.
Each command has its own help: fastsql COMMAND --help
"""
_COMMANDS = (
    demo,
    parse,
    chat,
    profile,
    evaluate,
    adapt,
    train,
    encoder,
    export,
    calibrate,
    card,
    augment,
    synthesize,
    corpus,
    extend,
    conversations,
    renumber,
    fit_ranking,
    doctor,
)


class _CommandParser(argparse.ArgumentParser):
    """The parser of one command. `arguments` adds its arguments when the command is asked for.

    What such arguments say of themselves lies in packages that take a second to import.
    """

    def __init__(
        self, *given: Any, arguments: Callable[[argparse.ArgumentParser], None] | None = None, **settings: Any
    ) -> None:
        super().__init__(*given, **settings)
        self._add_arguments = arguments

    def parse_known_args(self, args: Any = None, namespace: Any = None) -> Any:
        add, self._add_arguments = self._add_arguments, None
        if add is not None:
            add(self)
        known, unknown = super().parse_known_args(args, namespace)
        if unknown:  # said with the usage of the command, not with that of the program
            self.error(f"unrecognized arguments: {' '.join(unknown)}")
        return known, unknown


def build_parser() -> argparse.ArgumentParser:
    """The parser of all commands."""
    parser = argparse.ArgumentParser(
        "fastsql",
        description=_DESCRIPTION,
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--version", action="store_true", help="print the version and stop")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", parser_class=_CommandParser)
    for command in _COMMANDS:
        command.add(commands)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program with these arguments, or those of the process; the exit status."""
    with warnings.catch_warnings():
        warnings.showwarning = _warner(warnings.showwarning)
        return _run(arguments)


def _warner(others: Callable[..., None]) -> Callable[..., None]:
    """What shows a warning of ours as one line, without the place in the code that gave it."""

    def warn(message: Warning | str, category: type[Warning], *place: Any, **more: Any) -> None:
        if issubclass(category, CalibrationWarning):
            console.warn(str(message))
        else:
            others(message, category, *place, **more)

    return warn


def _run(arguments: Sequence[str] | None) -> int:
    try:
        parser = build_parser()
        given = list(sys.argv[1:] if arguments is None else arguments)
        options = parser.parse_args(given, argparse.Namespace(command_line=["fastsql", *given]))
        if options.version:
            sys.stdout.write(f"fastsql {_version()}\n")
            return 0
        if not hasattr(options, "run"):
            parser.print_help()
            return 2
        status: int = options.run(options)
        sys.stdout.flush()
        return status
    except FastSQLError as error:
        sys.stderr.write(f"fastsql: {error}\n")
        return 2
    except OSError as error:
        if isinstance(error, BrokenPipeError):
            # The reader of our output has gone; Python would complain once more when it closes it.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"fastsql: {where}{error.strerror or error}\n")
        return 2
    except KeyboardInterrupt:
        sys.stderr.write("\nfastsql: interrupted\n")
        return 130


def _version() -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version("fastsql")
    except PackageNotFoundError:
        return "(not installed)"
