"""What kind of thing a column holds, as far as a schema tells: what may stand for what in a query that makes sense."""

from __future__ import annotations

from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.links import identifying_columns

KEY, REFERENCE, CODE, AMOUNT, TIME, YEAR = "key", "reference", "code", "amount", "time", "year"
"""Kinds of columns: what tells the rows of its table apart; other keys of joins; other identifiers and codes, which are
only equal or not; what can be added up; moments; what is a date, and no moment. The others are the profile's: "category",
"name", "text", "other"."""
TEXTS = ("category", "name", "text")
"""Kinds that may stand for one another where a schema has no column of the kind that is asked for."""
ORDERED = (AMOUNT, TIME, YEAR)
"""Kinds of which one value is more than another."""


def column_kinds(
    schema: Schema, profile: Profile | None = None, contents: Contents | None = None
) -> tuple[str, ...]:
    """The kind of each column; `profile`: one that people have edited, otherwise what the schema's names suggest.

    `contents`: rows that tell which keys do not tell them apart.
    """
    profile = profile or schema.profile
    references = {column for column, group in enumerate(schema.key_groups) if group >= 0}
    references |= {column for table in schema.tables for column in table.primary_key}
    identifying = identifying_columns(schema, contents)
    kinds = []
    for number, (column, known) in enumerate(zip(schema.columns, profile.columns, strict=True)):
        if number in references:
            kinds.append(KEY if number in identifying else REFERENCE)
        elif known.kind in ("amount", "measure"):
            kinds.append(AMOUNT if known.aggregatable and column.type == "number" else CODE)
        elif known.kind == "date":
            kinds.append(TIME if column.type == "time" else YEAR)
        elif known.kind in TEXTS and column.type == "text":
            kinds.append(known.kind)
        else:
            kinds.append("other" if known.kind == "other" else CODE)
    return tuple(kinds)


def may_stand_for(kind: str, asked: str) -> bool:
    """Whether a column of a kind may stand where a template has one of another."""
    return kind == asked or (kind in TEXTS and asked in TEXTS)
