"""Text in a terminal's cells: a Chinese character takes two, a combining mark none, a control character is a blank."""

from __future__ import annotations

import unicodedata

_STEERING = frozenset({"Cc", "Cf", "Cs", "Co", "Zl", "Zp"})
_MARKS = frozenset({"Mn", "Me"})
_CUT = "..."


def clean(text: str) -> str:
    """`text` with a blank for each character that could steer a terminal or reorder a line; as long as `text`."""
    return "".join(" " if unicodedata.category(character) in _STEERING else character for character in text)


def cells(text: str) -> int:
    """Cells that a text takes on a line."""
    if text.isascii():
        return len(text)
    return sum(_cells_of(character) for character in text)


def pad(text: str, width: int) -> str:
    """`text` with blanks behind it up to `width` cells."""
    return text + " " * (width - cells(text))


def cut(text: str, width: int) -> str:
    """`text`, or as much of its beginning as fits into `width` cells with three dots behind it."""
    if text.isascii():
        return text if len(text) <= width else text[: max(0, width - len(_CUT))] + _CUT
    taken = kept = 0
    # No further than is shown: a text may be as long as a database has it.
    for place, character in enumerate(text, 1):
        taken += _cells_of(character)
        if taken > width:
            return text[:kept] + _CUT
        if taken + len(_CUT) <= width:
            kept = place
    return text


def wrap(text: str, width: int) -> list[tuple[int, int]]:
    """Lines of at most `width` cells, as characters ``[start, end)`` of `text`.

    Lines end behind blanks and beside wide characters; a word longer than a line ends where the line does.
    """
    lines: list[tuple[int, int]] = []
    start = last = taken = 0
    for place, character in enumerate(text):
        size = _cells_of(character)
        if size == 2 or (place and (text[place - 1] == " " or _cells_of(text[place - 1]) == 2)):
            last = place
        if taken + size > width and place > start and character != " ":
            end = last if last > start else place
            lines.append((start, end))
            start = end
            taken = cells(text[start:place])
        taken += size
    if start < len(text):
        lines.append((start, len(text)))
    return lines


def _cells_of(character: str) -> int:
    if unicodedata.category(character) in _MARKS:
        return 0
    return 2 if unicodedata.east_asian_width(character) in "WF" else 1
