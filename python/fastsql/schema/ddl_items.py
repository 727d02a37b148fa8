"""The items of CREATE TABLE and of ALTER TABLE ADD: column definitions and table constraints."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from fastsql.schema.ddl_tokens import Piece, closing, is_symbol, joined, split_list
from fastsql.schema.draft import DraftColumn, DraftKey, DraftTable
from fastsql.schema.model import USUAL_NAMESPACES
from fastsql.schema.names import fold, is_chinese, label_from_comment, label_from_name
from fastsql.schema.sqltypes import classify_type

if TYPE_CHECKING:
    from collections.abc import Callable

    from fastsql.schema.comment_codes import Codes
    from fastsql.schema.model import Value

# Words at which the type of a column ends.
_AFTER_TYPE = frozenset(
    """PRIMARY NOT NULL UNIQUE DEFAULT CHECK REFERENCES COLLATE CONSTRAINT GENERATED AS COMMENT AUTO_INCREMENT
    AUTOINCREMENT IDENTITY KEY ENCODE DISTKEY SORTKEY ON CHARSET ENABLE DISABLE VISIBLE INVISIBLE STORED
    VIRTUAL PERSISTED SPARSE ROWGUIDCOL OPTIONS CODEC TTL MATERIALIZED ALIAS EPHEMERAL FOREIGN STORAGE
    COMPRESSION SRID USING
    MASKED DEFERRABLE INITIALLY ZEROFILL""".split()  # noqa: SIM905 -- a list of one word a line hides what it holds
)

# Bounds on what is looked at, so that no text costs quadratic time.
_REFERENCE_PIECES = 64
_CHECK_BRACKETS = 8


@dataclass
class TableReader:
    """Reads the items of one table into a draft."""

    table: DraftTable
    rename: Callable[[Piece], str]
    """The name that a piece stands for in this dialect: PostgreSQL lowers what is not quoted."""
    domains: dict[str, tuple[str, list[Value]]] = field(default_factory=dict)
    """Types defined by CREATE TYPE and CREATE DOMAIN: folded name -> (type they stand for, values)."""
    keys: list[DraftKey] = field(default_factory=list)

    def read(self, item: list[Piece]) -> bool:
        """Read one item, whichever it is; whether it is understood."""
        if is_constraint(item):
            self._constraint(item)
        elif item[0].is_name:
            self._column(item)
        else:
            return False
        return True

    def _column(self, item: list[Piece]) -> None:
        end = 1 + _type_length(item[1:])
        column = DraftColumn(self.rename(item[0]), sql_type=joined(item[1:end]))
        column.label = label_from_name(item[0].text)
        self._resolve_type(column, item[1:end])
        self.table.columns.append(column)
        index = end
        while index < len(item):
            word = item[index].word
            if word == "PRIMARY":
                column.primary_key = True
            elif word == "REFERENCES":
                self._reference([column.name], item[index + 1 : index + _REFERENCE_PIECES])
            elif word == "COMMENT":
                comment = next(
                    (piece.text for piece in item[index + 1 : index + 3] if piece.kind == "string"), ""
                )
                describe(column, comment)
            elif word in ("CHECK", "OPTIONS") and is_symbol(item, index + 1, "("):
                last = closing(item, index + 1) or len(item)
                inner = item[index + 2 : last]
                if word == "CHECK":
                    self._check(inner)
                else:
                    self._options(column, inner)
                index = last
            elif is_symbol(item, index, "("):
                index = closing(item, index) or len(item)
            index += 1

    def _resolve_type(self, column: DraftColumn, pieces: list[Piece]) -> None:
        if pieces and pieces[0].word in ("ENUM", "SET") and is_symbol(pieces, 1, "("):
            column.values = [piece.text for piece in pieces if piece.kind == "string"]
        # A user-defined type may be written with its namespace: public.mood.
        names = [piece.text for piece in pieces if piece.is_name]
        if names and (domain := self.domains.get(fold(names[-1]))):
            column.type, column.values = domain[0], list(domain[1])

    def _options(self, column: DraftColumn, inner: list[Piece]) -> None:
        for option in split_list(inner):
            if option[0].word == "DESCRIPTION" and option[-1].kind == "string":
                describe(column, option[-1].text)

    def _reference(self, columns: list[str], pieces: list[Piece]) -> None:
        """``pieces`` follow REFERENCES: a table name, maybe dotted, maybe with columns."""
        index = 0
        while is_symbol(pieces, index + 1, "."):
            index += 2
        parts = pieces[: index + 1 : 2]
        if index >= len(pieces) or not pieces[index].is_name:
            return
        references = self.names_in_brackets(pieces, index + 1)
        parent = DraftTable(self.rename(parts[-1]), namespace=namespace_of(parts, self.rename))
        self.keys.append(DraftKey(self.table.full_name, columns, parent.full_name, references))

    def names_in_brackets(self, pieces: list[Piece], opening: int) -> list[str]:
        """The first name of each item of the list opening at ``opening``: a, b of ``(a ASC, b(10))``."""
        if not is_symbol(pieces, opening, "("):
            return []
        items = split_list(pieces[opening + 1 : closing(pieces, opening)])
        return [self.rename(item[0]) for item in items if item[0].is_name]

    def _constraint(self, item: list[Piece]) -> None:
        words = [piece.word for piece in item]
        start = 2 if words[0] == "CONSTRAINT" else 0
        if words[start : start + 1] and words[start] not in _CONSTRAINT_WORDS and start:
            start = 1  # CONSTRAINT without a name
        opening = next((index for index in range(start, len(item)) if is_symbol(item, index, "(")), len(item))
        kind = words[start] if start < len(words) else ""
        if kind == "PRIMARY":
            self.table.primary_key = self.names_in_brackets(item, opening)
        elif kind == "FOREIGN":
            end = closing(item, opening) if opening < len(item) else None
            if end is not None and words[end + 1 : end + 2] == ["REFERENCES"]:
                self._reference(self.names_in_brackets(item, opening), item[end + 2 :])
        elif kind == "CHECK" and opening < len(item):
            self._check(item[opening + 1 : closing(item, opening)])

    def _check(self, inner: list[Piece]) -> None:
        """Take ``column IN ('a', 'b')`` for the small domain of that column.

        Any other condition says nothing to us.
        """
        for _ in range(_CHECK_BRACKETS):
            if is_symbol(inner, 0, "(") and closing(inner, 0) == len(inner) - 1:
                inner = inner[1:-1]
        if (
            len(inner) < 5
            or not inner[0].is_name
            or inner[1].word != "IN"
            or closing(inner, 2) != len(inner) - 1
        ):
            return
        items = split_list(inner[3:-1])
        values = [_literal(item) for item in items]
        if any(value is None for value in values):
            return
        for column in self.table.columns:
            if fold(column.name) == fold(self.rename(inner[0])):
                column.values = values


def namespace_of(parts: list[Piece], rename: Callable[[Piece], str]) -> str:
    """The namespace in a dotted name; empty where there is none, or one that databases take for granted."""
    name = rename(parts[-2]) if len(parts) > 1 else ""
    return "" if fold(name) in USUAL_NAMESPACES["sqlite"] else name


def describe(item: DraftColumn | DraftTable, comment: str) -> None:
    """Give an item the comment that the database has for it: a Chinese one often is its name in words, or explains codes.

    What has a Chinese name keeps it.
    """
    from fastsql.schema.comment_codes import codes_of  # of what has comments

    codes = codes_of(comment) if isinstance(item, DraftColumn) else None
    label = label_from_comment(comment if codes is None else codes.before)
    if not is_chinese(item.name):
        item.label = label or item.label
    item.description = "" if item.label == comment.strip() else comment
    if codes is not None and isinstance(item, DraftColumn):
        _explain(item, codes)


def _explain(column: DraftColumn, codes: Codes) -> None:
    """Give a column the codes that its comment explains; numbers where it holds numbers."""
    are_numbers = classify_type(column.type or column.sql_type) == "number"
    if are_numbers and not all(code.isdigit() for code, _ in codes.named):
        return
    named = [(int(code) if are_numbers else code, word) for code, word in codes.named]
    column.values = column.values or [code for code, _ in named]
    column.value_synonyms = column.value_synonyms or [(code, [word]) for code, word in named]


_CONSTRAINT_WORDS = frozenset({"PRIMARY", "FOREIGN", "UNIQUE", "CHECK", "EXCLUDE", "NOT", "KEY", "INDEX"})


def is_constraint(item: list[Piece]) -> bool:
    """Whether an item is a table constraint or index, and not a column that has such a name (``key TEXT``)."""
    word = item[0].word
    following = item[1].word if len(item) > 1 else ""
    bracket = is_symbol(item, 1, "(")
    if word in ("PRIMARY", "FOREIGN"):
        return following == "KEY"
    if word == "CHECK":
        return bracket
    if word == "UNIQUE":
        return (
            bracket
            or following in ("KEY", "INDEX", "CLUSTERED", "NONCLUSTERED", "NULLS")
            or is_symbol(item, 2, "(")
        )
    if word == "CONSTRAINT":
        return any(piece.word in _CONSTRAINT_WORDS for piece in item[1:3])
    if word in ("KEY", "INDEX", "FULLTEXT", "SPATIAL"):
        # An index lists columns; a type of this look has sizes or strings in its brackets.
        opening = next((index for index in range(1, min(len(item), 6)) if is_symbol(item, index, "(")), None)
        return opening is not None and opening + 1 < len(item) and item[opening + 1].kind in ("word", "name")
    if word in ("EXCLUDE", "PERIOD", "SUPPLEMENTAL", "LIKE", "PROJECTION"):
        return following in ("USING", "FOR", "LOG") or word in ("LIKE", "PROJECTION")
    return False


def _type_length(pieces: list[Piece]) -> int:
    """How many pieces belong to the type at the start of ``pieces``."""
    index = 0
    while index < len(pieces):
        word = pieces[index].word
        following = pieces[index + 1].word if index + 1 < len(pieces) else ""
        if word in _AFTER_TYPE or (word == "CHARACTER" and following == "SET"):
            break
        if word == "WITH" and following not in ("TIME", "LOCAL"):
            break
        if is_symbol(pieces, index, "="):
            break
        index = (closing(pieces, index) or len(pieces)) if is_symbol(pieces, index, "(") else index
        index += 1
    return min(index, len(pieces))


def _literal(item: list[Piece]) -> Value | None:
    sign = -1 if is_symbol(item, 0, "-") else 1
    item = item[1:] if sign < 0 else item
    if len(item) != 1:
        return None
    if item[0].kind == "string":
        return item[0].text if sign > 0 else None
    if item[0].kind == "number":
        try:
            return sign * int(item[0].text)
        except ValueError:
            return sign * float(item[0].text)
    return None
