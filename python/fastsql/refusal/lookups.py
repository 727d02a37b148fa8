"""Literals that no dictionary can vouch for, and the queries that ask a database whether any row holds them.

A dictionary knows no keys, though it may know how they are written, and no column that is too large to be read. What a query
compares with one of these exists or does not; one row tells, and an index finds it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.grammar.program import ColumnRef, Literal, Production, Program, TableRef
from fastsql.refusal.suggestions import Span, UnknownValue
from fastsql.refusal.texts import quoted, sentence
from fastsql.refusal.values import equated

if TYPE_CHECKING:
    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema

_EQUALS = ("eq", "in_list", "also")
_READ = ("span", "quoted", "number", "ordinal")
"""Provenances of literals that were read from the question alone."""


@dataclass(frozen=True)
class LookUp:
    """A literal that a column of the schema is to equal, as it stands in the question."""

    literal: Literal
    column: int
    span: Span

    def program(self, schema: Schema) -> Program:
        """A query of one row that holds it."""
        column = ColumnRef(self.column, 0)
        equal = (TableRef(schema.columns[self.column].table), Production("eq"), column, self.literal)
        return (*equal, column, Production("limit"), Literal(1), Production("end"))

    def told(self, schema: Schema, language: str) -> UnknownValue:
        """That no row holds it."""
        column, words = schema.columns[self.column], str(self.literal.value)
        text = sentence(
            language,
            "no row",
            table=schema.table_name(column.table),
            column=column.name,
            words=quoted(language, words) if isinstance(self.literal.value, str) else words,
        )
        return UnknownValue(text, words, self.span, schema.qualified_name(self.column))


def look_ups(program: Program, schema: Schema, dictionary: ValueDictionary | None) -> Iterator[LookUp]:
    """Literals of a program that a key or a text column equals of which `dictionary` does not have all values; each once."""
    seen: set[tuple[object, int]] = set()
    for literal, column in equated(program, _EQUALS):
        known_by_form = dictionary is not None and column in dictionary.forms
        is_read = literal.provenance in _READ or known_by_form
        if literal.span is None or not is_read or not _is_looked_up(schema, column):
            continue
        if (dictionary is None or column not in dictionary.whole) and (literal.value, column) not in seen:
            seen.add((literal.value, column))
            yield LookUp(literal, column, literal.span)


def _is_looked_up(schema: Schema, column: int) -> bool:
    """Whether a column names things: amounts and times are not asked for one by one."""
    return (
        schema.columns[column].type == "text"
        or schema.key_groups[column] >= 0
        or column in schema.unique_columns
    )
