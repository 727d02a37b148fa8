"""Bounds on a raw SQL text, checked by one pass without recursion, before a parser sees it.

A parser is fooled where it cuts a text into words otherwise than the database does: at comments, escapes, prefixed and
dollar-quoted strings, odd white space, letters that fold to ASCII. None of these is needed to say a query, so they are
refused, and what remains reads the same everywhere.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from fastsql.errors import VerificationError
from fastsql.limits import Limits
from fastsql.schema.names import fold

SQL_CHARACTERS = 200_000
"""Characters of SQL text: 256 actions at the longest qualified names stay below it."""
SQL_TOKENS = 10_000
"""Words, names, literals and operators. The longest of 100,000 gold queries has 857. A query has 256 decisions at most, and
none takes more than 39 words: three say in PostgreSQL the complete years between two texts that are read as times."""
SQL_SELECTS = 256
"""SELECTs of a text: the costliest word to read. A query has 256 decisions at most."""

REMEDY = "Only plain SELECTs on the schema pass. If fastsql wrote this one, please report it with the schema."

_QUOTED = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|`(?:[^`]|``)*`")
_PARENTHESES = re.compile(r"[()]")
_STRING = r"'(?:[^']|'')*'"
_STRINGS = {"mysql": r"'(?:[^'\\]|''|\\\\)*'"}
"""By dialect, where a backslash escapes: only an escaped backslash is understood the same way everywhere."""
_NAME = r'"(?:[^"]|"")+"'
_NAMES = {"mysql": r"`(?:[^`]|``)+`", "tsql": r"\[(?:[^\]]|\]\])+\]"}
_BRACKETS = {"postgres": r"\[\]", "duckdb": r"\[\]"}
"""By dialect, characters of its own that stand for operators: elements of arrays."""
_BEGINNINGS = frozenset(("select", "with", "("))
_AFTER_ITEMS = frozenset(
    (
        "from",
        "where",
        "group",
        "having",
        "order",
        "limit",
        "offset",
        "fetch",
        "union",
        "intersect",
        "except",
        ";",
    )
)
"""What may follow a select list."""
_PREFIXES = frozenset(("not", "-", "+"))


@dataclass(frozen=True)
class Scan:
    """What a text holds: `called` are the words, folded, and `quoted` the quoted names that stand before a parenthesis."""

    called: frozenset[str]
    quoted: frozenset[str]


def bound_text(sql: str, limits: Limits) -> int:
    """The depth of parentheses of a text that is neither too long nor too deep.

    Raises:
        VerificationError: it is, or it holds characters that no database can be sent.
    """
    if len(sql) > SQL_CHARACTERS:
        raise _fault(f"has {len(sql):,} characters, more than {SQL_CHARACTERS:,}")
    if "\0" in sql or not _is_encodable(sql):
        raise _fault("holds a character that is not text")
    depth = parenthesis_depth(sql)
    if depth > limits.sql_depth:
        raise _fault(f"nests {depth} parentheses, more than {limits.sql_depth} (sql_depth)")
    return depth


def parenthesis_depth(sql: str) -> int:
    """The deepest nesting of parentheses outside strings and quoted names, found without recursion."""
    depth = deepest = 0
    for parenthesis in _PARENTHESES.findall(_QUOTED.sub("", sql)):
        depth += 1 if parenthesis == "(" else -1
        if depth > deepest:  # faster than max(), over hundreds of them
            deepest = depth
    return deepest


def scan_text(sql: str, dialect: str, limits: Limits) -> Scan:
    """Cut a text into tokens, all of a kind that every reader of the dialect agrees on.

    Raises:
        VerificationError: it holds anything else, too many tokens, or CASEs or prefix operators nested too deep.
    """
    called, quoted = set(), set()
    end = tokens = selects = cases = prefixes = 0
    kind = last = ""
    touching = False
    for match in _pattern(dialect).finditer(sql):
        if match.start() != end:
            raise _fault("holds a character that plain SQL does not use")
        end = match.end()
        if match.lastgroup == "space":
            touching = False
            continue
        before, kind = kind, match.lastgroup or ""
        text = match.group()
        if kind == "comment":
            raise _fault("holds a comment")
        if kind == "string" and (before == "string" or (touching and before in ("word", "number", "name"))):
            raise _fault("holds a prefixed or continued string")
        if kind == "word":
            text = _plain_word(text)
            cases += (text == "case") - (text == "end")
            selects += text == "select"
        elif text == "(" and before == "word":
            called.add(last)
        elif text == "(" and before == "name":
            quoted.add(last)
        if not tokens and text not in _BEGINNINGS:
            raise _fault("is not a SELECT")
        prefixes = prefixes + 1 if text in _PREFIXES else 0
        tokens += 1
        if tokens > SQL_TOKENS:
            raise _fault(f"has more than {SQL_TOKENS:,} words")
        if selects > SQL_SELECTS:
            raise _fault(f"has more than {SQL_SELECTS} SELECTs")
        if max(cases, prefixes) > limits.sql_depth:
            raise _fault(f"nests more than {limits.sql_depth} operators (sql_depth)")
        last, touching = text, True
    if end != len(sql):
        raise _fault("holds a character that plain SQL does not use")
    return Scan(frozenset(called), frozenset(quoted))


def select_list(sql: str, dialect: str) -> list[str]:
    """What the items of a scanned text's first outermost select list look like, as they are written."""
    items: list[str] = []
    begin, depth = -1, 0
    for match in _pattern(dialect).finditer(sql):
        text = match.group()
        word = fold(text) if match.lastgroup == "word" else text
        depth += (text == "(") - (text == ")")
        if depth:
            continue
        before = sql[begin : match.start()].strip() if begin >= 0 else ""
        if begin < 0:
            begin = match.end() if word == "select" else begin
        elif word in ("distinct", "all") and not before:
            begin = match.end()
        elif word == "," or word in _AFTER_ITEMS:
            items.append(before)
            begin = match.end()
            if word != ",":
                return items
    return [*items, sql[begin:].strip()] if begin >= 0 else []


def _plain_word(word: str) -> str:
    """A word, folded. Letters such as the long s, ASCII in another case, make keywords for some readers only."""
    if not word.isascii() and any(
        not letter.isascii() and (letter.upper().isascii() or letter.lower().isascii())
        for letter in word.replace("ß", "")  # no keyword has SS where SQL could hide in it
    ):
        raise _fault("holds a letter that may be read as another")
    return fold(word)


_patterns: dict[str, re.Pattern[str]] = {}


def _pattern(dialect: str) -> re.Pattern[str]:
    if dialect not in _patterns:
        string, name = _STRINGS.get(dialect, _STRING), _NAMES.get(dialect, _NAME)
        _patterns[dialect] = re.compile(
            rf"(?P<space>[ \t\r\n]+)|(?P<string>{string})|(?P<name>{name})|(?P<word>[^\W\d]\w*)"
            r"|(?P<number>(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?(?![\w.]))"
            rf"|(?P<comment>--|/\*)|(?P<operator><=|>=|<>|!=|==|\|\||::|[-+*/%=<>,.;(){_BRACKETS.get(dialect, '')}])",
        )
    return _patterns[dialect]


def _is_encodable(sql: str) -> bool:
    try:
        sql.encode("utf-8")
    except UnicodeEncodeError:
        return False
    return True


def _fault(what: str) -> VerificationError:
    return VerificationError(what, where="SQL", remedy=REMEDY)
