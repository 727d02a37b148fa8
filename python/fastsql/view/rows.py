"""Rows as HTML for notebooks: as many as a page bears, and how many more there are. NULL looks like no text."""

from __future__ import annotations

from decimal import Decimal
from itertools import accumulate
from typing import TYPE_CHECKING

from fastsql.view.cells import cut
from fastsql.view.markup import escaped, isolated, section, table

if TYPE_CHECKING:
    from fastsql.execution.rows import Cell, Rows

_MOST_ROWS, _MOST_COLUMNS, _MOST_CHARACTERS = 50, 50, 50_000
"""How much is shown of a result: a notebook is saved with it."""
_LONGEST = 200
"""Cells of a terminal that a text may be wide, and a third more bytes than that a binary value may be long."""
_NULL = '<em class="why">NULL</em>'


def as_html(rows: Rows) -> str:
    """The rows as one `section` element."""
    shown = [[_text(cell) for cell in row[:_MOST_COLUMNS]] for row in rows.rows[:_MOST_ROWS]]
    sizes = accumulate(sum(len(text or "") for text in row) for row in shown)
    fitting = [row for row, size in zip(shown, sizes, strict=True) if size <= _MOST_CHARACTERS]
    names = [cut(name, _LONGEST) for name in rows.columns[:_MOST_COLUMNS]]
    figures = frozenset(place for place in range(len(names)) if _is_of_numbers(rows, place))
    html = [[_NULL if text is None else isolated(text) for text in row] for row in fitting]
    parts = [table(names, html, figures), *(f"<p>{escaped(note)}</p>" for note in _notes(rows, len(fitting)))]
    return section("rows", parts)


def _notes(rows: Rows, shown: int) -> list[str]:
    """What a reader of the table should know."""
    count, left, columns = len(rows.rows), len(rows.rows) - shown, len(rows.columns) - _MOST_COLUMNS
    notes = [
        f"{count:,} {'row' if count == 1 else 'rows'}" + (f", {left:,} of them not shown" if left else "")
    ]
    if columns > 0:
        notes.append(f"{columns:,} more {'column' if columns == 1 else 'columns'}")
    if rows.truncated:
        notes.append("There are more rows in the database: the executor's row limit was reached.")
    if rows.cut:
        notes.append(
            f"{rows.cut:,} {'cell was' if rows.cut == 1 else 'cells were'} cut at the executor's cell limit."
        )
    return notes


def _text(cell: Cell) -> str | None:
    """A cell as it is shown; None for NULL."""
    if cell is None:
        return None
    if isinstance(cell, (bytes, bytearray, memoryview)):
        held = bytes(cell[: _LONGEST // 3])
        return f"x'{held.hex()}'" + (f"... {len(cell):,} bytes" if len(cell) > len(held) else "")
    return cut(cell if isinstance(cell, str) else str(cell), _LONGEST)


def _is_of_numbers(rows: Rows, place: int) -> bool:
    """Whether a column holds numbers, as far as it is shown."""
    kinds = {type(row[place]) for row in rows.rows[:_MOST_ROWS]} - {type(None)}
    return bool(kinds) and kinds <= {int, float, Decimal}
