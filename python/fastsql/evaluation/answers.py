"""Results as the scorer of the EHRSQL 2024 shared task compares them (Lee et al., Clinical NLP 2024).

Every cell that Python can read as a number is rounded to three decimals, cells become strings, rows are sorted, and the
first 100 are kept. So neither the order of rows nor the number of rows beyond 100 matters, and 1, 1.0 and '1' are equal.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nsmallest
from typing import TypeAlias

ROWS_COMPARED = 100

AnswerRows: TypeAlias = "tuple[tuple[str, ...], ...]"

_VOID = frozenset({"None", "0.0"})


def answer_rows(rows: Iterable[Sequence[object]]) -> AnswerRows:
    """The comparable form of a result. Reads `rows` once and keeps 100 of them, however many there are."""
    return tuple(map(tuple, nsmallest(ROWS_COMPARED, ([_cell(cell) for cell in row] for row in rows))))


def published_form(rows: Iterable[Sequence[object]]) -> str:
    """A result as the ``answer`` field of the data set writes it: as above, but only floating point cells are rounded."""
    return str(nsmallest(ROWS_COMPARED, ([_published_cell(cell) for cell in row] for row in rows)))


def is_void(rows: AnswerRows) -> bool:
    """Whether a result says nothing: no rows, or nothing but NULL and 0. Wrong SQL often gives these by accident."""
    return all(cell in _VOID for row in rows for cell in row)


def _cell(value: object) -> str:
    if isinstance(value, int | float | str | bytes):
        try:
            return str(round(float(value), 3))
        except (ValueError, OverflowError):
            return str(value)
    return str(value)


def _published_cell(value: object) -> str:
    return str(round(value, 3) if isinstance(value, float) else value)
