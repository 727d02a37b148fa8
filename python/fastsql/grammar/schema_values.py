"""The literals that stand with a schema, in the order in which actions and the model count them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fastsql.schema import Schema


class SchemaValue(NamedTuple):
    """A literal that stands with the schema: a value of a small domain, or a named constant (`name` is set)."""

    value: str | int | float
    column: int | None
    name: str = ""
    label: str = ""

    @property
    def text(self) -> str:
        """What the model reads of it."""
        return (self.label or self.name.replace("_", " ")) if self.name else str(self.value)


def schema_values(schema: Schema) -> tuple[SchemaValue, ...]:
    """All literals that stand with a schema: every column's values in column order, then the constants."""
    small = [SchemaValue(value, j) for j, column in enumerate(schema.columns) for value in column.values]
    named = [SchemaValue(c.value, c.column, c.name, c.label) for c in schema.constants]
    return tuple(small + named)
