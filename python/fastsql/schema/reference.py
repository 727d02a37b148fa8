"""Reference tables: terminologies, such as the names of diagnoses, of which rows may be known outside of the database.

What is in them says nothing of anybody. A table is one only where a person marked it, and never where it refers to a table
that is not marked: what belongs to an admission belongs to a patient.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from fastsql.schema.findings import Findings
    from fastsql.schema.model import Structure

    AnySchema = TypeVar("AnySchema", bound=Structure)


def without_referring(schema: AnySchema, findings: Findings) -> AnySchema:
    """The schema without the marks of tables whose foreign keys lead, however far, to a table that is not marked.

    Each is a finding: SchemaError where these are errors, a warning else.
    """
    marked = {index for index, table in enumerate(schema.tables) if table.reference}
    ends = [
        (schema.columns[key.columns[0]].table, schema.columns[key.references[0]].table)
        for key in schema.foreign_keys
    ]
    while found := next(((child, to) for child, to in ends if child in marked and to not in marked), None):
        child, to = found
        marked.remove(child)
        findings.note(
            f"table {schema.table_name(child)!r}",
            f"it refers to {schema.table_name(to)!r}, which is no reference table, so it cannot be one",
        )
    return replace(
        schema,
        tables=tuple(
            replace(table, reference=index in marked) if table.reference else table
            for index, table in enumerate(schema.tables)
        ),
    )
