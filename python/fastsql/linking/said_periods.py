"""Periods that a question tells from now: 近三个月, 前年, 今年上半年, "in the last two weeks"."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from fastsql.linking.numerals import chinese_cardinal
from fastsql.linking.vocabulary import chinese, english

DAYS_OF_WEEK = 7
_MONTHS = 12
_NEAR = 40
"""Characters before a year in which its part is looked for."""
_MOST = 16
"""Periods that are read of a question."""


@dataclass(frozen=True)
class PartOfYear:
    """Which part of how many equal ones of a year, and where the question says year and part together."""

    number: int
    parts: int
    span: tuple[int, int]

    @property
    def months(self) -> tuple[int, int]:
        """The first and the last one."""
        length = _MONTHS // self.parts
        return (self.number - 1) * length + 1, self.number * length


@dataclass(frozen=True)
class SaidPeriod:
    """A period at `span` (characters): the production of the grammar that says it, and how many units ago it is or began.

    Weeks, from Monday, and quarters have none: "in_week" and "in_quarter" stand for their first days (`STARTS`).
    `part`: of a year, the part that is meant; None for all of it.
    """

    span: tuple[int, int]
    production: str
    count: int
    part: PartOfYear | None = None


_Reader = Callable[[re.Match[str]], "tuple[str, int] | None"]


def said_periods(question: str) -> tuple[SaidPeriod, ...]:
    """The periods that a question tells from now, in its order."""
    return tuple(sorted(_periods(question), key=lambda one: one.span))


def _periods(question: str) -> Iterator[SaidPeriod]:
    taken: list[tuple[int, int]] = []
    for pattern, reader in _WORDINGS:
        for match in pattern.finditer(question):
            start, end = match.span()
            if any(start < until and begun < end for begun, until in taken):
                continue
            if len(taken) == _MOST:
                return
            taken.append((start, end))
            read = reader(match)
            if read is not None:
                of_year = read[0] == "in_year"
                yield SaidPeriod(
                    (start, end), *read, part_of_year(question, (start, end)) if of_year else None
                )


def part_of_year(question: str, span: tuple[int, int]) -> PartOfYear | None:
    """The part of a year, itself at these characters, that the words beside it mean; None for all of it."""
    before = _PART_BEFORE.search(question, max(0, span[0] - _NEAR), span[0])
    if before is not None:
        whole = before.start(), span[1]
        if before["number"]:
            return PartOfYear(int(before["number"]), 4, whole)
        parts = 2 if before["unit"].lower() == "half" else 4
        nth = english.NTH_PARTS.get(before["word"].lower())
        if nth is None:  # a letter that only folds to one of these: "fırst"
            return None
        number = nth or parts
        return PartOfYear(number, parts, whole) if number <= parts else None
    behind = _PART_BEHIND.match(question, span[1])
    if behind is None:
        return None
    number, parts = (int(behind["number"]), 4) if behind["number"] else chinese.PARTS_OF_YEARS[behind["han"]]
    return PartOfYear(number, parts, (span[0], behind.end()))


_PART_BEFORE = re.compile(
    rf"(?<!\w)(?:(?P<word>{'|'.join(english.NTH_PARTS)})\s+(?P<unit>half|quarter)|q(?P<number>[1-4]))"
    rf"(?:\s+(?:of|in))?(?:\s+the)?(?:\s+year)?[\s,]*$",
    re.IGNORECASE,
)
_PART_BEHIND = re.compile(
    rf"[\s,-]*年?\s*的?q(?P<number>[1-4])(?![a-z0-9_])|\s*年?\s*的?(?P<han>{'|'.join(chinese.PARTS_OF_YEARS)})",
    re.IGNORECASE,
)


def _last(match: re.Match[str]) -> tuple[str, int] | None:
    """What began so many units ago."""
    said, unit = match["n"], match["unit"].lower()
    if said == "半":
        return ("since_month", 6) if unit == "年" else ("since_day", 15)
    number = _number(said)
    if number is None:
        return None
    for name, units in _UNITS.items():
        if unit.startswith(units):
            return f"since_{name}", number
    return "since_day", number * DAYS_OF_WEEK


def _number(said: str) -> int | None:
    if said.isascii():
        return int(said) if said.isdigit() else _IN_WORDS.get(said.lower().split()[-1])
    return chinese_cardinal(said)


def _ago(production: str, count: int) -> _Reader:
    return lambda _: (production, count)


_IN_WORDS = {**english.SMALL_NUMERALS, "of": 2, "past": 1, "last": 1}
"""Numbers in words: "a couple of" weeks, the "past" week."""
_UNITS = {
    "hour": ("h", "小时", "个小时"),
    "day": ("day", "天", "日"),
    "month": ("month", "个月"),
    "year": ("year", "年"),
}
"""How units begin; what none of them begins is a week."""
_HAN = f"[二三]?十[{chinese.ONE_TO_NINE}]?|[{chinese.ONE_TO_NINE}两]"
_SMALL = "|".join(sorted(english.SMALL_NUMERALS, key=len, reverse=True))
_UNIT = "(?P<unit>个?小时|天|日|周|个?星期|个?礼拜|个月|年)"
_ENGLISH_UNIT = (
    r"(?P<unit>hours?|h(?:rs?)?|days?|weeks?|months?|years?)(?!\w|\s+(?:of|before|after|prior|overdue)\b)"
)
_WEEK = "(?:周(?![期岁转末])|星期|礼拜)(?![一二三四五六日天年岁])(?![底末初]|[之以]?[前后]|以?来|起|至今)"
_APART_FROM = "(?<![最附临靠接邻远将龄])"
_OWN = "(?<![成基样版标文剧脚课日])"
"""Behind these, 本 is a part of another word: 标本周转."""
_NOT_AGAINST = "(?<![比较除])"
"""Behind these, a period is what others are compared with, or left out."""
_ENDS = "(?![底末初内外]|同期|[之以]?[前后]|以?来|起|至今)"
_YEAR_ENDS = rf"(?![龄轻份均纪终]){_ENDS}(?!年[底末初])"
_MONTH_ENDS = rf"(?![经均]){_ENDS}"
"""What began or ended then, and other words, is none of it."""
_ALONE = (
    r"(?<!\w)(?<!before )(?<!since )(?<!until )(?<!after )(?<!than )(?<!by )(?<!his )(?<!her )(?<!their )"
)
_NO_PART_OF = r"(?!\w|\s+(?:of|before|in\s+(?:hospital|office))\b)"
_NO_TIME_BEFORE = r"(?<![目当以之此年月天日周个先期术院诊])"
"""Behind these, 前年 and 前天 are parts of other words: 目前年龄, 术前天数."""
# In this order: what contains another wording comes first.
_WORDINGS: tuple[tuple[re.Pattern[str], _Reader], ...] = tuple(
    (re.compile(pattern, re.IGNORECASE), reader)
    for pattern, reader in (
        (
            rf"(?:最近|过去|{_APART_FROM}近)的?这?(?P<n>半(?=年|个月)|[0-9]{{1,3}}|{_HAN}){_UNIT}(?!半|[岁份]|[之以]?[前后])",
            _last,
        ),
        (
            rf"(?<!\w)(?:the\s+)?(?:last|past|previous)\s+(?P<n>[0-9]{{1,3}}|{_SMALL})(?:\s+|(?<=\d)(?=h)){_ENGLISH_UNIT}",
            _last,
        ),
        (
            rf"(?<!\w)(?:the\s+)?(?:last|past|previous)\s+(?P<n>(?:a\s+)?couple\s+of)\s+{_ENGLISH_UNIT}",
            _last,
        ),
        (rf"(?<!\w)(?:the\s+)?(?P<n>past)\s+{_ENGLISH_UNIT}", _last),
        (
            rf"(?<!\w)(?:within|over|during|in)\s+the\s+(?P<n>last)\s+(?=week|day|hour){_ENGLISH_UNIT}",
            _last,
        ),
        (r"(?<!\w)(?:the\s+)?day\s+before\s+yesterday(?!\w)", _ago("in_day", 2)),
        (rf"{_NOT_AGAINST}大前年{_YEAR_ENDS}", _ago("in_year", 3)),
        (rf"{_NOT_AGAINST}{_NO_TIME_BEFORE}前年{_YEAR_ENDS}", _ago("in_year", 2)),
        (rf"{_NOT_AGAINST}(?<!过)(?:去年|(?<!以)(?<!之)上一?年度){_YEAR_ENDS}", _ago("in_year", 1)),
        (
            rf"{_NOT_AGAINST}(?<![如现当])今年{_YEAR_ENDS}|{_NOT_AGAINST}{_OWN}本年{_YEAR_ENDS}",
            _ago("in_year", 0),
        ),
        (rf"{_NOT_AGAINST}上上个?月{_MONTH_ENDS}", _ago("in_month", 2)),
        (rf"{_NOT_AGAINST}(?<![以之线网床晚早])上个?月{_MONTH_ENDS}", _ago("in_month", 1)),
        (rf"{_NOT_AGAINST}(?:{_OWN}本月|这个月){_MONTH_ENDS}", _ago("in_month", 0)),
        (rf"{_NOT_AGAINST}上上个?{_WEEK}", _ago("in_week", 2)),
        (rf"{_NOT_AGAINST}(?<![以之线网床晚早])(?:上个?|上一){_WEEK}", _ago("in_week", 1)),
        (rf"{_NOT_AGAINST}(?:{_OWN}本|这个?|这一){_WEEK}", _ago("in_week", 0)),
        (rf"{_NOT_AGAINST}(?<![以之])上上个?季度{_ENDS}", _ago("in_quarter", 2)),
        (rf"{_NOT_AGAINST}(?<![以之线网])上个?季度{_ENDS}", _ago("in_quarter", 1)),
        (rf"{_NOT_AGAINST}(?:{_OWN}本|这个|当前)季度{_ENDS}", _ago("in_quarter", 0)),
        (rf"{_NOT_AGAINST}大前天{_ENDS}", _ago("in_day", 3)),
        (rf"{_NOT_AGAINST}{_NO_TIME_BEFORE}前[天日](?!数){_ENDS}", _ago("in_day", 2)),
        (rf"{_NOT_AGAINST}昨[天日]{_ENDS}", _ago("in_day", 1)),
        (rf"{_NOT_AGAINST}(?<![如现距当])今[天日](?!数){_ENDS}", _ago("in_day", 0)),
        (rf"{_ALONE}(?:last|previous)\s+week{_NO_PART_OF}", _ago("in_week", 1)),
        (rf"{_ALONE}(?:this|current)\s+week{_NO_PART_OF}", _ago("in_week", 0)),
        (rf"{_ALONE}(?:last|previous)\s+quarter{_NO_PART_OF}", _ago("in_quarter", 1)),
        (rf"{_ALONE}(?:this|current)\s+quarter{_NO_PART_OF}", _ago("in_quarter", 0)),
        (rf"{_ALONE}last\s+year(?!['’]){_NO_PART_OF}", _ago("in_year", 1)),
        (rf"{_ALONE}this\s+year(?!['’]){_NO_PART_OF}", _ago("in_year", 0)),
    )
)
