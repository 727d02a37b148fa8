"""Time filters in Chinese: 今年, 上个月, 近三个月, 最近两周, 去年7月, 2022年3月以来."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from types import MappingProxyType

from fastsql.linking.numerals import chinese_cardinal
from fastsql.training.variation.time_wordings import DAYS_OF_WEEK, MOST_WEEKS, OF_WEEKS, Condition, Reader

_AGE = {"今": 0, "本": 0, "这个": 0, "当": 0, "去": 1, "上个": 1, "上": 1, "昨": 1}
_UNITS = {"天": "day", "日": "day", "个月": "month", "年": "year"}
_MONTHS_OF_HALF = 6
_NUMERAL = "[0-9]{1,3}|[二三]?十[一二三四五六七八九]?|[一二两三四五六七八九]"
_MOST_IN_HAN = 20
"""Numbers up to this are written as Chinese numerals, too."""
_SINCE = "(?:以来|起|开始|至今)"
_LAST = "(?:[之以]?内|里|间|以?来)?"
_END = "(?![0-9日号底初末上中下旬季第年]|[之以]?[前后来]|[到至和与、~-]|[一二三四五六七八九十]+[月季])"
"""A year or month ends there: no day, part of it or range begins."""


def _ago(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
    said, unit = match["n"], match["unit"]
    if said == "半":
        return "ago_month", (("since_month", _MONTHS_OF_HALF, ""),)
    n = int(said) if said.isascii() else chinese_cardinal(said)
    assert n is not None, said  # the pattern takes nothing else
    if unit not in _UNITS:
        return "ago_day", (("since_day", n * DAYS_OF_WEEK, ""),)
    return f"ago_{_UNITS[unit]}", ((f"since_{_UNITS[unit]}", n, ""),)


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


_YEAR, _MONTH, _DAY = (
    r"(?P<y>20\d\d)年",
    r"(?P<m>1[0-2]|[1-9])月(?:份|(?!份))",
    r"(?P<d>[12]\d|3[01]|[1-9])[日号]",
)
# In this order: a wording that contains another one comes first. What goes with a time is taken with it: 在, 度, 期间, 内.
WORDINGS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(pattern), reader)
    for pattern, reader in (
        (
            rf"[在于]?(?:最近|过去|近)的?(?P<n>半(?=年)|{_NUMERAL})(?P<unit>天|日|周|个?星期|个月|年){_LAST}(?![之以]?[前后])",
            _ago,
        ),
        (rf"[在于]?(?P<age>[今去])年{_MONTH}{_END}", _month_of_year),
        (rf"[在于自从]?{_YEAR}{_MONTH}{_DAY}(?P<since>{_SINCE})?{_END}", _written),
        (rf"[在于自从]?{_YEAR}{_MONTH}(?P<since>{_SINCE})?{_END}", _written),
        (rf"[在于自从]?{_YEAR}(?P<since>{_SINCE})?(?:度|全年|期间)?{_END}", _written),
        (rf"[在于]?(?P<age>[今本])年(?:度|全年|以来|期间|[之以]?内)?{_END}", _period("year")),
        (rf"[在于]?(?P<age>去)年(?:度|全年|期间)?{_END}", _period("year")),
        (rf"[在于]?(?P<age>本|这个|当)月(?:份|以来|期间|[之以]?内)?{_END}", _period("month")),
        (rf"[在于]?(?<![上以])(?P<age>上个|上)月(?:份|期间)?{_END}", _period("month")),
        (r"[在于]?(?<![如现])(?P<age>[今昨])[天日](?![之以]?[前后])", _period("day")),
    )
)
"""Patterns of wordings, with what reads them; see `times.py`."""
KINDS: Mapping[str, int] = MappingProxyType(
    {
        **dict.fromkeys(("ago_day", "ago_month"), 2),
        **dict.fromkeys(("ago_year", "year_0", "year_1", "month_0", "month_1", "day_0", "day_1"), 1),
        **dict.fromkeys(("month_of_year_0", "month_of_year_1"), 1),
        **dict.fromkeys(("at_year", "at_month", "at_day", "since_year", "since_month", "since_day"), 1),
    }
)
"""What is drawn in each other's place, and how often beside the others."""
_LEADING = re.compile(r"(?:请问|请|麻烦|帮我|给我)*(?:列出|查询|查一下|统计|显示|给出|告诉我|查)?")


