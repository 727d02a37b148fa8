"""Recognises SQLite's calendar arithmetic as the grammar's abstract time actions.

Each function reads one idiom from a sqlglot tree, and returns None for anything else.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from sqlglot import exp

from fastsql.grammar.program import Literal

Moment = exp.Expr | None
"""A time expression, or None for now."""

_COMPARISONS: dict[type[exp.Expr], str] = {
    exp.EQ: "eq",
    exp.NEQ: "ne",
    exp.LT: "lt",
    exp.LTE: "le",
    exp.GT: "gt",
    exp.GTE: "ge",
}
_BEFORE_OR_AFTER = {"ge": "since", "gt": "since", "le": "until", "lt": "until"}
"""Nothing lies at the very second of now, so that a strict comparison with it says the same."""
DATE_SHAPES = {
    "%Y": r"\d{4}",
    "%Y-%m": r"\d{4}-\d{2}",
    "%Y-%m-%d": r"\d{4}-\d{2}-\d{2}",
    "%m": r"\d{2}",
    "%m-%d": r"\d{2}-\d{2}",
    "%d": r"\d{2}",
    "%H:%M": r"\d{2}:\d{2}",
    "%Y-%m-%d %H:%M:%S": r"\d{4}-\d{2}-\d{2} \d{2}:\d{2}:\d{2}",
}
"""The granularities at which a date is compared, and what their literals look like."""


_CLOCKS = ("getdate", "sysdatetime")
"""Functions of T-SQL that tell the time."""


@dataclass(frozen=True)
class TimeCondition:
    """A production with the time columns it is about, and the literal that follows them."""

    name: str
    columns: tuple[exp.Expr, ...]
    rest: tuple[Literal, ...] = ()


@dataclass(frozen=True)
class Elapsed:
    """`days_between` or `hours_between` two moments."""

    name: str
    later: Moment
    earlier: Moment


@dataclass(frozen=True)
class _Datetime:
    """datetime(base, modifiers...)."""

    base: exp.Expr
    modifiers: tuple[str, ...]


def time_condition(node: exp.Expr) -> TimeCondition | None:
    """A comparison of times in one of the grammar's idioms."""
    if isinstance(node, exp.Between):
        return _within(node)
    if type(node) not in _COMPARISONS:
        return None
    operator = _COMPARISONS[type(node)]
    dated = read_format(node.this)
    if dated is not None and isinstance(node.expression, exp.Literal) and node.expression.is_string:
        form, value = dated[0], str(node.expression.this)
        if form in DATE_SHAPES and re.fullmatch(DATE_SHAPES[form], value):
            return TimeCondition(f"date_{operator}", (dated[1],), (Literal(value, form),))
        return None
    left, right = _datetime(node.this), _datetime(node.expression)
    if left is None or right is None or is_now(left.base):
        return None
    return _against_now(operator, left, right) if is_now(right.base) else _same(operator, left, right)


def _against_now(operator: str, left: _Datetime, right: _Datetime) -> TimeCondition | None:
    if (
        operator == "eq"
        and len(left.modifiers) == 1
        and len(right.modifiers) in (1, 2)
        and left.modifiers[0] == right.modifiers[0]
    ):
        unit = left.modifiers[0].removeprefix("start of ")
        back = _shift(right.modifiers[1]) if len(right.modifiers) == 2 else (0, unit)
        if unit in ("year", "month", "day") and back is not None and back[1] == unit and back[0] <= 0:
            return TimeCondition(f"in_{unit}", (left.base,), (Literal(-back[0]),))
    if operator in _BEFORE_OR_AFTER and not left.modifiers and len(right.modifiers) <= 1:
        back = _shift(right.modifiers[0]) if right.modifiers else (0, "day")
        if back is not None and back[0] <= 0 and back[1] in ("year", "month", "day", "hour"):
            return TimeCondition(
                f"{_BEFORE_OR_AFTER[operator]}_{back[1]}", (left.base,), (Literal(-back[0]),)
            )
    return None


