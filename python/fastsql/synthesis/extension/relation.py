"""A relation table between two tables that a key links (CSS, ACL 2023, section 3.5): the key leaves the child for it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from fastsql.schema import Schema
from fastsql.schema.model import Table
from fastsql.schema.names import quote
from fastsql.synthesis.extension.facts import Facts
from fastsql.synthesis.extension.naming import joined_name, relation_label, table_names
from fastsql.synthesis.extension.operation import Extended
from fastsql.synthesis.extension.reading import NAMING
from fastsql.synthesis.extension.rebuild import NewColumn, NewTable, rebuilt, select_old, unchanged
from fastsql.synthesis.extension.relation_queries import RelationRewriter
from fastsql.synthesis.extension.trees import equal, table


@dataclass(frozen=True)
class RelationSite:
    """A foreign key that can get a table of its own: `moved` columns leave the child.

    `complete` says that every row of the child refers to something, so that none is without a row of the relation.
    """

    key: int
    moved: tuple[int, ...]
    complete: bool
    operation = "relation"

    def describe(self, schema: Schema) -> str:
        """As "relation: concert(singer_id) -> singer"."""
        key = schema.foreign_keys[self.key]
        child, parent = (schema.columns[ends[0]].table for ends in (key.columns, key.references))
        names = ", ".join(schema.columns[column].name for column in key.columns)
        return f"relation: {schema.table_name(child)}({names}) -> {schema.table_name(parent)}"

    def tables(self, schema: Schema) -> frozenset[int]:
        """The child."""
        return frozenset((schema.columns[self.moved[0]].table,))

    def apply(self, schema: Schema) -> Extended:
        """The schema with the relation table behind all others. Raises SynthesisError."""
        key = schema.foreign_keys[self.key]
        child, parent = schema.columns[key.columns[0]].table, schema.columns[key.references[0]].table
        old = schema.tables[child]
        held = tuple(dict.fromkeys((*old.primary_key, *key.columns)))
        tables = [unchanged(schema, number) for number in range(len(schema.tables))]
        kept = tuple(one for one in tables[child].columns if one.origins[0] not in self.moved)
        tables[child] = NewTable(
            old,
            kept,
            select_old(schema, child, (one.origins[0] for one in kept)),
            tuple(place for place, one in enumerate(kept) if schema.columns[one.origins[0]].primary_key),
        )
        present = " OR ".join(f"{quote(schema.columns[column].name)} IS NOT NULL" for column in self.moved)
        made = _table(schema, old, schema.tables[parent])
        relation = NewTable(
            made,
            tuple(NewColumn(schema.columns[column], (column,)) for column in held),
            select_old(schema, child, held, present),
            tuple(range(len(old.primary_key))),
            frozenset((self.key,)),
        )
        new = rebuilt(schema, [*tables, relation], {len(tables): (child, old.primary_key)})
        view = _View(schema, child, made.name, self.moved)
        rewriter = RelationRewriter(schema, self, child, made.name, view)
        rows = tuple(one.rows for one in (*tables, relation))
        return Extended(self, new, rows, self.tables(schema), view, rewriter)


def relation_sites(schema: Schema, facts: Facts) -> Iterator[RelationSite]:
    """The foreign keys that can get a table: the child has a key that holds, and loses columns that nothing else needs."""
    for number, key in enumerate(schema.foreign_keys):
        child = schema.columns[key.columns[0]].table
        primary = schema.tables[child].primary_key
        moved = tuple(column for column in key.columns if column not in primary)
        others = (
            end
            for place, other in enumerate(schema.foreign_keys)
            for end in (*(() if place == number else other.columns), *other.references)
        )
        if not primary or not moved or not set(moved).isdisjoint(others):
            continue
        if not facts.rows(child) or not facts.is_key(primary) or facts.dangling(key):
            continue
        missing = facts.missing(moved)
        if missing < facts.rows(child):
            yield RelationSite(number, moved, not missing)


def _table(schema: Schema, child: Table, parent: Table) -> Table:
    name = joined_name((child.name, parent.name), table_names(schema))
    return replace(
        child,
        name=name,
        label=relation_label(child, parent),
        synonyms=(),
        description="",
        reference=child.reference and parent.reference,
    )


@dataclass(frozen=True)
class _View:
    """The child as it was: with the columns that the relation table has now."""

    schema: Schema
    child: int
    relation: str
    moved: tuple[int, ...]

    def __call__(self, number: int, columns: Sequence[int]) -> exp.Query:
        name = self.schema.tables[self.child].name
        held = {column: self.relation if column in self.moved else name for column in columns}
        select = exp.select(
            *(NAMING.column(self.schema.columns[column].name, owner) for column, owner in held.items())
        ).from_(table(name))
        if self.relation in held.values():
            primary = (
                self.schema.columns[column].name for column in self.schema.tables[self.child].primary_key
            )
            same = exp.and_(*(equal(key, name, key, self.relation) for key in primary))
            select.join(table(self.relation), on=same, join_type="LEFT", copy=False)
        return select
