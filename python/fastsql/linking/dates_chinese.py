"""Dates in Chinese: 2100年12月5日, 二0一五年五月五日, 今年7月, 本月25号, with omitted years."""

from __future__ import annotations

import re
from collections.abc import Iterator

from fastsql.linking.candidate import Candidate
from fastsql.linking.day import date_candidate, full_year, shifted
from fastsql.linking.numerals import chinese_cardinal
from fastsql.linking.vocabulary.chinese import (
    AFTERNOON,
    CLASSIFIERS,
    HALVES_OF_DAY,
    NO_DAYS,
    NOON,
    ONE_TO_NINE,
    PARTS_OF_YEARS,
)

_DIGIT = f"0-9零〇{ONE_TO_NINE}"
_YEARS = f"(?P<year>[{_DIGIT}]{{4}}|[二两]千[零十{ONE_TO_NINE}]{{0,3}}|[{_DIGIT}]{{2}})"
_HAN_SMALL = f"[二三]?十[{ONE_TO_NINE}]?|(?=[零〇{ONE_TO_NINE}0-9]{{0,1}}[零〇{ONE_TO_NINE}])[{_DIGIT}]{{2}}|[{ONE_TO_NINE}]"
_SMALL = f"[0-9]{{1,2}}|{_HAN_SMALL}"
_MONTHS = f"(?P<month>{_SMALL})月"
# The 日 may be left out behind a whole date; the day then has to end there, and to count nothing.
_NO_DAY = "|".join((*CLASSIFIERS, *(f"(?<=一){letter}" for letter in NO_DAYS)))
_DAYS = f"(?P<day>(?:{_HAN_SMALL})(?=[日号]|(?!{_NO_DAY}|[{_DIGIT}十]))|[0-9]{{1,2}}(?=[日号]|(?![0-9个])))[日号]?"
_CLOCK = (
    rf"(?:[ ,]*(?P<half>{'|'.join((*HALVES_OF_DAY, NOON))})?(?P<hour>[0-9]{{1,2}})"
    r"(?:[点时:](?P<minute>[0-9]{1,2})?(?:[分:](?P<second>[0-9]{1,2})?秒?)?)"
    r")?"
)
_LONG = re.compile(rf"(?<![0-9.年]){_YEARS}年的?{_MONTHS}(?:份?的?){_DAYS}{_CLOCK}")
_YEAR_MONTH = re.compile(rf"(?<![0-9.]){_YEARS}年的?{_MONTHS}")
_MONTHS_TO = re.compile(
    rf"(?<![0-9.])(?:{_YEARS}年的?)?(?P<month>{_SMALL})(?:月份?)?(?P<to>[到至]|[~-]+)"
    rf"(?P<until>{_SMALL})月(?![0-9龄经]|(?:{_SMALL})[日号])(?(year)|(?![大后前内以之]))"
)
_MONTH_DAY = re.compile(rf"(?<![0-9.]){_MONTHS}(?:份?的?)(?P<day>{_SMALL})[日号]")
_YEAR = re.compile(
    rf"(?<![0-9.])(?P<year>[{_DIGIT}]{{4}}|[二两]千(?:零[{ONE_TO_NINE}]|[{ONE_TO_NINE}]?十[{ONE_TO_NINE}]?))年"
)
_SHORT_YEAR = re.compile(
    rf"(?P<before>[从在自于至到])?(?<![{_DIGIT}.])(?P<year>(?:[0零〇][{_DIGIT}]|[{_DIGIT}]{{2}}(?!年[内前后间里来以之多半])))年"
    rf"(?P<part>的?(?:{'|'.join(PARTS_OF_YEARS)}|q[1-4]))?"
)
_MONTH = re.compile(rf"(?<![0-9.{_DIGIT}])(?P<month>{_SMALL})月(?![{_DIGIT}])")
_DAY = re.compile(rf"(?<![0-9.{_DIGIT}第])(?P<day>{_SMALL})[日号](?![楼床院线机房])")
_TIME = re.compile(
    rf"(?P<half>{'|'.join(HALVES_OF_DAY)})(?P<hour>[0-9]{{1,2}}|{_HAN_SMALL})[点时](?:(?P<minute>[0-9]{{1,2}})分?)?"
)
_RANGE = re.compile(r"^(?:[日号 ]*[起开始]*(?:一直)?[到至与和~,、-]+ *|.{0,6}(?:同年|当年|那年)的?)$")
_WITHIN = re.compile(
    r"^(?:[起开始]*的?|后的?|之后的?|以后的?)(?P<years>[0-9]{1,2}|[一二两三四五六七八九十]{1,3})年(?:的?时间)?[之以]?内"
)


