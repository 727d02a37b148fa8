"""Comments behind the columns of CREATE TABLE: ``age INT, -- in years``.

A comment describes the column that ends on its line, or, behind the opening bracket, the table. What stands on a line of
its own may as well be a heading or a column that was taken out, and is passed over.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from fastsql.schema.ddl_items import describe, is_constraint
from fastsql.schema.ddl_tokens import Piece, closing, is_symbol, split_list
from fastsql.schema.names import fold

if TYPE_CHECKING:
    from fastsql.schema.draft import DraftTable

_COMMENT = re.compile(r"[ \t]*,?[ \t]*(?:--+[ \t]*([^\n]*)|/\*+([^\n]*?)\*+/[ \t]*(?=,?[ \t]*(?:\n|$)))")
_MARKS = " \t\r-=*#/"
_SAYS_SOMETHING = re.compile(r"[^\W\d_]{2}")


def describe_by_comments(table: DraftTable, text: str, pieces: Sequence[Piece], opening: int) -> None:
    """Give a table and its columns the comments that `text` has for them, where they have no description yet.

    `pieces[opening]` is the bracket of the table's columns.
    """
    end = closing(list(pieces), opening)
    if end is None:
        return
    said = _behind(text, pieces[opening].end)
    if said and not table.description:
        describe(table, said)
    columns = {fold(column.name): column for column in table.columns}
    for item, said in _items(text, list(pieces[opening + 1 : end])):
        column = columns.get(fold(item[0].text))
        if column is not None and not column.description and not is_constraint(item):
            describe(column, said)


def _items(text: str, pieces: list[Piece]) -> Iterator[tuple[list[Piece], str]]:
    """Items of a list with the comment behind each; of several on a line only the last can have one."""
    for item in split_list(pieces):
        if item[0].is_name and (said := _behind(text, item[-1].end)):
            yield item, said


def _behind(text: str, place: int) -> str:
    """The comment behind a place on the same line; empty where there is none, or it says nothing."""
    found = _COMMENT.match(text, place)
    said = (found[1] or found[2] or "").strip(_MARKS) if found else ""
    return said if _SAYS_SOMETHING.search(said) else ""


def comments_of_table(sql: str, table: DraftTable) -> None:
    """The same for a table of SQLite, whose file keeps the text that made it. A text that is not understood says nothing."""
    from fastsql.errors import SchemaError
    from fastsql.schema.ddl_tokens import tokenize

    try:
        pieces = tokenize(sql, "sqlite")
    except SchemaError:
        return
    opening = next((place for place in range(len(pieces)) if is_symbol(pieces, place, "(")), None)
    if opening is not None:
        describe_by_comments(table, sql, pieces, opening)
