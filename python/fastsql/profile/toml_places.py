"""On which line each key of a TOML text stands, which parsers of values do not tell.

Read is the outline only: headers, keys and where values end. The text must be TOML already: a parser has said so.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass

KeyPath = tuple[str, ...]
_KEY_PART = re.compile(r"""[ \t]*("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_-]+)[ \t]*""")
_SKIPPED = re.compile(r"(?:[ \t\r\n]+|#[^\n]*)+")
_STRING = re.compile(
    r'"""(?:[^\\]|\\.)*?"{3,5}|' + r"'''.*?'{3,5}" + r'|"(?:[^"\\\n]|\\.)*"|' + r"'[^'\n]*'", re.DOTALL
)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|U[0-9A-Fa-f]{8}|.)", re.DOTALL)
_ESCAPED = {"b": "\b", "t": "\t", "n": "\n", "f": "\f", "r": "\r", '"': '"', "\\": "\\"}


@dataclass(frozen=True)
class Place:
    """A header, or a key with its value, and the first and last of its lines, counted from 1."""

    path: KeyPath
    first: int
    last: int
    is_header: bool


def outline(text: str) -> Iterator[Place]:
    """The headers and keys of a text in their order; keys inside inline tables are left out."""
    place, header = 0, KeyPath()
    breaks = [found for found, character in enumerate(text) if character == "\n"]
    while True:
        skipped = _SKIPPED.match(text, place)
        place = skipped.end() if skipped else place
        if place >= len(text):
            return
        first = bisect_left(breaks, place) + 1
        if text[place] == "[":
            header, place = _key(text, place + 1 + text.startswith("[[", place))
            place = _end_of_line(text, place)
            yield Place(header, first, first, is_header=True)
            continue
        key, place = _key(text, place)
        place = _end_of_value(text, place + 1)
        yield Place((*header, *key), first, bisect_left(breaks, place) + 1, is_header=False)


def _key(text: str, place: int) -> tuple[KeyPath, int]:
    """A dotted key and the place behind it."""
    parts: list[str] = []
    while found := _KEY_PART.match(text, place):
        parts.append(_plain(found[1]))
        place = found.end()
        if text[place : place + 1] != ".":
            break
        place += 1
    return tuple(parts), place


def _plain(part: str) -> str:
    """A part of a key without its quotes."""
    if part[0] == '"':
        return _ESCAPE.sub(lambda m: _ESCAPED.get(m[1]) or chr(int(m[1][1:], 16)), part[1:-1])
    return part[1:-1] if part[0] == "'" else part


def _end_of_value(text: str, place: int) -> int:
    """Where the line ends on which a value does."""
    depth = 0
    while place < len(text):
        character = text[place]
        if character in "\"'":
            place = _STRING.match(text, place).end()  # type: ignore[union-attr] # the text is TOML
            continue
        if character == "#":
            place = _end_of_line(text, place)
            continue
        if character == "\n" and depth == 0:
            break
        depth += (character in "[{") - (character in "]}")
        place += 1
    return place


def _end_of_line(text: str, place: int) -> int:
    end = text.find("\n", place)
    return len(text) if end < 0 else end
