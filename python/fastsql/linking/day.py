"""Building date candidates: validity of days, two-digit years, the text of each strftime format."""

from __future__ import annotations

import datetime as dt

from fastsql.linking.candidate import Candidate

_LEAP_YEAR = 2000
FIRST_YEAR, LAST_YEAR = 1600, 2999
"""A four-digit number outside these is no year of a medical record."""


def full_year(text: str) -> int:
    """The year that `text` means; two digits are read as POSIX does: 69 to 99 are 19xx, 00 to 68 are 20xx."""
    year = int(text)
    if len(text) > 2:
        return year
    return year + (1900 if year >= 69 else 2000)


def is_day(year: int | None, month: int, day: int) -> bool:
    """Whether the day exists; without a year, whether it exists in some year."""
    if year is not None and not FIRST_YEAR <= year <= LAST_YEAR:
        return False
    try:
        dt.date(_LEAP_YEAR if year is None else year, month, day)
    except ValueError:
        return False
    return True


def shifted(year: int, month: int, day: int, *, years: int = 0, days: int = 0) -> tuple[int, int, int] | None:
    """The day `years` years and `days` days later; None where it cannot be had."""
    if not FIRST_YEAR <= year + years <= LAST_YEAR:
        return None
    last = 28 if (month, day) == (2, 29) and not is_day(year + years, 2, 29) else day
    moved = dt.date(year + years, month, last) + dt.timedelta(days=days)
    return moved.year, moved.month, moved.day


def date_candidate(
    span: tuple[int, int],
    *,
    year: int | None = None,
    month: int | None = None,
    day: int | None = None,
    time: tuple[int, int, int] | None = None,
) -> Candidate | None:
    """The candidate for what is given of a date or time; None where no such day, month, year or time exists.

    The format follows from the parts: year ``%Y``, year and month ``%Y-%m``, all three ``%Y-%m-%d``, month ``%m``, month
    and day ``%m-%d``, day ``%d``, time alone ``%H:%M``, everything ``%Y-%m-%d %H:%M:%S``.
    """
    if year is not None and not FIRST_YEAR <= year <= LAST_YEAR:
        return None
    if month is not None and not 1 <= month <= 12:
        return None
    if day is not None and not (is_day(year, month, day) if month is not None else 1 <= day <= 31):
        return None
    if time is not None and not (0 <= time[0] <= 23 and 0 <= time[1] <= 59 and 0 <= time[2] <= 59):
        return None
    parts = [f"{year:04d}" if year is not None else "", f"{month:02d}" if month is not None else ""]
    parts.append(f"{day:02d}" if day is not None else "")
    value = "-".join(part for part in parts if part)
    form = "-".join(name for name, part in zip(("%Y", "%m", "%d"), parts, strict=True) if part)
    if time is not None:
        if form == "%Y-%m-%d":
            value += " {:02d}:{:02d}:{:02d}".format(*time)
            form += " %H:%M:%S"
        elif not form:
            value, form = "{:02d}:{:02d}".format(*time), "%H:%M"
        else:
            return None
    if form not in {"%Y", "%Y-%m", "%Y-%m-%d", "%m", "%m-%d", "%d", "%H:%M", "%Y-%m-%d %H:%M:%S"}:
        return None
    return Candidate(value, "date", span, "date", format=form)
