"""Schemas of any width, made of real ones."""

from __future__ import annotations

if __name__ == "__main__":
    from parts import explain

    explain(__file__)

from collections.abc import Sequence
from typing import Any

from fastsql.schema import Schema


def of_width(columns: int, sources: Sequence[Schema]) -> Schema:
    """A schema of exactly so many columns: tables of the first source in their order, then those of the next ones.

    The last table is cut down to the columns that are left to take. Of two tables of one name, the first stays. Foreign keys
    stay where their columns do, and constants that belong to no column. Raises ValueError where the sources have fewer
    columns, or `columns` is less than 1.
    """
    if columns < 1:
        raise ValueError(f"a schema of {columns} columns has none")
    tables: list[dict[str, Any]] = []
    keys: list[dict[str, Any]] = []
    constants: list[dict[str, Any]] = []
    names: set[str] = set()
    left = columns
    for source in sources:
        data = source.to_dict()
        kept: set[tuple[str, str]] = set()
        for table in data["tables"]:
            if not left:
                break
            if table["name"].lower() in names:
                continue
            names.add(table["name"].lower())
            taken = table["columns"][:left]
            left -= len(taken)
            # A composite primary key that lost a column is none.
            complete = len(taken) == len(table["columns"])
            tables.append(
                {name: value for name, value in table.items() if complete or name != "primary_key"}
                | {"columns": taken}
            )
            kept |= {(table["name"], column["name"]) for column in taken}
        keys += [key for key in data["foreign_keys"] if _ends(key) <= kept]
        constants += [constant for constant in data.get("constants", ()) if "column" not in constant]
    if left:
        raise ValueError(f"the sources have {columns - left} columns, not {columns}")
    return Schema.from_dict(
        {"db_id": f"{columns} columns", "tables": tables, "foreign_keys": keys, "constants": constants}
    )


def _ends(key: dict[str, Any]) -> set[tuple[str, str]]:
    """The columns that a foreign key names, each as table and column."""
    here = {(key["table"], column) for column in key["columns"]}
    return here | {(key["parent"], column) for column in key["references"]}
