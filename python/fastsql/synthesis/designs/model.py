"""What a design says of a schema before anything has a name of SQL: words, and what the columns hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from fastsql.errors import FastSQLError
from fastsql.profile.model import Kind
from fastsql.schema.model import Value
from fastsql.synthesis.contents.fillings import Drawn
from fastsql.synthesis.schema.chinese import nouns


class DesignError(FastSQLError):
    """A design that cannot be read, or of which no schema can be made."""


@dataclass(frozen=True)
class Key:
    """The primary key; `pattern`: what one looks like, empty for a number."""

    pattern: str = ""


@dataclass(frozen=True)
class Reference:
    """A foreign key to the table of a design that is called `table`; `optional`: it may be empty."""

    table: str
    optional: bool = False


@dataclass(frozen=True)
class Held:
    """What a column holds that is no key."""

    drawn: Drawn
    kind: Kind
    type: str
    """ "integer", "real", "text", "day", "time" or "flag"."""
    unit: str = ""
    empty: float = 0.0
    spoken: Mapping[Value, str] = field(default_factory=dict)
    """What coded values are called: "male" is M."""


@dataclass(frozen=True)
class DesignColumn:
    """A column: its names in words, the usual one first."""

    names: tuple[str, ...]
    holds: Key | Reference | Held
    description: str = ""


@dataclass(frozen=True)
class DesignTable:
    """A table; `optional`: some hospitals do without."""

    names: tuple[str, ...]
    columns: tuple[DesignColumn, ...]
    optional: bool = False

    @property
    def references(self) -> frozenset[str]:
        """The tables that it refers to."""
        return frozenset(one.holds.table for one in self.columns if isinstance(one.holds, Reference))


@dataclass(frozen=True)
class Design:
    """A family of schemas."""

    name: str
    tables: tuple[DesignTable, ...]

    @property
    def is_chinese(self) -> bool:
        """Whether its things are called by Chinese names."""
        return nouns.is_chinese(self.tables[0].names[0])
