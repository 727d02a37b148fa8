"""Two tables that a key links as one (CSS, ACL 2023, section 3.5): a row for each of the child's, with its parent's columns.

A parent without a child has a row of its own, whose columns of the child are NULL; a child that refers to nothing has NULL
for its parent's.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from fastsql.limits import DEFAULT
from fastsql.schema import Schema
from fastsql.schema.model import Column, ForeignKey, Table
from fastsql.schema.names import fold, quote
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.merge_queries import MergeRewriter
from fastsql.synthesis.extension.naming import joined_name, merged_label, table_names, told_apart
from fastsql.synthesis.extension.operation import Extended
from fastsql.synthesis.extension.reading import NAMING
from fastsql.synthesis.extension.rebuild import NewColumn, NewTable, rebuilt, unchanged
from fastsql.synthesis.extension.trees import not_null, table


@dataclass(frozen=True)
class MergeSite:
    """A foreign key whose two tables can be one.

    `childless`: there are parents that nothing refers to; `orphans`: children that refer to nothing; `once`: no parent has
    two children.
    """

    key: int
    childless: bool
    orphans: bool
    once: bool
    operation = "merge"

    def describe(self, schema: Schema) -> str:
        """As "merge: singer + concert (singer_id)"."""
        key = schema.foreign_keys[self.key]
        child, parent = _tables(schema, key)
        names = ", ".join(schema.columns[column].name for column in key.columns)
        return f"merge: {schema.table_name(parent)} + {schema.table_name(child)} ({names})"

    def tables(self, schema: Schema) -> frozenset[int]:
        """Child and parent."""
        return frozenset(_tables(schema, schema.foreign_keys[self.key]))

    def apply(self, schema: Schema) -> Extended:
        """The schema with the merged table in the parent's place. Raises SynthesisError."""
        key = schema.foreign_keys[self.key]
        child, parent = _tables(schema, key)
        old = schema.tables[child]
        columns = _columns(schema, key)
        made = _table(schema, schema.tables[parent], old, (child, parent))
        places = {origin: place for place, one in enumerate(columns) for origin in one.origins}
        # Rows of parents alone have no key of the child.
        holds = not self.childless and old.primary_key
        merged = NewTable(
            made,
            columns,
            self._rows(schema, key, columns),
            tuple(dict.fromkeys(places[column] for column in old.primary_key)) if holds else (),
        )
        tables = [
            merged if number == parent else unchanged(schema, number)
            for number in range(len(schema.tables))
            if number != child
        ]
        names = {origin: one.column.name for one in columns for origin in one.origins}
        view = _View(self, schema, key, made.name, names)
        rewriter = MergeRewriter(schema, self, key, made.name, names, view)
        new = rebuilt(schema, tables)
        return Extended(self, new, tuple(one.rows for one in tables), self.tables(schema), view, rewriter)

    def _rows(self, schema: Schema, key: ForeignKey, columns: Sequence[NewColumn]) -> str:
        """Children with their parents, then parents without children."""
        child, parent = _tables(schema, key)
        tables = {number: f"old.{quote(schema.tables[number].name)}" for number in (child, parent)}
        same = " AND ".join(
            f"child.{_name(schema, one)} = parent.{_name(schema, other)}"
            for one, other in zip(key.columns, key.references, strict=True)
        )
        both, alone = [], []
        for one in columns:
            # A unified column is the parent's: children refer to nothing else.
            origin = next((o for o in one.origins if schema.columns[o].table == parent), one.origins[0])
            of_parent = schema.columns[origin].table == parent
            both.append(f"{'parent' if of_parent else 'child'}.{_name(schema, origin)}")
            alone.append(f"parent.{_name(schema, origin)}" if of_parent else "NULL")
        query = f"SELECT {', '.join(both)} FROM {tables[child]} AS child LEFT JOIN {tables[parent]} AS parent ON {same}"
        if not self.childless:
            return query
        held, referred = (
            ", ".join(_name(schema, end) for end in ends) for ends in (key.columns, key.references)
        )
        present = " AND ".join(f"{_name(schema, column)} IS NOT NULL" for column in key.columns)
        return (
            f"{query} UNION ALL SELECT {', '.join(alone)} FROM {tables[parent]} AS parent"
            f" WHERE ({referred}) NOT IN (SELECT {held} FROM {tables[child]} WHERE {present})"
        )


