"""Reads the text of a grammar file into its lines: which alternatives each symbol has, with children and requirements."""

from __future__ import annotations

from dataclasses import dataclass

POINTERS = (
    "table",
    "column",
    "earlier",
    "newest",
    "which",
    "time",
    "value",
    "number",
    "date",
    "text",
    "pattern",
    "start",
    "end",
    "turn",
    "member",
    "extended",
)
"""Kinds of pointer that a grammar may name."""

EFFECTS = (
    "from",
    "scope",
    "source",
    "derived",
    "item",
    "close",
    "one",
    "first",
    "second",
    "left",
    "number",
    "text",
    "time",
    "numbers",
    "columns",
    "grouped",
    "toward",
    "previous",
    "reopen",
    "keep",
)
"""Semantic actions; `effects.py` carries them out."""

REQUIREMENTS = (
    "time",
    "date",
    "text",
    "columns",
    "grouped",
    "way",
    "free",
    "turn",
    "member",
    "extended",
    "kept",
    "rows",
    "groups",
)


class GrammarError(Exception):
    """The grammar file is not well formed, or not LL(1). A fault of the file, never of a user's input."""


@dataclass(frozen=True)
class Line:
    """One alternative as written: `head` is "=", "-", "@kind" or a production's name."""

    head: str
    children: tuple[str, ...]
    requires: frozenset[str]
    weight: int
    number: int


def read_lines(text: str) -> dict[str, list[Line]]:
    """The alternatives of every symbol, in the order of the file. Raises GrammarError with the line where it is wrong."""
    rules: dict[str, list[Line]] = {}
    current: list[Line] | None = None
    for number, raw in enumerate(text.splitlines(), 1):
        line = raw.split("#", 1)[0].rstrip()
        if not line:
            continue
        if not line[0].isspace():
            if line in rules:
                raise GrammarError(f"line {number}: symbol {line!r} is defined twice")
            current = rules.setdefault(line, [])
            continue
        if current is None:
            raise GrammarError(f"line {number}: an alternative before the first symbol")
        body, bracket, tail = line.partition("[")
        if bracket and not tail.endswith("]"):
            raise GrammarError(f"line {number}: the bracket is not closed")
        words = body.split()
        tags = tail.rstrip("]").split()
        requires = frozenset(tag for tag in tags if not tag.isdecimal())
        _check_words(words, requires, number)
        weight = sum(int(tag) for tag in tags if tag.isdecimal())
        current.append(Line(words[0], tuple(words[1:]), requires, weight, number))
    if not rules or not all(rules.values()):
        empty = next((name for name, lines in rules.items() if not lines), None)
        raise GrammarError("there is no symbol" if empty is None else f"symbol {empty!r} has no alternative")
    return rules


def _check_words(words: list[str], requires: frozenset[str], number: int) -> None:
    if not words:
        raise GrammarError(f"line {number}: an alternative that says nothing")
    if (words[0] == "=" and len(words) < 2) or (words[0] == "-" and len(words) > 1):
        raise GrammarError(f"line {number}: {words[0]!r} with {len(words) - 1} children")
    if words[0].startswith("@") and words[0][1:] not in POINTERS:
        raise GrammarError(f"line {number}: unknown pointer {words[0]!r}")
    if unknown := requires.difference(REQUIREMENTS):
        raise GrammarError(f"line {number}: unknown requirement {sorted(unknown)}")
    for word in words[1:]:
        if word.startswith("!") and word[1:] not in EFFECTS:
            raise GrammarError(f"line {number}: unknown semantic action {word!r}")
