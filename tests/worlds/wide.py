"""Tables by number, as many and as wide as a bound or a benchmark wants them."""

from __future__ import annotations


def numbered_columns(count: int, kind: str = "INT") -> dict[str, str]:
    """Columns c0, c1, ... of one type, for `Schema.from_dict`."""
    return {f"c{number}": kind for number in range(count)}


def numbered_tables(tables: int, columns: int, kind: str = "INT") -> dict[str, dict[str, str]]:
    """Tables t0, t1, ... of so many columns each, for `Schema.from_dict`."""
    return {f"t{number}": numbered_columns(columns, kind) for number in range(tables)}
