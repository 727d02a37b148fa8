"""A table as several (CSS, ACL 2023, section 3.5): one for each value of a column of few values, which is then no more."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.model import Value
from fastsql.schema.names import quote
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.naming import part_label, part_names, table_names
from fastsql.synthesis.extension.operation import Extended
from fastsql.synthesis.extension.reading import NAMING
from fastsql.synthesis.extension.rebuild import NewTable, rebuilt, select_old, unchanged
from fastsql.synthesis.extension.split_queries import SplitRewriter
from fastsql.synthesis.extension.trees import table

MOST_PARTS = 5
"""Tables that one is split into at most."""
_LONGEST = 40
"""Characters of a value that names a part; what is longer is no code."""


@dataclass(frozen=True)
class SplitSite:
    """A column by whose values a table can be split."""

    column: int
    values: tuple[Value, ...]
    operation = "split"

    def describe(self, schema: Schema) -> str:
        """As "split: patient by sex, 2 parts": values stay out of it."""
        owner = schema.table_name(schema.columns[self.column].table)
        return f"split: {owner} by {schema.columns[self.column].name}, {len(self.values)} parts"

    def tables(self, schema: Schema) -> frozenset[int]:
        """The one that is split."""
        return frozenset((schema.columns[self.column].table,))

    def apply(self, schema: Schema) -> Extended:
        """The schema with the parts in the table's place. Raises SynthesisError."""
        number = schema.columns[self.column].table
        old, column = schema.tables[number], schema.columns[self.column]
        whole = unchanged(schema, number)
        kept = tuple(one for one in whole.columns if one.origins[0] != self.column)
        held = [one.origins[0] for one in kept]
        names = part_names(old, self.values, table_names(schema, (number,)))
        parts = [
            NewTable(
                replace(
                    old,
                    name=name,
                    label=part_label(old, column, value),
                    synonyms=tuple(dict.fromkeys((old.label, *old.synonyms))),
                ),
                kept,
                select_old(schema, number, held, f"{quote(column.name)} IS {literal(value).sql('sqlite')}"),
                tuple(held.index(key) for key in old.primary_key),
            )
            for name, value in zip(names, self.values, strict=True)
        ]
        tables = [
            made
            for other in range(len(schema.tables))
            for made in (parts if other == number else [unchanged(schema, other)])
        ]
        view = _View(schema, self, tuple(names))
        new = rebuilt(schema, tables)
        rewriter = SplitRewriter(schema, self.column, self.values, tuple(names), view)
        return Extended(self, new, tuple(one.rows for one in tables), self.tables(schema), view, rewriter)


def split_sites(schema: Schema, facts: Facts) -> Iterator[SplitSite]:
    """The columns of few values: categories and codes that are in no key, are never NULL, and repeat."""
    in_keys = {end for key in schema.foreign_keys for end in (*key.columns, *key.references)}
    for number, column in enumerate(schema.columns):
        if column.primary_key or number in in_keys or len(schema.tables[column.table].columns) < 2:
            continue
        if column.type not in ("text", "number", "boolean", "other"):
            continue
        if schema.profile.columns[number].kind not in ("category", "code") and not column.values:
            continue
        if facts.missing([number]):
            continue
        values = facts.values(number, MOST_PARTS)
        if values is None or len(values) < 2 or facts.rows(column.table) < 2 * len(values):
            continue
        if all(0 < len(str(value).strip()) <= _LONGEST for value in values):
            yield SplitSite(number, values)


def literal(value: Value) -> exp.Expr:
    """A value as SQL writes it."""
    return exp.Literal.string(value) if isinstance(value, str) else exp.convert(value)


@dataclass(frozen=True)
class _View:
    """The table as it was: its parts under each other, the column a constant of each."""

    schema: Schema
    site: SplitSite
    names: tuple[str, ...]

    def __call__(self, number: int, columns: Sequence[int]) -> exp.Query:
        return self.of(self.site.values, columns)

    def of(self, values: Sequence[Value], columns: Sequence[int]) -> exp.Query:
        """The rows of some parts."""
        parts = [
            self._part(name, value, columns)
            for name, value in zip(self.names, self.site.values, strict=True)
            if value in values
        ]
        found: exp.Query = parts[0]
        for part in parts[1:]:
            found = exp.union(found, part, distinct=False, copy=False)
        return found

    def _part(self, name: str, value: Value, columns: Sequence[int]) -> exp.Select:
        items: list[exp.Expr] = []
        for column in columns:
            called = self.schema.columns[column].name
            if column == self.site.column:
                items.append(exp.Alias(this=literal(value), alias=NAMING.identifier(called)))
            else:
                items.append(NAMING.column(called, name))
        return exp.select(*items).from_(table(name))
