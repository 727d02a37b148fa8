"""Time filters in Chinese: 今年, 上个月, 近三个月, 最近两周, 去年7月, 2022年3月以来."""

from __future__ import annotations

import random
import re
from typing import TYPE_CHECKING

from fastsql.linking.numerals import chinese_cardinal

if TYPE_CHECKING:
    from fastsql.training.variation.times import Condition, Reader

_AGE = {"今": 0, "本": 0, "这个": 0, "当": 0, "去": 1, "上个": 1, "上": 1, "昨": 1}
_DAYS_OF_WEEKS = 7
_MONTHS_OF_HALF = 6
_NUMERAL = "[0-9]{1,3}|[一二两三四五六七八九十]{1,3}"
_SINCE = "(?:以来|起|开始|至今)"
_NOTHING_BEHIND = "(?![0-9日号]|[之以]?[前后]|[到至和与、~-])"
"""A year or month ends there, and no range begins."""
_LATE = 20
"""Days, months and years up to which a number is likely to be written as a Chinese numeral."""


def _ago(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
    unit, said = match["unit"], match["n"]
    if said == "半":
        return "ago_month", (("since_month", _MONTHS_OF_HALF, ""),)
    n = int(said) if said.isascii() else chinese_cardinal(said) or 0
    if unit in ("周", "个星期", "星期"):
        return "ago_day", (("since_day", n * _DAYS_OF_WEEKS, ""),)
    name = {"天": "day", "日": "day", "个月": "month", "年": "year"}[unit]
    return f"ago_{name}", ((f"since_{name}", n, ""),)


def _period(unit: str) -> Reader:
    def read(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
        age = _AGE[match["age"]]
        return f"{unit}_{age}", ((f"in_{unit}", age, ""),)

    return read


def _month_of_year(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
    age, month = _AGE[match["age"]], int(match["m"])
    return f"month_of_year_{age}", (("date_eq", f"{month:02}", "%m"), ("in_year", age, ""))


def _written(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
    parts = [match["y"], *(f"{int(match[name]):02}" for name in ("m", "d") if match.groupdict().get(name))]
    kind, form = {1: ("year", "%Y"), 2: ("month", "%Y-%m"), 3: ("day", "%Y-%m-%d")}[len(parts)]
    since = match["since"] is not None
    value = "-".join(parts)
    return f"{'since' if since else 'at'}_{kind}", (("date_ge" if since else "date_eq", value, form),)


# In this order: a wording that contains another one comes first.
WORDINGS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (
            rf"(?:最近|过去|近)(?:的)?(?P<n>半(?=年)|{_NUMERAL})(?P<unit>天|日|周|个?星期|个月|年)(?:[之以]?内|里|间|以来)?",
            _ago,
        ),
        (rf"(?P<age>[今去])年(?P<m>1[0-2]|[1-9])月份?{_NOTHING_BEHIND}", _month_of_year),
        (
            rf"[自从]?(?P<y>20\d\d)年(?P<m>1[0-2]|[1-9])月(?P<d>[12]\d|3[01]|[1-9])[日号](?P<since>{_SINCE})?{_NOTHING_BEHIND}",
            _written,
        ),
        (rf"[自从]?(?P<y>20\d\d)年(?P<m>1[0-2]|[1-9])月份?(?P<since>{_SINCE})?{_NOTHING_BEHIND}", _written),
        (
            rf"[自从]?(?P<y>20\d\d)年(?P<since>{_SINCE})?(?![上下第]|[一二三四1-4]季){_NOTHING_BEHIND}",
            _written,
        ),
        (rf"(?P<age>[今去本])年(?:以来)?{_NOTHING_BEHIND}(?![上下第底初末])", _period("year")),
        (rf"(?P<age>本|这个|当|上个|上)月(?:以来)?{_NOTHING_BEHIND}(?![底初末])", _period("month")),
        (r"(?P<age>[今昨])[天日](?![之以]?[前后])", _period("day")),
    )
)
"""Patterns of wordings, with what reads them; see `times.py`."""
KINDS = (
    *("ago_day", "ago_day", "ago_month", "ago_month", "ago_year", "year_0", "year_1", "month_0", "month_1"),
    *(
        "day_0",
        "day_1",
        "month_of_year_0",
        "month_of_year_1",
        "since_year",
        "since_month",
        "at_year",
        "at_month",
    ),
    *("since_day", "at_day"),
)
"""What is drawn in each other's place."""


def draw(kind: str, rng: random.Random) -> tuple[str, tuple[Condition, ...]]:
    """A new wording of a kind, and its conditions; `times.draw_time_phrase` for Chinese."""
    lead, _, rest = kind.partition("_")
    if lead == "ago":
        return _draw_ago(rest, rng)
    if lead in ("since", "at"):
        year, month, day = rng.randint(2005, 2027), rng.randint(1, 12), rng.randint(1, 28)
        text, value, form = {
            "day": (f"{year}年{month}月{day}日", f"{year}-{month:02}-{day:02}", "%Y-%m-%d"),
            "month": (f"{year}年{month}月", f"{year}-{month:02}", "%Y-%m"),
            "year": (f"{year}年", f"{year}", "%Y"),
        }[rest]
        if lead == "at":
            return text, (("date_eq", value, form),)
        return f"{rng.choice(('', '自', '从'))}{text}{rng.choice(('以来', '起', '至今'))}", (
            ("date_ge", value, form),
        )
    age = int(kind[-1])
    if kind.startswith("month_of_year"):
        month = rng.randint(1, 12)
        year_said = "去年" if age else "今年"
        return f"{year_said}{month}月", (("date_eq", f"{month:02}", "%m"), ("in_year", age, ""))
    said = {
        "year": (("今年", "今年", "今年以来", "本年"), ("去年",)),
        "month": (("本月", "这个月"), ("上个月", "上月")),
        "day": (("今天", "今日"), ("昨天", "昨日")),
    }[lead][age]
    return rng.choice(said), ((f"in_{lead}", age, ""),)


def _draw_ago(unit: str, rng: random.Random) -> tuple[str, tuple[Condition, ...]]:
    near = rng.choice(("最近", "近", "过去"))
    within = rng.choice(("", "", "", "内"))
    n = rng.choice((rng.randint(1, 12), rng.randint(1, {"year": 5, "month": 36, "day": 400}[unit])))
    if unit == "year":
        n = min(n, 10)
    conditions = ((f"since_{unit}", n, ""),)
    if unit == "day" and n % _DAYS_OF_WEEKS == 0:
        weeks = n // _DAYS_OF_WEEKS
        return f"{near}{_numeral(weeks, rng)}{rng.choice(('周', '个星期'))}{within}", conditions
    if unit == "month" and n == _MONTHS_OF_HALF and rng.random() < 1 / 2:
        return f"{near}半年{within}", conditions
    return (
        f"{near}{_numeral(n, rng)}{ {'day': '天', 'month': '个月', 'year': '年'}[unit] }{within}",
        conditions,
    )


def _numeral(n: int, rng: random.Random) -> str:
    """A number in digits or, if it is small, as people write it: 两, 十二."""
    if n > _LATE or rng.random() < 1 / 2:
        return str(n)
    tens, ones = divmod(n, 10)
    digits = "零一二三四五六七八九"
    if n == 2:
        return "两"
    return f"{'' if tens < 2 else digits[tens]}{'十' if tens else ''}{digits[ones] if ones else ''}"