def add(question: str, wording: str) -> str:
    """A question with a time filter in front, behind 请问 and 列出."""
    lead = _LEADING.match(question)
    place = lead.end() if lead else 0
    return f"{question[:place]}{wording}{question[place:]}"


def draw(kind: str, rng: random.Random) -> tuple[str, tuple[Condition, ...]]:
    """A new wording of a kind of `KINDS`, and its conditions; `times.draw_time_phrase` for Chinese."""
    lead, _, rest = kind.partition("_")
    if lead == "ago":
        return _draw_ago(rest, rng)
    if lead in ("since", "at"):
        return _draw_written(rest, rng, since=lead == "since")
    age = int(kind[-1])
    if kind.startswith("month_of_year"):
        month = rng.randint(1, 12)
        return f"{'去年' if age else '今年'}{month}月", (
            ("date_eq", f"{month:02}", "%m"),
            ("in_year", age, ""),
        )
    said = {
        "year_0": ("今年", "今年", "今年以来", "本年"),
        "year_1": ("去年",),
        "month_0": ("本月", "这个月"),
        "month_1": ("上个月", "上月"),
        "day_0": ("今天", "今日"),
        "day_1": ("昨天", "昨日"),
    }[kind]
    return rng.choice(said), ((f"in_{lead}", age, ""),)


def _draw_written(unit: str, rng: random.Random, *, since: bool) -> tuple[str, tuple[Condition, ...]]:
    # Years as people ask of them: no data set in Chinese is moved to 2100.
    year, month, day = rng.randint(2005, 2027), rng.randint(1, 12), rng.randint(1, 28)
    text, value, form = {
        "day": (f"{year}年{month}月{day}日", f"{year}-{month:02}-{day:02}", "%Y-%m-%d"),
        "month": (f"{year}年{month}月", f"{year}-{month:02}", "%Y-%m"),
        "year": (f"{year}年", f"{year}", "%Y"),
    }[unit]
    if not since:
        return text, (("date_eq", value, form),)
    wording = f"{rng.choice(('', '自', '从'))}{text}{rng.choice(('以来', '起', '至今'))}"
    return wording, (("date_ge", value, form),)


def _draw_ago(unit: str, rng: random.Random) -> tuple[str, tuple[Condition, ...]]:
    near, within = rng.choice(("最近", "近", "过去")), rng.choice(("", "", "", "内"))
    n = rng.choice((rng.randint(1, 10), rng.randint(1, {"year": 10, "month": 36, "day": 400}[unit])))
    if unit == "day" and rng.random() < OF_WEEKS:
        n = DAYS_OF_WEEK * rng.randint(1, MOST_WEEKS)
    said = {"day": "天", "month": "个月", "year": "年"}[unit]
    weeks, rest = divmod(n, DAYS_OF_WEEK)
    if unit == "day" and not rest and weeks <= MOST_WEEKS and rng.random() < 1 / 2:
        numeral, said = _numeral(weeks, rng), rng.choice(("周", "个星期"))
    elif unit == "month" and n == _MONTHS_OF_HALF and rng.random() < 1 / 2:
        numeral, said = "半", "年"
    else:
        numeral = _numeral(n, rng)
    return f"{near}{numeral}{said}{within}", ((f"since_{unit}", n, ""),)


def _numeral(n: int, rng: random.Random) -> str:
    """A number in digits or, if it is small, as people write it: 两, 十二."""
    if n > _MOST_IN_HAN or rng.random() < 1 / 2:
        return str(n)
    if n == 2:
        return "两"
    tens, ones = divmod(n, 10)
    digits = "零一二三四五六七八九"
    return f"{digits[tens] if tens > 1 else ''}{'十' if tens else ''}{digits[ones] if ones else ''}"
