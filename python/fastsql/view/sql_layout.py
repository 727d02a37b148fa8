"""SQL over several lines: the same tokens, other white space.

Works on tokens, so that it lays out any dialect without knowing it and cannot change a query.
"""

from __future__ import annotations

import re

_TOKEN = re.compile(
    r"""
    '(?:[^']|'')*'                                   # a string
  | (?:"(?:[^"]|"")*"|`[^`]*`|[^\W\d]\w*)            # a name, quoted or plain,
    (?:\.(?:"(?:[^"]|"")*"|`[^`]*`|[^\W\d]\w*|\*))*  # with what it qualifies
  | \d+(?:\.\d+)?(?:[eE][+-]?\d+)?
  | <>|<=|>=|!=|==|\|\|
  | \S
    """,
    re.VERBOSE,
)
_CLAUSES = frozenset({"FROM", "WHERE", "GROUP", "HAVING", "ORDER", "LIMIT", "UNION", "INTERSECT", "EXCEPT"})
_OTHER_KEYWORDS = """
ALL AND AS ASC BETWEEN BY CASE CAST CROSS DESC DISTINCT ELSE END EXISTS IN INNER IS JOIN LEFT LIKE NOT NULL OFFSET ON
OR OUTER OVER PARTITION SELECT THEN USING WHEN WITH
"""
_KEYWORDS = _CLAUSES | frozenset(_OTHER_KEYWORDS.split())
_INDENT = "  "


def tokens(sql: str) -> list[str]:
    """The tokens of an SQL text; a qualified name is one token."""
    return _TOKEN.findall(sql)


def places(sql: str) -> list[tuple[int, int]]:
    """Where the tokens of an SQL text stand in it, as characters ``[start, end)``."""
    return [match.span() for match in _TOKEN.finditer(sql)]


def kind(token: str) -> str:
    """What a token is: "string", "number", "keyword", "name" or "sign"."""
    if token[0] == "'":
        return "string" if len(token) > 1 else "sign"
    if token[0].isdigit():
        return "number"
    if token.upper() in _KEYWORDS:
        return "keyword"
    return "name" if token[0].isalpha() or token[0] in '_"`' else "sign"


def lay_out(sql: str) -> list[str]:
    """Lines of an SQL text: clauses, joined conditions and subqueries begin lines of their own.

    Joined by blanks, the lines have the tokens of `sql`. Parentheses without a query inside stay on one line.
    """
    matches = list(_TOKEN.finditer(sql))
    texts = [match.group() for match in matches]
    words = [text.upper() for text in texts]
    lines: list[str] = []
    line, depth = "", 0
    open_parentheses: list[bool] = []  # whether each holds a query
    between = False
    previous_end = 0
    for place, (match, word) in enumerate(zip(matches, words, strict=True)):
        gap = " " if match.start() > previous_end else ""
        previous_end = match.end()
        in_query = not open_parentheses or open_parentheses[-1]
        if word == ")" and open_parentheses and open_parentheses.pop():
            lines.append(_INDENT * depth + line)
            depth -= 1
            line, gap = "", ""
        elif in_query and line and _begins_line(words, place, between):
            lines.append(_INDENT * depth + line)
            line, gap = "", ""
        line += (gap if line else "") + match.group()
        between = word == "BETWEEN" or (between and word != "AND")
        if word == "(":
            holds_query = words[place + 1 : place + 2] == ["SELECT"]
            open_parentheses.append(holds_query)
            if holds_query:
                lines.append(_INDENT * depth + line)
                line, between = "", False
                depth += 1
    return [*lines, _INDENT * depth + line] if line else lines


def _begins_line(words: list[str], place: int, between: bool) -> bool:
    word = words[place]
    before = words[place - 1] if place else ""
    if word in ("AND", "OR"):
        return not between
    if word in ("LEFT", "INNER", "CROSS"):
        return words[place + 1 : place + 2] in (["JOIN"], ["OUTER"])
    if word == "JOIN":
        return before not in ("LEFT", "INNER", "CROSS", "OUTER")
    if word == "SELECT":
        return before in ("ALL", "UNION", "INTERSECT", "EXCEPT")
    return word in _CLAUSES
