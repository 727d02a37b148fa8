"""Comparisons of a program with literals: where they are, and what they are."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, Literal, Production, Program

ORDERS = ("gt", "ge", "lt", "le")
"""Comparisons that want an order."""
SIGNS = (*ORDERS, "eq", "ne")
PARTS_OF_TIMES = {"year_of": 4, "month_of": 2, "day_of": 2, "hour_of": 2}
"""Parts of a time, which are text of so many digits: no database's text is at least the number 8."""
CALENDAR = (
    *("in_year", "in_month", "in_day"),
    *("since_year", "since_month", "since_day", "since_hour"),
)
"""What compares a time with now: the period that is so many before this one, and what is no longer ago than that."""
YEARLY = ("%m", "%m-%d")
"""Formats of dates that come every year."""
TIMES = frozenset(
    f"{how}_{unit}"
    for how, units in (
        ("in", ("year", "month", "day")),
        *((how, ("year", "month", "day", "hour")) for how in ("since", "until", "within")),
        ("same", ("year", "month", "day", "time")),
        ("date", ("eq", "ne", "lt", "le", "gt", "ge")),
    )
    for unit in units
) | {*PARTS_OF_TIMES, "year_month_of", "date_of"}
"""Productions that say when something was."""
STARTS = {"in_week": ("week_start", "week_start_back"), "in_quarter": ("quarter_start", "quarter_start_back")}
"""Periods from now that have no production of their own, with those of their first days: of a time's, and of that so many
before this one."""
DURATIONS = ("days_between", "hours_between")
_DATED = "date_"
_ROWS = Production("count_all")
_AGGREGATES = tuple(map(Production, ("count", "count_distinct", "sum", "avg", "max", "min")))


@dataclass(frozen=True)
class Compared:
    """A column, its aggregate or a count of rows, compared with the literal at `literal`.

    `place` is that of the comparison, `sign` what it is, one of `SIGNS`; `dated`: of dates, each at its own granularity.
    """

    place: int
    literal: int
    sign: str
    dated: bool

    def turned(self, program: Program, sign: str) -> Program:
        """The program with another comparison here."""
        other = Production(f"{_DATED}{sign}" if self.dated else sign)
        return (*program[: self.place], other, *program[self.place + 1 :])


def comparisons(program: Program) -> Iterator[Compared]:
    """Those that are not denied, in order. Named constants are no literals here."""
    for number, item in enumerate(program):
        if isinstance(item, Literal) and not item.name:
            found = _compared(program, number)
            if found is not None:
                yield found


def _compared(program: Program, literal: int) -> Compared | None:
    place = literal - 2
    if place >= 0 and isinstance(program[literal - 1], ColumnRef) and program[place] in _AGGREGATES:
        place -= 1
    elif place < 0 or not (isinstance(program[literal - 1], ColumnRef) or program[literal - 1] == _ROWS):
        return None
    item = program[place] if place >= 0 else None
    if not isinstance(item, Production) or (place and program[place - 1] == Production("not")):
        return None
    sign = item.name.removeprefix(_DATED)
    return Compared(place, literal, sign, item.name != sign) if sign in SIGNS else None
