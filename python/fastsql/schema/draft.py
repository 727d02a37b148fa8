"""The meeting point of all sources: a schema by names, as found, before anything is checked.

A reader (DDL, SQLite, SQLAlchemy, Spider, dict) only says what stands in its source; :func:`assemble` decides
what of it is usable. So leniency, limits and warnings are the same whatever a schema comes from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from fastsql.schema.model import is_default
from fastsql.schema.sqltypes import classify_type


@dataclass
class DraftColumn:
    """A column as found."""

    name: str
    sql_type: str = ""
    type: str | None = None
    """A type class, where the source gives one; else it is derived from ``sql_type``."""
    label: str = ""
    primary_key: bool = False
    synonyms: list[str] = field(default_factory=list)
    description: str = ""
    values: list[Any] = field(default_factory=list)
    value_synonyms: list[tuple[Any, list[str]]] = field(default_factory=list)

    @property
    def type_class(self) -> str | None:
        """Its type class, given or derived; None where neither is known."""
        return self.type or classify_type(self.sql_type)


@dataclass
class DraftTable:
    """A table as found."""

    name: str
    columns: list[DraftColumn] = field(default_factory=list)
    primary_key: list[str] = field(default_factory=list)
    """Names in key order; empty where only the columns' flags tell."""
    label: str = ""
    synonyms: list[str] = field(default_factory=list)
    description: str = ""
    namespace: str = ""
    reference: bool = False

    @property
    def full_name(self) -> str:
        """The name with its namespace, by which keys may refer to it."""
        return f"{self.namespace}.{self.name}" if self.namespace else self.name


@dataclass
class DraftKey:
    """A foreign key; no ``references`` means the primary key of ``parent``.

    Tables are named with their namespaces, if any.
    """

    table: str
    columns: list[str]
    parent: str
    references: list[str] = field(default_factory=list)


@dataclass
class DraftConstant:
    """A named constant as found, bound to a (table, column) or to none."""

    name: str
    value: Any
    label: str = ""
    column: tuple[str, str] | None = None


@dataclass
class Draft:
    """A whole schema as found."""

    name: str
    dialect: str = "sqlite"
    default_namespace: str = ""
    """Empty: the usual one of the dialect."""
    tables: list[DraftTable] = field(default_factory=list)
    foreign_keys: list[DraftKey] = field(default_factory=list)
    constants: list[DraftConstant] = field(default_factory=list)
    warnings: list[tuple[str, str]] = field(default_factory=list)
    """(item, what is odd about it) pairs that the reader itself noticed."""
    notes: list[tuple[str, str]] = field(default_factory=list)
    """The same of what is no fault of the schema, such as values that took too long to read: never an error."""
    left_out: list[DraftTable] = field(default_factory=list)
    """Tables that are there and were not chosen: keys to them are left out without a word."""

    def shown(self, table: DraftTable) -> str:
        """The name of a table as SQL writes it."""
        usual = is_default(table.namespace, self.default_namespace, self.dialect)
        return table.name if usual else table.full_name

    def may_be_flag(self, table: DraftTable, column: DraftColumn) -> bool:
        """Whether a column holds numbers, and tells no rows apart and refers to none."""
        refers = any(key.table == table.full_name and column.name in key.columns for key in self.foreign_keys)
        return column.type_class == "number" and not refers and column.name not in table.primary_key


FLAG = (0, 1)
"""What a column of numbers holds that says no or yes."""


def flag(values: Iterable[object]) -> list[Any]:
    """The values of a column that holds the whole numbers 0 and 1, and no others; else none: they are no categories."""
    found = list(values)
    whole = all(isinstance(value, int) for value in found)
    return list(FLAG) if whole and set(found) == set(FLAG) else []
