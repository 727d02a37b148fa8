"""Reading lines with prompt_toolkit: a history in memory alone, and completion with Tab."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator
from functools import cached_property
from typing import TYPE_CHECKING

from prompt_toolkit import PromptSession
from prompt_toolkit.completion import CompleteEvent, Completer, Completion, ThreadedCompleter
from prompt_toolkit.document import Document
from prompt_toolkit.history import InMemoryHistory

from fastsql.cli.chat_turns import COMMANDS
from fastsql.view.cells import clean

if TYPE_CHECKING:
    from fastsql.schema import Schema

_WORDS = 6
"""Words that what is completed may have begun with."""
_SHOWN = 50
_LONGEST = 80
"""Characters of a value that somebody may want to have typed for them."""


def line_reader(schema: Schema, values: Callable[[], Iterable[str]]) -> Callable[[str], str]:
    """What asks for a line. Nothing that is typed goes to disk: it may name a patient."""
    completer = ThreadedCompleter(ChatCompleter(schema, values))
    session: PromptSession[str] = PromptSession(
        history=InMemoryHistory(), completer=completer, complete_while_typing=False
    )
    return session.prompt


class ChatCompleter(Completer):
    """Completes commands, labels of tables and columns, and values, whose longest beginning stands before the cursor.

    `values` are asked for when the first line is completed.
    """

    def __init__(self, schema: Schema, values: Callable[[], Iterable[str]]) -> None:
        self._schema = schema
        self._values = values

    @cached_property
    def _entries(self) -> list[tuple[str, str, str]]:
        """(folded text, text, kind), sorted; of equal texts the label."""
        kinds = dict.fromkeys(filter(_typable, self._values()), "value")
        kinds.update(dict.fromkeys((column.label for column in self._schema.columns), "column"))
        kinds.update(dict.fromkeys((table.label for table in self._schema.tables), "table"))
        return sorted((text.casefold(), text, kind) for text, kind in kinds.items())

    def get_completions(self, document: Document, complete_event: CompleteEvent) -> Iterator[Completion]:
        """What the line before the cursor may go on with."""
        text = document.text_before_cursor
        if text.startswith("/"):
            names = (command.split()[0] for command in COMMANDS)
            yield from (Completion(name, -len(text)) for name in names if name.startswith(text))
            return
        starts = [match.start() for match in re.finditer(r"(?<!\w)\w", text)][-_WORDS:]
        for start in starts:
            begun = text[start:]
            found = list(self._beginning_with(begun.casefold()))
            if found:
                yield from (Completion(entry, -len(begun), display_meta=kind) for entry, kind in found)
                return

    def _beginning_with(self, begun: str) -> Iterator[tuple[str, str]]:
        first = bisect_left(self._entries, (begun,))
        for folded, text, kind in self._entries[first : first + _SHOWN]:
            if not folded.startswith(begun):
                return
            yield text, kind


def _typable(value: str) -> bool:
    return 1 < len(value) <= _LONGEST and clean(value) == value
