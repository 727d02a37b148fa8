"""The rows of reference tables: whether a terminology has a row in which two columns hold what a query asks of them.

A dictionary of values knows each column for itself. "label = 'urine' AND linksto = 'inputevents'" holds values that both
exist, and no row has both. Of each cell a number is kept, the same for texts that any database may take for equal, so that
what is said to contradict itself does. Two texts of one number would only make a contradiction pass unseen.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from fastsql.linking.mapped_file import MappedFile
    from fastsql.schema import Schema, Value

Cells = NDArray[np.uint64]
_NULL = 0
_LARGEST = 1e15
_NUMBER = re.compile(r"[+-]?[0-9]{1,15}(\.[0-9]{1,15})?")


@dataclass(frozen=True, eq=False)
class ReferenceRows:
    """The rows of one table.

    Attributes:
        table: its name, as SQL names it.
        columns: the names of the columns that are kept.
        cells: uint64[columns, rows], `cell_number` of each; little-endian.
        file: where they are mapped from, beginning at `begin`; None where they lie in memory.
    """

    table: str
    columns: tuple[str, ...]
    cells: Cells
    file: MappedFile | None = None
    begin: int = 0

    def __reduce__(self) -> tuple[type[ReferenceRows], tuple[str, tuple[str, ...], Cells]]:
        self.expect_whole()
        return ReferenceRows, (self.table, self.columns, self.cells.copy())

    def lack(self, wanted: Iterable[tuple[str, Value]]) -> bool:
        """Whether no row has these values in these columns, as far as they are kept.

        Raises ModelError for a damaged file.
        """
        self.expect_whole()
        rows = np.ones(self.cells.shape[1], dtype=bool)
        for column, value in wanted:
            number = cell_number(value)
            if number is not None and column in self.columns:
                rows &= self.cells[self.columns.index(column)] == number
        return not rows.any()

    def expect_whole(self) -> None:
        """Raise ModelError where the file is damaged, or was changed since it was opened."""
        if self.file is not None:
            self.file.expect_unchanged()
            self.file.check(self.begin, self.begin + self.cells.nbytes)


def cell_number(value: Any) -> int | None:
    """A number that is the same for values that a database may take for equal; None where that cannot be told.

    NULL equals nothing, and is 0. Case, accents, blanks at the ends, and how a number is written do not count, as in one
    database or another they do not.
    """
    if value is None:
        return _NULL
    text = _comparable(value)
    if text is None:
        return None
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest()
    return int.from_bytes(digest, "little") or 1


def _comparable(value: Any) -> str | None:
    if isinstance(value, str):
        text = value.strip()
        if not text.isascii():
            parts = unicodedata.normalize("NFKD", text)
            text = "".join(one for one in parts if not unicodedata.combining(one))
        return _written(float(text)) if _NUMBER.fullmatch(text) else text.casefold()
    if isinstance(value, (int, float, Decimal)) and not isinstance(value, bool):
        number = float(value)
        return _written(number) if abs(number) < _LARGEST else None  # NaN is not less
    return None  # truth values, dates and bytes are written in many ways


def _written(number: float) -> str:
    return str(int(number)) if number.is_integer() else repr(number)


def rows_of(table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> ReferenceRows | None:
    """The rows of a table as they were read; a column is left out where a cell cannot be compared. None where all are."""
    kept = {place: array("Q") for place in range(len(columns))}
    for row in rows:
        for place in tuple(kept):
            number = cell_number(row[place])
            if number is None:
                del kept[place]
            else:
                kept[place].append(number)
    if not kept:
        return None
    cells = np.array([np.frombuffer(numbers, dtype=np.uint64) for numbers in kept.values()], dtype="<u8")
    return ReferenceRows(table, tuple(columns[place] for place in kept), cells)


def of_schema(rows: Iterable[ReferenceRows], schema: Schema) -> dict[int, ReferenceRows]:
    """By table of a schema, the rows of those that it marks as reference tables.

    Raises SchemaError where such a table lacks a column. Rows of other tables are left out: what was a terminology in one
    schema may be none in another.
    """
    found: dict[int, ReferenceRows] = {}
    for one in rows:
        table = schema.find_table(one.table)
        if table is not None and schema.tables[table].reference:
            for column in one.columns:
                schema.column_index(one.table, column)
            found[table] = one
    return found
