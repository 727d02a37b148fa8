"""How one query differs from another, token by token."""

from __future__ import annotations

from dataclasses import dataclass
from difflib import SequenceMatcher

from fastsql.view.sql_layout import places

_APART = 2
"""Equal tokens between two differences below which they are told as one."""
_RELATED = 0.5
"""Share of tokens in common below which a query is told as another one, rather than by its differences."""
_LONGEST = 400
"""Tokens of a query up to which differences are looked for: the time grows with the square."""

_TELLS_NOTHING = ("(", ",", ")")


@dataclass(frozen=True)
class Difference:
    """What stands in one query and what stands there in the other, with the token before both; either may be empty."""

    removed: str
    added: str


def differences(one: str, other: str) -> tuple[Difference, ...] | None:
    """How `other` differs from `one`; None where the two have little in common."""
    here, there = places(one), places(other)
    if max(len(here), len(there)) > _LONGEST:
        return None
    first, second = ([sql[start:end] for start, end in found] for sql, found in ((one, here), (other, there)))
    matcher = SequenceMatcher(None, first, second, autojunk=False)
    if matcher.ratio() < _RELATED:
        return None
    changes: list[tuple[int, int, int, int]] = []
    for operation, start, end, begin, stop in matcher.get_opcodes():
        if operation == "equal":
            continue
        if changes and start - changes[-1][1] <= _APART:
            start, _, begin, _ = changes.pop()
        changes.append((start, end, begin, stop))
    # The token before a difference tells what it is about.
    told = [
        (i - 1, j, k - 1, m) if i and k and first[i - 1] not in _TELLS_NOTHING else (i, j, k, m)
        for i, j, k, m in changes
    ]
    return tuple(Difference(_text(one, here[i:j]), _text(other, there[k:m])) for i, j, k, m in told)


def _text(sql: str, part: list[tuple[int, int]]) -> str:
    return sql[part[0][0] : part[-1][1]] if part else ""
