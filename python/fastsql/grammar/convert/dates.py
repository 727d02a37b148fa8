"""Dates that are computed: the first day of a period, days so long ago, complete years between two moments.

SQLite writes them by modifiers of DATE and formats of STRFTIME, other dialects by functions of their own, which sqlglot has
read. Modifiers after which SQLite would count from another day (`'-6 months', 'start of month'` on the 31st) are taken for
what they are meant to say.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from fastsql.grammar.convert.nodes import unparen
from fastsql.grammar.convert.times import Moment, is_now, read_format
from fastsql.grammar.program import Literal

STARTS = {"year_start": "year", "quarter_start": "quarter", "month_start": "month", "week_start": "week"}
"""Productions that go back to the first day of a period."""
_BY_UNIT = {unit: name for name, unit in STARTS.items()}
_FIRST_DAYS = {"%Y-01-01": "year_start", "%Y-%m-01": "month_start"}
_WEEK = (("weekday 0", "-6 days"), ("-6 days", "weekday 1"))
"""Modifiers that go back to Monday."""
_QUARTER = "'-' || (STRFTIME('%m', {0}) - 1) % 3 || ' months'"
_SHIFT = re.compile(r"-(\d+) (year|month|day)s?", re.IGNORECASE)


@dataclass(frozen=True)
class Back:
    """A day that lies so many periods before today, or the first day of a period that does."""

    name: str
    periods: int


@dataclass(frozen=True)
class Start:
    """The first day of the period that a time lies in."""

    name: str
    time: exp.Expr


@dataclass(frozen=True)
class Between:
    """What lies between two moments: `years_between`, `seconds_between`."""

    name: str
    later: Moment
    earlier: Moment


def computed_date(node: exp.Expr) -> Back | Start | None:
    """A date that is computed from today or from a time, or None for anything else."""
    if isinstance(node, exp.CurrentDate):
        return Back("day_back", 0)
    if isinstance(node, (exp.TimestampTrunc, exp.DateTrunc)):
        return _truncated(node)
    first = read_format(node)
    if first is not None and first[0] in _FIRST_DAYS:
        name, time = _FIRST_DAYS[first[0]], first[1]
        return Back(f"{name}_back", 0) if is_now(time) else Start(name, time)
    if isinstance(node, exp.Date) and node.this is not None and is_now(node.this):
        return Back("day_back", 0) if len([part for part in node.args.values() if part]) == 1 else None
    if not (isinstance(node, exp.Anonymous) and node.name.lower() == "date" and node.expressions):
        return None
    base, *modifiers = node.expressions
    unit, rest = _period(base, modifiers)
    if not is_now(base):
        return Start(_BY_UNIT[unit], base) if unit and not rest else None
    shift = _shift(rest)
    if shift is None:
        return None
    count, of = shift
    if unit == "quarter" and of == "month" and count % 3 == 0:
        count, of = count // 3, "quarter"
    if unit == "week" and of == "day" and count % 7 == 0:
        count, of = count // 7, "week"
    if not unit:
        return Back(f"{of}_back", count)
    return Back(f"{unit}_start_back", count) if of == unit or not count else None


def _truncated(node: exp.Expr) -> Back | Start | None:
    unit = node.args["unit"].name.lower()
    time = node.this
    while isinstance(time, (exp.Cast, exp.TsOrDsToTimestamp, exp.TsOrDsToDate)):
        time = time.this
    if unit not in _BY_UNIT:
        return None
    now = is_now(time) or isinstance(time, exp.CurrentDate)
    return Back(f"{_BY_UNIT[unit]}_back", 0) if now else Start(_BY_UNIT[unit], time)


def _period(base: exp.Expr, modifiers: list[exp.Expr]) -> tuple[str, list[str]]:
    """The unit to whose first day modifiers go back, empty for none, and the other modifiers; a `?` for one unknown."""
    written = [str(one.this) if isinstance(one, exp.Literal) else "?" for one in modifiers]
    for unit in ("year", "month"):
        if f"start of {unit}" not in written:
            continue
        written.remove(f"start of {unit}")
        quarter = _QUARTER.format(base.sql(dialect="sqlite"))
        for place, one in enumerate(modifiers):
            if unit == "month" and _bare(one) == quarter:
                return "quarter", [name for name in written if name != "?"] if place else ["?"]
        return unit, written
    for pair in _WEEK:
        if tuple(written[:2]) == pair:
            return "week", written[2:]
    days = f"'-' || (STRFTIME('%w', {base.sql(dialect='sqlite')}) + 6) % 7 || ' days'"
    if modifiers and _bare(modifiers[0]) == days:
        return "week", written[1:]
    return "", written


def _bare(node: exp.Expr) -> str:
    """A concatenation as text, without the parentheses around its parts."""
    return " || ".join(unparen(part).sql(dialect="sqlite") for part in concatenated(node))


def concatenated(node: exp.Expr) -> list[exp.Expr]:
    """What `||` or CONCAT joins, however nested; of anything else itself."""
    if isinstance(node, exp.Paren) and isinstance(node.this, (exp.DPipe, exp.Concat)):
        node = node.this
    if isinstance(node, exp.DPipe):
        return concatenated(node.this) + concatenated(node.expression)
    if isinstance(node, exp.Concat):
        return [part for one in node.expressions for part in concatenated(one)]
    return [node]


def _shift(modifiers: list[str]) -> tuple[int, str] | None:
    if not modifiers:
        return 0, "day"
    match = _SHIFT.fullmatch(modifiers[0]) if len(modifiers) == 1 else None
    return (int(match[1]), match[2].lower()) if match else None


def between(node: exp.Expr) -> Between | None:
    """`strftime('%s', a) - strftime('%s', b)`, and complete years:
    `strftime('%Y', a) - strftime('%Y', b) - (strftime('%m-%d', a) < strftime('%m-%d', b))`.
    """
    if not isinstance(node, exp.Sub):
        return None
    seconds = _formatted(node, "%s")
    if seconds is not None:
        return Between("seconds_between", *seconds)
    birthday = unparen(node.expression)
    years = _formatted(unparen(node.this), "%Y")
    if years is None or not isinstance(birthday, exp.LT) or _formatted(birthday, "%m-%d") != years:
        return None
    return Between("years_between", *years)


def _formatted(node: exp.Expr, form: str) -> tuple[Moment, Moment] | None:
    """Two moments, both written in a format on the sides of an operator."""
    if not isinstance(node, exp.Binary):
        return None
    sides = read_format(unparen(node.this)), read_format(unparen(node.expression))
    if sides[0] is None or sides[1] is None or not sides[0][0] == sides[1][0] == form:
        return None
    return _moment(sides[0][1]), _moment(sides[1][1])


def _moment(node: exp.Expr) -> Moment:
    return None if is_now(node) else node


def written_moment(node: exp.Expr, shapes: dict[str, str]) -> Literal | None:
    """A date that is written down as one, or None."""
    if not (isinstance(node, exp.Literal) and node.is_string):
        return None
    text = str(node.this)
    form = next((f for f, shape in shapes.items() if re.fullmatch(shape, text)), None)
    return None if form is None else Literal(text, form)