def chinese_dates(text: str) -> Iterator[Candidate]:
    """Date candidates of Chinese forms in `text` (folded).

    A year that the second date of a range leaves out is taken from the first: ``2013年7月16日到11月17日`` gives
    ``2013-11-17``, ``2020年3到6月`` gives ``2020-03`` and ``2020-06``. ``从2008年10月22日起的2年内`` gives the last day of
    the interval, ``2010-10-21``, too.
    """
    taken = bytearray(len(text))
    last: tuple[int, int, int, int] | None = None
    for match in sorted([*_LONG.finditer(text), *_MONTH_DAY.finditer(text)], key=lambda found: found.start()):
        month, day = _value(match["month"]), _value(match["day"])
        if month is None or day is None or any(taken[match.start() : match.end()]):
            continue
        inherited = "year" not in match.re.groupindex
        year = _year(match["year"]) if not inherited else None
        if inherited and last is not None and _RANGE.search(text[last[3] : match.start()]):
            whole = date_candidate(match.span(), year=last[0], month=month, day=day)
            if whole is not None:
                yield whole
        candidate = date_candidate(match.span(), year=year, month=month, day=day)
        if candidate is None:
            continue
        _take(taken, candidate)
        if year is not None:
            last = (year, month, day, match.end())
            clock = _clock(match)
            if clock is not None:
                candidate = (
                    date_candidate(match.span(), year=year, month=month, day=day, time=clock) or candidate
                )
            yield from _interval_end(text, match.end(), match.span(), (year, month, day))
        yield candidate
    for match in _MONTHS_TO.finditer(text):
        if not any(taken[match.start() : match.end()]):
            yield from _months(match, taken)
    for pattern in (_YEAR_MONTH, _YEAR, _SHORT_YEAR, _MONTH, _DAY, _TIME):
        for match in pattern.finditer(text):
            if any(taken[match.start() : match.end()]):
                continue
            found = _partial(match)
            if found is not None:
                _take(taken, found)
                yield found


def _months(match: re.Match[str], taken: bytearray) -> Iterator[Candidate]:
    """Both ends of ``1到6月``, those of ``2023年11月到2月`` with their years; then the latter month by itself, too."""
    year = _year(match["year"]) if match["year"] else None
    month, until = _value(match["month"]), _value(match["until"])
    if month is None or until is None:
        return
    next_year = None if year is None else year + (until < month)
    span = match.start("until"), match.end()
    begun = date_candidate((match.start(), match.start("to")), year=year, month=month)
    ended = date_candidate(span, year=next_year, month=until)
    alone = None if year is None else date_candidate(span, month=until)
    if begun is None or ended is None:
        return
    for candidate in filter(None, (begun, ended, alone)):
        _take(taken, candidate)
        yield candidate


def _partial(match: re.Match[str]) -> Candidate | None:
    groups = match.groupdict()
    end = match.start("part") if groups.get("part") else match.end()
    span = (match.start("year"), end) if groups.get("year") else match.span()
    if match.re is _TIME:
        return date_candidate(span, time=_clock(match))
    if match.re is _SHORT_YEAR and not (
        groups["before"] or groups["part"] or groups["year"][0] in "0零〇" or groups["year"] > "29"
    ):
        return None
    year = _year(groups["year"]) if groups.get("year") else None
    month = _value(groups["month"]) if groups.get("month") else None
    day = _value(groups["day"]) if groups.get("day") else None
    return date_candidate(span, year=year, month=month, day=day)


def _interval_end(
    text: str, end: int, span: tuple[int, int], start: tuple[int, int, int]
) -> Iterator[Candidate]:
    within = _WITHIN.match(text[end : end + 16])
    years = _value(within["years"]) if within else None
    if within and years:
        last_day = shifted(*start, years=years, days=-1)
        if last_day is not None:
            found = date_candidate(
                (span[0], end + within.end()), year=last_day[0], month=last_day[1], day=last_day[2]
            )
            if found is not None:
                yield found


def _take(taken: bytearray, candidate: Candidate) -> None:
    start, end = candidate.span
    taken[start:end] = b"\1" * (end - start)


def _value(numeral: str) -> int | None:
    return int(numeral) if numeral.isascii() else chinese_cardinal(numeral)


def _year(numeral: str) -> int | None:
    value = chinese_cardinal(numeral)
    return None if value is None else full_year(f"{value:0{len(numeral)}d}")


def _clock(match: re.Match[str]) -> tuple[int, int, int] | None:
    groups = match.groupdict()
    hour = _value(groups["hour"]) if groups.get("hour") else None
    if hour is None:
        return None
    if groups.get("half") in AFTERNOON and hour < 12:
        hour += 12
    minute, second = groups.get("minute"), groups.get("second")
    return hour, int(minute) if minute else 0, int(second) if second else 0
