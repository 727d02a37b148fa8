"""The rows of a result, and what becomes of them: tuples, dictionaries, a data frame, a notebook's table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date, time, timedelta
from decimal import Decimal
from typing import TYPE_CHECKING, Any, TypeAlias

from fastsql.errors import ExecutionError

if TYPE_CHECKING:
    import pandas as pd

Cell: TypeAlias = "str | int | float | bytes | Decimal | date | time | timedelta | None"
"""A value of a result: what drivers give for SQL's plain types. A moment is a `datetime`, which is a `date`."""


@dataclass(frozen=True)
class Rows:
    """Rows of a result in the query's order. Iterates over them; its length is their number.

    Attributes:
        columns: their names.
        rows: one tuple of cells a row.
        truncated: whether there were more rows than the row limit.
        cut: how many text or binary cells were longer than the cell limit, and lost their ends.
        repaired: how many text cells of SQLite were not UTF-8, and lost what was not.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]
    truncated: bool = False
    cut: int = 0
    repaired: int = 0

    def __iter__(self) -> Iterator[tuple[Cell, ...]]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def unique_columns(self) -> tuple[str, ...]:
        """The names of the columns, each once: where a query gives a name several times, "name", "name_2", "name_3"."""
        taken = set(self.columns)
        names: list[str] = []
        for name in self.columns:
            unique, number = name, 2
            while unique in names or (unique != name and unique in taken):
                unique, number = f"{name}_{number}", number + 1
            names.append(unique)
        return tuple(names)

    def to_dicts(self) -> list[dict[str, Cell]]:
        """One dictionary a row, by :attr:`unique_columns`: no cell is lost where a query gives a name twice."""
        names = self.unique_columns
        return [dict(zip(names, row, strict=True)) for row in self.rows]

    def to_pandas(self) -> pd.DataFrame:
        """A data frame with :attr:`unique_columns`.

        Whole numbers keep every digit where cells are NULL, too (pandas' `Int64`), and so do decimals, which stay objects.

        Raises:
            ExecutionError: pandas is not installed.
        """
        try:
            import pandas as pd
        except ImportError as error:
            raise ExecutionError(
                "the package 'pandas' is not installed", remedy="pip install 'fastsql[pandas]'"
            ) from error
        columns = zip(*self.rows, strict=True) if self.rows else [() for _ in self.columns]
        return pd.DataFrame(
            {name: _series(cells) for name, cells in zip(self.unique_columns, columns, strict=True)}
        )

    def _repr_html_(self) -> str:
        """For notebooks: the first rows as a table."""
        from fastsql.view.rows import as_html

        return as_html(self)


def _series(cells: tuple[Cell, ...]) -> pd.Series[Any]:
    """A column of a data frame. pandas alone would make a float of a whole number beside NULL, and lose its last digits."""
    import pandas as pd

    kinds = {type(cell) for cell in cells}
    if kinds in ({int, type(None)}, {bool, type(None)}) and _fit(cells):
        return pd.Series(cells, dtype="boolean" if bool in kinds else "Int64")
    return pd.Series(cells, dtype="object").infer_objects()


def _fit(cells: tuple[Any, ...]) -> bool:
    return all(cell is None or -(2**63) <= cell < 2**63 for cell in cells)
