"""What the names of a schema say."""

from __future__ import annotations

from dataclasses import dataclass
from weakref import WeakKeyDictionary

from fastsql.linking.relations import SchemaLinks, split_words
from fastsql.schema import Schema


@dataclass(frozen=True)
class SchemaNames:
    """The words of a schema's names, and its columns.

    Attributes:
        words: those of all names, labels and synonyms.
        of_column: those of each column, in the schema's order.
        columns: "table.column" of each, in small letters.
    """

    words: frozenset[str]
    of_column: tuple[frozenset[str], ...]
    columns: tuple[str, ...]

    def known(self, columns: frozenset[str]) -> float:
        """The share of this schema's columns that are among `columns`; 0 where it has none."""
        return sum(column in columns for column in self.columns) / max(len(self.columns), 1)


_kept: WeakKeyDictionary[SchemaLinks, SchemaNames] = WeakKeyDictionary()


def schema_names(schema: Schema) -> SchemaNames:
    """The names of a schema."""
    tables = [_words(table.name, table.label, *table.synonyms) for table in schema.tables]
    columns = tuple(_words(column.name, column.label, *column.synonyms) for column in schema.columns)
    return SchemaNames(
        frozenset().union(*tables, *columns),
        columns,
        tuple(schema.qualified_name(index).lower() for index in range(len(columns))),
    )


def names_of(links: SchemaLinks) -> SchemaNames:
    """The names of the schema of `links`, read once and kept as long as these are."""
    found = _kept.get(links)
    if found is None:
        found = _kept[links] = schema_names(links.schema)
    return found


def _words(*texts: str) -> frozenset[str]:
    return frozenset(word for text in texts for word, _, _ in split_words(text))
