"""What a line of ``fastsql chat`` does: a question is answered, a command is obeyed, and both are shown."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from fastsql.errors import FastSQLError
from fastsql.view.cells import clean, cut
from fastsql.view.text import guess_lines, sql_lines, suggestion_lines
from fastsql.whole_file import write_whole

if TYPE_CHECKING:
    from fastsql.cli.console import Console
    from fastsql.session import Session, Turn

_ROWS_SHOWN = 20
_INDENT = "   "
_LARGEST_RECORD = 64 * 2**20
"""Bytes of a file that /load reads."""

COMMANDS = {
    "/undo": "take the last turn back",
    "/sql [N]": "the SQL of the last turn, or of turn N; where it goes on from others, also what it takes from them",
    "/why [N]": "how the last turn, or turn N, came about",
    "/refresh [N]": "run it again, for the rows of now",
    "/history": "the turns so far",
    "/forget N": "let no later question refer to turn N, nor to those that stand on it",
    "/export FILE": "write the conversation to a new file, for you alone to read; no rows",
    "/load FILE": "take up an exported conversation in place of this one",
    "/help": "this list",
    "/quit": "end",
}


class CommandError(Exception):
    """A command that cannot be obeyed as it was typed."""


class Conversation:
    """Takes lines, one after the other; `echo` repeats each question above its answer, as where no terminal shows it."""

    def __init__(self, session: Session, console: Console, *, echo: bool = False) -> None:
        self._session = session
        self._console = console
        self._echo = echo
        self._commands: dict[str, Callable[[str], None]] = {
            "/undo": self._undo,
            "/sql": self._sql,
            "/why": self._why,
            "/refresh": self._refresh,
            "/history": self._history,
            "/forget": self._forget,
            "/export": self._export,
            "/load": self._load,
            "/help": self._help,
        }

    def take(self, line: str) -> bool:
        """Answer a question or obey a command; whether the conversation goes on after it."""
        text = line.strip()
        if text == "/quit":
            return False
        try:
            if text.startswith("/"):
                self._obey(text)
            elif text:
                self._show(self._session.ask(text))
        except (FastSQLError, CommandError, ValueError, LookupError) as error:
            said = error.args[0] if isinstance(error, KeyError) and error.args else error
            self._say(str(said), "red")
        except OSError as error:
            self._say(f"{error.filename or 'file'}: {error.strerror or error}", "red")
        return True

    def _obey(self, text: str) -> None:
        name, _, argument = text.partition(" ")
        command = self._commands.get(name)
        if command is None:
            raise CommandError(f"there is no command {name}; /help lists them")
        argument = argument.strip()
        usage = next(known for known in COMMANDS if known.split()[0] == name)
        if not usage.endswith("]") and bool(argument) != (" " in usage):
            raise CommandError(f"it is typed as {usage}")
        command(argument)

    # ---------------------------------------------------------------- commands

    def _undo(self, _: str) -> None:
        self._say(f"turn {self._session.undo().number} is taken back")

    def _sql(self, argument: str) -> None:
        turn = self._turn(argument, "/sql")
        width = self._console.width - len(_INDENT)
        if turn.sql is not None:
            self._console.lines(sql_lines(turn.sql, width), _INDENT)
            if turn.referring:
                self._say(f"in short: {turn.referring}", "dim")
        elif turn.best:
            self._console.lines(guess_lines(turn.best, width), _INDENT)
        else:
            raise CommandError(f"turn {turn.number} was refused, and has no SQL")

    def _why(self, argument: str) -> None:
        turn = self._turn(argument, "/why")
        self._console.lines(turn.explain().lines(self._console.width - len(_INDENT)), _INDENT)

    def _refresh(self, argument: str) -> None:
        self._show(self._session.refresh(self._turn(argument, "/refresh").number))

    def _history(self, _: str) -> None:
        if not self._session.history:
            self._say("no turn yet")
        for turn in self._session.history:
            notes = [_uses(turn), "refused" if turn.abstained else "", "forgotten" if turn.forgotten else ""]
            said = "; ".join(filter(None, notes))
            self._say(f"{turn.number}. {turn.question}{said and f' ({said})'}")

    def _forget(self, argument: str) -> None:
        self._session.forget(self._turn(argument, "/forget").number)
        gone = [str(turn.number) for turn in self._session.history if turn.forgotten]
        self._say(f"no later question refers to turn{'s' if len(gone) > 1 else ''} {', '.join(gone)}")

    def _export(self, argument: str) -> None:
        path = Path(argument).expanduser()
        _write_new(path, self._session.export().encode())
        self._say(f"written to {path}; as confidential as the questions")

    def _load(self, argument: str) -> None:
        path = Path(argument).expanduser()
        with path.open("rb") as file:
            content = file.read(_LARGEST_RECORD + 1)
        if len(content) > _LARGEST_RECORD:
            raise CommandError(f"{path} is larger than any conversation")
        try:
            text = content.decode()
        except UnicodeDecodeError:
            raise CommandError(f"{path} is no text") from None
        self._session.load(text)
        self._history("")

    def _help(self, _: str) -> None:
        width = max(map(len, COMMANDS))
        for command, what in COMMANDS.items():
            self._say(f"{command:{width}}  {what}")

    # ---------------------------------------------------------------- how it shows

    def _turn(self, argument: str, command: str) -> Turn:
        """The turn that is meant: the last where none is named."""
        if not argument:
            return self._session.turn()
        if not argument.isascii() or not argument.isdigit() or len(argument) > 9:
            raise CommandError(f"it is typed as {command} N, with the number of a turn")
        return self._session.turn(int(argument))

    def _say(self, text: str, style: str = "") -> None:
        self._console.lines([[(clean(text), style)]], _INDENT)

    def _show(self, turn: Turn) -> None:
        uses = _uses(turn)
        asked = clean(turn.asked or turn.question) if self._echo else ""
        words = (asked, turn.asked and f"(read as: {clean(turn.question)})", uses and f"({uses})")
        self._console.lines([[(" ".join([f"{turn.number}.", *filter(None, words)]), "bold cyan")]])
        width = self._console.width - len(_INDENT)
        if turn.sql is None:
            self._say(f"refused: {turn.reason or ''}", "yellow")
            self._console.lines(suggestion_lines(turn, width), _INDENT)
            if turn.best:
                self._console.lines(guess_lines(turn.best, width), _INDENT)
        notes = [f"confidence {turn.confidence:.2f}"]
        rows = turn.rows
        if rows is not None:
            columns = [cut(clean(name), width) for name in rows.columns]
            self._console.table(columns, rows.rows[:_ROWS_SHOWN], _INDENT)
            more = len(rows) - _ROWS_SHOWN
            left = [f"{more:,} more not shown"] if more > 0 else []
            number = (
                f"{'more than ' if rows.truncated else ''}{len(rows):,} row{'s' if len(rows) != 1 else ''}"
            )
            notes = [f"{number} in {turn.milliseconds:.1f} ms", *left, *notes]
        self._say("; ".join(notes), "dim")


def _uses(turn: Turn) -> str:
    """Which turns it stands on, in words."""
    return (
        f"uses turn{'s' if len(turn.uses) > 1 else ''} {', '.join(map(str, turn.uses))}" if turn.uses else ""
    )


def _write_new(path: Path, content: bytes) -> None:
    """Write a file that its owner alone may read, whole or not at all. Raises FileExistsError where there is one."""
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        write_whole(path, content, private=True)
    except BaseException:
        path.unlink(missing_ok=True)
        raise