def _same(operator: str, left: _Datetime, right: _Datetime) -> TimeCondition | None:
    if operator != "eq" or left.modifiers != right.modifiers:
        return None
    if not left.modifiers:
        return TimeCondition("same_time", (left.base, right.base))
    unit = left.modifiers[0].removeprefix("start of ")
    if len(left.modifiers) == 1 and unit in ("year", "month", "day"):
        return TimeCondition(f"same_{unit}", (left.base, right.base))
    return None


def _within(node: exp.Between) -> TimeCondition | None:
    time, low, high = (_datetime(n) for n in (node.this, node.args["low"], node.args["high"]))
    if (
        time is None
        or low is None
        or high is None
        or time.modifiers
        or low.modifiers
        or len(high.modifiers) != 1
    ):
        return None
    ahead = _shift(high.modifiers[0])
    if (
        low.base.sql() != high.base.sql()
        or ahead is None
        or ahead[0] < 0
        or ahead[1] not in ("year", "month", "day", "hour")
    ):
        return None
    return TimeCondition(f"within_{ahead[1]}", (time.base, low.base), (Literal(ahead[0]),))


def julian(node: exp.Expr) -> Elapsed | None:
    """`[n *] (strftime('%J', a) - strftime('%J', b))` with n absent, 1 or 24; julianday(a) means strftime('%J', a).

    `%j`, the day of the year, is taken for `%J` here: some question sets come in lower case, and a difference of days
    of the year means nothing from one year to the next.
    """
    name = "days_between"
    if isinstance(node, exp.Mul) and isinstance(node.this, exp.Literal) and node.this.this in ("1", "24"):
        name = "hours_between" if node.this.this == "24" else name
        node = node.expression.this if isinstance(node.expression, exp.Paren) else node.expression
    if not isinstance(node, exp.Sub):
        return None
    later, earlier = read_format(node.this), read_format(node.expression)
    if later is None or earlier is None or not later[0].upper() == earlier[0].upper() == "%J":
        return None
    return Elapsed(name, *(None if is_now(side[1]) else side[1] for side in (later, earlier)))


def read_format(node: exp.Expr) -> tuple[str, exp.Expr] | None:
    """Format and time of strftime(format, time), and of date(time) and julianday(time), which are forms of it.

    `%y` counts as `%Y`: SQLite knows no year of two digits, and some question sets come in lower case.
    """
    if isinstance(node, exp.Date) and node.this is not None and set(_given(node)) == {"this"}:
        return "%Y-%m-%d", node.this
    if isinstance(node, exp.TimeToStr):
        form, inner = node.args["format"], node.this
        while isinstance(inner, exp.TsOrDsToTimestamp):  # sqlglot's own, not in the text
            inner = inner.this
    elif isinstance(node, exp.Anonymous) and node.name.lower() == "strftime" and len(node.expressions) == 2:
        form, inner = node.expressions
    elif isinstance(node, exp.Anonymous) and node.name.lower() == "julianday" and len(node.expressions) == 1:
        form, inner = exp.Literal.string("%J"), node.expressions[0]
    else:
        return None
    return (str(form.this).replace("%y", "%Y"), inner) if isinstance(form, exp.Literal) else None


def _given(node: exp.Expr) -> list[str]:
    return [name for name, part in node.args.items() if part]


def is_now(node: exp.Expr) -> bool:
    """Whether an expression stands for the present moment."""
    if isinstance(node, (exp.CurrentTime, exp.CurrentTimestamp)):
        return True
    if isinstance(node, exp.Anonymous) and node.name.lower() in _CLOCKS and not node.expressions:
        return True
    return isinstance(node, exp.Literal) and node.is_string and str(node.this) == "now"


def _datetime(node: exp.Expr) -> _Datetime | None:
    if not (isinstance(node, exp.Anonymous) and node.name.lower() == "datetime" and node.expressions):
        return None
    base, *modifiers = node.expressions
    if not all(isinstance(m, exp.Literal) and m.is_string for m in modifiers):
        return None
    return _Datetime(base, tuple(str(m.this) for m in modifiers))


def _shift(modifier: str) -> tuple[int, str] | None:
    """Count and unit of a modifier such as "-3 month"; "-0 year" counts as 0 years back."""
    match = re.fullmatch(r"([+-]?)(\d+) (year|month|day|hour)s?", modifier)
    return (int(match[1] + match[2]), match[3]) if match else None