def merge_sites(schema: Schema, facts: Facts) -> Iterator[MergeSite]:
    """The foreign keys whose tables can be one: each child has one parent at most, and rows of both can be told again."""
    for number, key in enumerate(schema.foreign_keys):
        child, parent = _tables(schema, key)
        width = len(schema.tables[child].columns) + len(schema.tables[parent].columns)
        if child == parent or width - len(key.columns) > DEFAULT.columns_per_table:
            continue
        if not facts.rows(child) or not facts.is_key(key.references) or facts.dangling(key):
            continue
        missing, childless = facts.missing(key.columns), facts.childless(key)
        primary = schema.tables[child].primary_key
        own = [column for column in primary if column not in key.columns]
        if (childless and not (own and facts.is_key(primary))) or not _comparable(schema, key):
            continue
        # A key that is NULL in part refers to nothing, and would lose its other part to the parent's columns.
        if missing < facts.rows(child) and missing == facts.empty(key.columns):
            yield MergeSite(
                number, bool(childless), bool(missing), not missing and facts.are_different(key.columns)
            )


def _tables(schema: Schema, key: ForeignKey) -> tuple[int, int]:
    return schema.columns[key.columns[0]].table, schema.columns[key.references[0]].table


def _comparable(schema: Schema, key: ForeignKey) -> bool:
    """Whether the ends of a key are of one type each: a text and a number may be equal and yet look different."""
    return all(
        schema.columns[one].type == schema.columns[other].type
        for one, other in zip(key.columns, key.references, strict=True)
    )


def _name(schema: Schema, column: int) -> str:
    return quote(schema.columns[column].name)


def _table(schema: Schema, parent: Table, child: Table, gone: tuple[int, int]) -> Table:
    return replace(
        parent,
        name=joined_name((parent.name, child.name), table_names(schema, gone)),
        label=merged_label(parent, child),
        synonyms=tuple(dict.fromkeys((parent.label, child.label, *parent.synonyms, *child.synonyms))),
        description=" ".join(filter(None, (parent.description, child.description))),
        reference=parent.reference and child.reference,
    )


def _columns(schema: Schema, key: ForeignKey) -> tuple[NewColumn, ...]:
    """The parent's columns, its key the child's, too; then the child's others, renamed where the parent has the name."""
    child, parent = (schema.tables[number] for number in _tables(schema, key))
    partners = dict(zip(key.references, key.columns, strict=True))
    found = []
    for column in parent.columns:
        one, partner = schema.columns[column], partners.get(column)
        if partner is None:
            found.append(NewColumn(one, (column,)))
        else:
            found.append(NewColumn(_unified(one, schema.columns[partner]), (column, partner)))
    labels = {one.column.label for one in found}
    taken = {fold(one.column.name) for one in found}
    others = [column for column in child.columns if column not in key.columns]
    own = [schema.columns[column].name for column in others]
    for column in others:
        one = schema.columns[column]
        if fold(one.name) in taken:
            one = replace(one, name=joined_name((one.name, child.name), (*own, *taken)))
        if one.label in labels:
            one = replace(one, label=told_apart(one.label, child), synonyms=(one.label, *one.synonyms))
        taken.add(fold(one.name))
        found.append(NewColumn(one, (column,)))
    return tuple(found)


def _unified(one: Column, other: Column) -> Column:
    """The parent's key column, with what the child's was called."""
    words = (other.label, *one.synonyms, *other.synonyms)
    return replace(
        one,
        synonyms=tuple(word for word in dict.fromkeys(words) if word != one.label),
        description=" ".join(dict.fromkeys(filter(None, (one.description, other.description)))),
    )


@dataclass(frozen=True)
class _View:
    """Parent or child as it was. A parent comes with its key, whether asked for or not: it tells its rows apart."""

    site: MergeSite
    schema: Schema
    key: ForeignKey
    merged: str
    names: dict[int, str]

    def __call__(self, number: int, columns: Sequence[int]) -> exp.Query:
        child, _ = _tables(self.schema, self.key)
        held = list(columns)
        if number != child and not self.site.once:
            held += [column for column in self.key.references if column not in held]
        items = []
        for column in held:
            item: exp.Expr = NAMING.column(self.names[column], self.merged)
            name = self.schema.columns[column].name
            items.append(
                item if name == self.names[column] else exp.Alias(this=item, alias=NAMING.identifier(name))
            )
        select = exp.select(*items).from_(table(self.merged))
        if guard := self.guard(number, self.merged):
            select.where(guard, copy=False)
        if number == child or self.site.once:
            return select
        return select.distinct(copy=False)

    def guard(self, number: int, alias: str) -> exp.Expr | None:
        """What tells the rows of a table from those of the other alone; None where there are no others."""
        child, _ = _tables(self.schema, self.key)
        if number == child:
            own = (
                column for column in self.schema.tables[child].primary_key if column not in self.key.columns
            )
            return not_null(self.names[next(own)], alias) if self.site.childless else None
        return not_null(self.names[self.key.references[0]], alias) if self.site.orphans else None
