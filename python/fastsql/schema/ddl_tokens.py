"""DDL as a flat list of words, quoted names, strings and symbols, cut into statements.

Quoting, comments and strings differ by dialect, and sqlglot's tokenizers know them. Its parsers are not used:
they refuse a whole table for one storage clause they have not met (``ENABLE``, ``NATIVE CHARACTER``, ``ENCODE
zstd``), and dumps are full of those.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.errors import SchemaError
from fastsql.schema.dialects import canonical_dialect

if TYPE_CHECKING:
    from collections.abc import Iterator

_HINTS = (
    (
        "mysql",
        re.compile(
            r"\bENGINE\s*=|\bAUTO_INCREMENT\b|`[^`\n]*`[^,\n`]{0,200}\bCOMMENT\s+'|\bCOMMENT\s*=\s*'",
            re.IGNORECASE,
        ),
    ),
    (
        "tsql",
        re.compile(
            r"\[dbo\]\.|\bIDENTITY\s*\(|^\s*GO\s*$|\bNVARCHAR\s*\(\s*MAX\s*\)", re.IGNORECASE | re.MULTILINE
        ),
    ),
    ("oracle", re.compile(r"\bN?VARCHAR2\s*\(|\bNUMBER\s*\(", re.IGNORECASE)),
    (
        "postgres",
        re.compile(
            r"\b(SMALL|BIG)?SERIAL\b|\bOWNER\s+TO\b|\bALTER\s+TABLE\s+ONLY\b|\bTIMESTAMPTZ\b|::"
            r"|\bCHARACTER\s+VARYING\b|\bWITH(OUT)?\s+TIME\s+ZONE\b|\bAS\s+ENUM\b|\bCOMMENT\s+ON\b",
            re.IGNORECASE,
        ),
    ),
)
_KINDS = {
    "IDENTIFIER": "name",
    "STRING": "string",
    "NATIONAL_STRING": "string",
    "RAW_STRING": "string",
    "UNICODE_STRING": "string",
    "NUMBER": "number",
}
OBJECTS = frozenset(
    {"TABLE", "VIEW", "INDEX", "TYPE", "DOMAIN", "PROCEDURE", "PROC", "FUNCTION", "TRIGGER", "SEQUENCE"}
)


@dataclass(frozen=True)
class Piece:
    """A piece of DDL, at [start, end) in the text.

    ``kind`` is "word" (unquoted), "name" (quoted), "string", "number" or "symbol".
    """

    kind: str
    text: str
    start: int
    end: int

    @property
    def word(self) -> str:
        """The unquoted word in upper case; empty for every other kind."""
        return self.text.upper() if self.kind == "word" else ""

    @property
    def is_name(self) -> bool:
        """Whether it may stand where a name is expected. SQLite takes even strings for names."""
        return self.kind in ("word", "name", "string")


def guess_dialect(sql: str) -> str:
    """The dialect whose marks the DDL bears.

    Where it bears none, "sqlite": that tokenizer knows every way of quoting names.
    """
    return next((dialect for dialect, marks in _HINTS if marks.search(sql)), "sqlite")


def tokenize(sql: str, dialect: str) -> list[Piece]:
    """All pieces of a text, comments left out. SchemaError where a quote or comment is not closed."""
    from sqlglot.dialects.dialect import Dialect
    from sqlglot.errors import SqlglotError

    try:
        tokens = Dialect.get_or_raise(canonical_dialect(dialect)).tokenize(sql)
    except (SqlglotError, RecursionError) as error:
        raise SchemaError(
            "a quote, comment or bracket is not closed, or a character has no place in SQL",
            where=f"DDL ({dialect})",
            remedy="Check the text, and that the dialect is the right one.",
        ) from error
    pieces: list[Piece] = []
    for token in tokens:
        kind = _KINDS.get(token.token_type.name)
        start, end = token.start, token.end + 1
        if kind is None and not token.text:
            continue  # a mark of the tokenizer's own, as Athena's has
        if kind is None and not re.match(r"[^\W\d]", token.text):
            kind = "symbol"
        if kind is not None:
            pieces.append(Piece(kind, token.text, start, end))
        else:
            # sqlglot joins some keywords ("PRIMARY KEY"); a reader of words wants them apart.
            pieces.extend(
                Piece("word", m[0], start + m.start(), start + m.end())
                for m in re.finditer(r"\S+", sql[start:end])
            )
    return pieces


def statements(pieces: list[Piece]) -> Iterator[list[Piece]]:
    """Cut at semicolons outside brackets, at T-SQL's GO, and before CREATE and ALTER.

    T-SQL may write one statement after the other with nothing between.
    """
    begin = depth = 0
    for index, piece in enumerate(pieces):
        if piece.kind == "symbol":
            depth += {"(": 1, ")": -1}.get(piece.text, 0)
            depth = max(depth, 0)
        ends = (piece.kind == "symbol" and piece.text == ";") or piece.word == "GO"
        if depth == 0 and (ends or _begins_statement(pieces, index)):
            yield pieces[begin:index]
            begin = index + 1 if ends else index
    yield pieces[begin:]


def _begins_statement(pieces: list[Piece], index: int) -> bool:
    word = pieces[index].word
    following = [piece.word for piece in pieces[index + 1 : index + 4]]
    if word == "CREATE":
        return any(word in OBJECTS for word in following)
    if word == "COMMENT":
        return following[:1] == ["ON"]
    return word == "ALTER" and following[:1] == ["TABLE"]


def closing(pieces: list[Piece], opening: int) -> int | None:
    """Index of the bracket that closes the one at ``opening``, or None."""
    depth = 0
    for index in range(opening, len(pieces)):
        if pieces[index].kind == "symbol":
            depth += {"(": 1, ")": -1}.get(pieces[index].text, 0)
            if depth == 0:
                return index
    return None


def split_list(pieces: list[Piece]) -> list[list[Piece]]:
    """The items of a comma-separated list. Commas inside (...) and inside STRUCT<...> do not separate."""
    items: list[list[Piece]] = [[]]
    depth = angle = 0
    for index, piece in enumerate(pieces):
        if piece.kind == "symbol":
            depth += {"(": 1, ")": -1}.get(piece.text, 0)
            if (
                piece.text == "<"
                and index
                and pieces[index - 1].word in ("STRUCT", "ARRAY", "MAP", "ROW", "TABLE")
            ):
                angle += 1
            elif angle and set(piece.text) == {">"}:
                angle = max(angle - len(piece.text), 0)
            if piece.text == "," and depth == 0 and angle == 0:
                items.append([])
                continue
        items[-1].append(piece)
    return [item for item in items if item]


def is_symbol(pieces: list[Piece], index: int, text: str) -> bool:
    """Whether there is a piece at ``index`` and it is this symbol."""
    return 0 <= index < len(pieces) and pieces[index].kind == "symbol" and pieces[index].text == text


def joined(pieces: list[Piece]) -> str:
    """The pieces as text again, without quotes: ``[nvarchar] (40)`` gives "nvarchar (40)"."""
    text = ""
    for index, piece in enumerate(pieces):
        gap = " " if index and piece.start > pieces[index - 1].end else ""
        shown = "'" + piece.text.replace("'", "''") + "'" if piece.kind == "string" else piece.text
        text += gap + shown
    return text


def has_comments(sql: str) -> bool:
    """Whether a text may have comments at all."""
    return "--" in sql or "/*" in sql
