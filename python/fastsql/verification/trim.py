"""SQLite's trim, ltrim and rtrim of given characters, in time that grows with the sum of the lengths of their arguments.

SQLite's own compare each character of one with each of the other: for two texts of a megabyte that is an hour, in a single
instruction that nothing interrupts.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable

_Value = str | int | float | bytes | None


def define_trims(connection: sqlite3.Connection) -> None:
    """Replace the three functions on a connection; those of one argument stay SQLite's."""
    for name, left, right in (("trim", True, True), ("ltrim", True, False), ("rtrim", False, True)):
        connection.create_function(name, 2, _trimmer(left, right), deterministic=True)


def _trimmer(left: bool, right: bool) -> Callable[[_Value, _Value], str | None]:
    def trim(value: _Value, characters: _Value) -> str | None:
        if value is None or characters is None:
            return None
        text, dropped = _text(value), frozenset(_text(characters))
        begin, end = 0, len(text)
        while left and begin < end and text[begin] in dropped:
            begin += 1
        while right and end > begin and text[end - 1] in dropped:
            end -= 1
        return text[begin:end]

    return trim


def _text(value: str | int | float | bytes) -> str:
    """A value as SQLite casts it to text."""
    if isinstance(value, str):
        return value
    if isinstance(value, bytes):
        return value.decode(errors="ignore")
    if isinstance(value, int):
        return str(value)
    if value in (float("inf"), float("-inf")):
        return "Inf" if value > 0 else "-Inf"
    digits, exponent, power = f"{value:.15g}".partition("e")
    return f"{digits}{'' if '.' in digits else '.0'}{exponent}{power}"
