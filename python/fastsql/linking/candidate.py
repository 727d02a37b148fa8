"""The value candidate: a literal that the question, a dictionary or the schema offers to the SQL."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.schema import Value

KINDS = ("number", "date", "text")
SOURCES = ("number", "ordinal", "date", "quoted", "dictionary", "schema")
IN_PART = 0.2
"""How far a part of a value is from it, as `nearness` tells that of others."""
FORMATS = ("%Y", "%Y-%m", "%Y-%m-%d", "%m", "%m-%d", "%d", "%H:%M", "%Y-%m-%d %H:%M:%S")
"""The strftime formats that a date candidate's value can have."""


@dataclass(frozen=True)
class Candidate:
    """One literal with its provenance.

    `value` is the literal as it will stand in SQL, already normalised: dates are text such as
    ``2100-08``, and ``07`` for the month alone. `span` counts characters of the question,
    ``[start, end)``. `columns` are indices into ``schema.columns`` and are filled for dictionary and
    schema values only; `format` is filled for dates only. `distance` is how far the words of a near match are from the
    value (`nearness`), else 0.
    """

    value: Value
    kind: str
    span: tuple[int, int]
    source: str
    columns: tuple[int, ...] = ()
    format: str = ""
    distance: float = 0.0
