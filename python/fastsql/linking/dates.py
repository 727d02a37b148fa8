"""Dates in the question: digits in the usual orders, English month names, days and months beside "this year".

Each pattern reads what the earlier ones have left, so that the month of ``12/05/2100`` is not found a second time as
``05/2100``. A relative part ("this year", "last month") is no candidate: the grammar has actions for it. So
``07/this year`` gives the month ``07`` and ``12/29/last year`` the day ``12-29``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from fastsql.linking.candidate import Candidate
from fastsql.linking.day import date_candidate, full_year
from fastsql.linking.folding import has_han
from fastsql.linking.vocabulary import chinese, english

_DIGIT = re.compile(r"[0-9]")
_NEED_DIGITS = frozenset({"year", "month", "day", "hour", "one"})
"""Groups of a pattern that are digits, and not left out."""
_OPEN = r"(?<![a-z0-9_.])(?<![0-9][/-])"
_SHUT = r"(?![a-z0-9_]|[./-][0-9])"
_YEAR = r"(?P<year>1[6-9][0-9]{2}|2[0-9]{3})"
_MONTH = r"(?P<month>0?[1-9]|1[0-2])"
_DAY = r"(?P<day>0?[1-9]|[12][0-9]|3[01])"
_NAME = r"(?P<name>" + "|".join(sorted(english.MONTHS, key=len, reverse=True)) + r")\b\.?"
_NTH = r"(?:st|nd|rd|th)?"
_FULL = r"(?:,? ?(?:of )?)"
_BOTH_OF_YEAR = (
    rf"(?= ?(?:-|–|and|or|to|until|till|through)(?: ?| the end of ){_NAME.replace('?P<name>', '?:')}"
    rf"(?: [0-3]?[0-9]{_NTH}\b)?{_FULL}{_YEAR})"
)
"""Before a date whose year stands for both: "between March and June 2022", "in March or April 2022"."""
_HALF = r"(?P<half>[ap](?:m\b|\.m(?!\.?[a-z0-9_])\.?))"
"""The half of the day behind an hour: "pm", "p.m."."""
_TIME = (
    r"(?:(?:[ t]|,? at |, ?)(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::(?P<second>[0-5][0-9])(?:\.0+)?)?"
    rf"(?: ?{_HALF})?)?"
)
_WHICH = f"(?:{'|'.join(english.WHICH_PERIOD)})"
_OF_YEAR = rf"(?=[/ ,-] ?(?:of |in )?{_WHICH} year\b)"
_OF_MONTH = rf"(?=[/ ,-] ?(?:of |in )?(?:{_WHICH}|the|every|each|any) month\b)"
_ON = rf"\b(?:{'|'.join(english.BEFORE_DAYS)}) "
_BEFORE = rf"\b(?:{'|'.join(english.BEFORE_MONTHS)})(?: the)? "

Reader = Callable[[re.Match[str]], Candidate | None]


def find_dates(text: str) -> tuple[Candidate, ...]:
    """Date candidates in `text`, which is folded (see `folding.fold`), in the order of the patterns that found them."""
    return tuple(_readings(text))


def _readings(text: str) -> Iterator[Candidate]:
    taken = bytearray(len(text))
    if has_han(text):
        from fastsql.linking.dates_chinese import chinese_dates  # a dozen patterns that no other text needs

        for candidate in chinese_dates(text):
            start, end = candidate.span
            taken[start:end] = b"\1" * (end - start)
            yield candidate
    # Most questions have no digit, no month, or not the signs between numbers; a pattern that needs one is then not tried.
    has_digit = _DIGIT.search(text) is not None
    has_month = any(name in text for name in english.SHORT_MONTHS)
    for pattern, reader, signs, needs_digit, needs_month in _PATTERNS:
        if (needs_digit and not has_digit) or (needs_month and not has_month):
            continue
        if signs and not any(sign in text for sign in signs):
            continue
        for match in pattern.finditer(text):
            read = reader(match)
            if read is None or any(taken[slice(*read.span)]):
                continue
            start, end = read.span
            taken[start:end] = b"\1" * (end - start)
            yield read


def _number(match: re.Match[str], name: str) -> int | None:
    text = match.groupdict().get(name)
    return int(text) if text else None


def _clock(match: re.Match[str]) -> tuple[int, int, int] | None:
    hour = _number(match, "hour")
    if hour is None:
        return None
    half = match.groupdict().get("half")
    if half:
        if not 1 <= hour <= 12:
            return None
        hour = hour % 12 + (12 if half.startswith("p") else 0)
    return hour, _number(match, "minute") or 0, _number(match, "second") or 0


def _span(match: re.Match[str]) -> tuple[int, int]:
    """What was written, without the context that a look-behind or a leading group only tests."""
    return match.span("date") if "date" in match.re.groupindex else match.span()


def _parts(match: re.Match[str]) -> Candidate | None:
    """Year, month, day and time as the pattern names them."""
    name = match.groupdict().get("name")
    year = match.groupdict().get("year")
    return date_candidate(
        _span(match),
        year=full_year(year) if year else None,
        month=english.MONTHS[name] if name else _number(match, "month"),
        day=_number(match, "day"),
        time=_clock(match),
    )


def _day_or_month_first(match: re.Match[str]) -> Candidate | None:
    """12/05/2100: the month first, as in the United States, unless only the other order exists."""
    year, first, second = full_year(match["year"]), int(match["one"]), int(match["two"])
    time = _clock(match)
    american = date_candidate(match.span(), year=year, month=first, day=second, time=time)
    return american or date_candidate(match.span(), year=year, month=second, day=first, time=time)


def _two_digit_year(match: re.Match[str]) -> Candidate | None:
    """01-12-24: the year first where the question is Chinese, else last, unless only the other order exists."""
    one, two, three = match["one"], match["two"], match["three"]
    span = match.span()
    chinese = has_han(match.string)
    if not chinese and match["mark"] == ".":
        return None
    year_first = year_last = None
    if len(one) == 2:
        year_first = date_candidate(span, year=full_year(one), month=int(two), day=int(three))
    if len(three) == 2:
        year_last = date_candidate(span, year=full_year(three), month=int(one), day=int(two))
    return (year_first or year_last) if chinese else (year_last or year_first)


def _named_month(match: re.Match[str]) -> Candidate | None:
    """A month without year or day: "may" and other common words need a word before them that takes a time."""
    if match["name"] in english.AMBIGUOUS_MONTHS and not match["before"]:
        return None
    if match["name"] == "may" and re.match(
        rf" (?:{'|'.join(english.BEHIND_THE_VERB_MAY)})\b", match.string[match.end() :]
    ):
        return None
    return _parts(match)


def _year_alone(match: re.Match[str]) -> Candidate | None:
    year = int(match["year"])
    return date_candidate(match.span(), year=year) if 1900 <= year <= 2199 else None


def _part_of_day(match: re.Match[str]) -> Candidate | None:
    """An hour with its part of the day, "ten in the evening"; None where that part has no such hour."""
    clock = match["clock"]
    hour = english.HOURS_OF_PARTS[match["part"]].get(int(clock) if clock.isdigit() else _HOURS[clock])
    return None if hour is None else date_candidate(_span(match), time=(hour, 0, 0))


def _named_hour(match: re.Match[str]) -> Candidate | None:
    """Noon, and the midnight that a day begins with; that which it ends with has no time on it."""
    if match.groupdict().get("until"):
        return None
    return date_candidate(_span(match), time=(12 if match["date"].endswith("noon") else 0, 0, 0))


_HOURS = {word: hour for word, hour in english.SMALL_NUMERALS.items() if 1 <= hour <= 12}
_CLOCK = f"(?:1[0-2]|0?[1-9]|{'|'.join(_HOURS)})"
_PART = f"(?:{'|'.join(english.HOURS_OF_PARTS)})"
_BEHIND_CLOCK = r"(?: o'?clock)?"
_HOUR_OF_PART = rf"(?P<date>(?P<clock>{_CLOCK}){_BEHIND_CLOCK} (?:in the|at) (?P<part>{_PART})\b)"
_AT_AN_HOUR = rf"\b(?:at|after|before|since|from|until|till|around|between) {_HOUR_OF_PART}"
_TO_AN_HOUR = rf"\b(?:between|from) {_CLOCK}{_BEHIND_CLOCK}(?: (?:in the|at) {_PART})? (?:and|to|until|till) {_HOUR_OF_PART}"
"""The second hour of two: "and" alone may stand before a number of tablets."""
_UNITS = rf"(?! ?(?:{'|'.join((*english.COUNTED, *chinese.COUNTED))})(?![a-z]))"

_OCLOCK = (
    r"(?<![a-z0-9_.:])(?P<hour>[01]?[0-9]|2[0-3]):(?P<minute>[0-5][0-9])(?::[0-5][0-9])?"
    rf"(?: ?{_HALF})?(?![a-z0-9_:])"
)

_PATTERNS: tuple[tuple[re.Pattern[str], Reader, tuple[str, ...], bool, bool], ...] = tuple(
    (
        compiled := re.compile(pattern),
        reader,
        signs,
        not _NEED_DIGITS.isdisjoint(compiled.groupindex),
        "name" in compiled.groupindex,
    )
    for pattern, reader, signs in (
        (rf"{_OPEN}{_YEAR}(?P<mark>[-/.]){_MONTH}(?P=mark){_DAY}{_TIME}{_SHUT}", _parts, ("-", "/", ".")),
        (
            rf"{_OPEN}(?P<one>[0-9]{{1,2}})(?P<mark>[-/.])(?P<two>[0-9]{{1,2}})(?P=mark){_YEAR}{_TIME}{_SHUT}",
            _day_or_month_first, ("-", "/", "."),
        ),
        (rf"{_OPEN}(?P<one>[0-9]{{1,2}})(?P<mark>[-/.])(?P<two>[0-9]{{1,2}})(?P=mark)(?P<three>[0-9]{{1,2}}){_SHUT}",
         _two_digit_year, ("-", "/", ".")),
        (rf"{_OPEN}(?P<year>19[0-9]{{2}}|20[0-9]{{2}}|21[0-9]{{2}})(?P<month>0[1-9]|1[0-2])(?P<day>[0-2][0-9]|3[01]){_SHUT}",
         _parts, ()),
        (rf"{_OPEN}{_MONTH}[-/]{_YEAR}{_SHUT}", _parts, ("-", "/")),
        (rf"{_OPEN}{_YEAR}[-/](?P<month>0[1-9]|1[0-2]|[1-9]){_SHUT}", _parts, ("-", "/")),
        (rf"{_OPEN}{_MONTH}/{_DAY}{_OF_YEAR}", _parts, ("/",)),
        (rf"{_ON}(?P<date>(?<![0-9]){_MONTH}/{_DAY}){_SHUT}", _parts, ("/",)),
        (rf"{_OPEN}{_MONTH}(?=/{_WHICH} year\b)", _parts, ("/",)),
        (rf"(?<=month/){_DAY}{_SHUT}", _parts, ("month/",)),
        (rf"\b{_NAME} {_DAY}{_NTH}\b{_FULL}{_YEAR}{_TIME}{_SHUT}", _parts, ()),
        (rf"{_OPEN}{_DAY}{_NTH}[ -](?:of )?{_NAME}(?:{_FULL}|-){_YEAR}{_TIME}{_SHUT}", _parts, ()),
        (rf"\b{_NAME}{_FULL}[/-]?{_YEAR}{_SHUT}", _parts, ()),
        (rf"{_OPEN}{_YEAR}[, /-]{{1,2}}{_NAME}(?! ?[0-9])", _parts, ()),
        (rf"(?P<date>\b{_NAME} {_DAY}{_NTH}\b){_BOTH_OF_YEAR}", _parts, ()),
        (rf"(?P<date>\b{_NAME}){_BOTH_OF_YEAR}", _parts, ()),
        (rf"\b{_NAME} (?:the )?{_DAY}{_NTH}(?![a-z0-9%/]|\.[0-9])", _parts, ()),
        (rf"{_OPEN}{_DAY}{_NTH} (?:of )?{_NAME}(?![a-z0-9])", _parts, ()),
        (rf"(?P<before>{_BEFORE}(?:of )?)?(?P<date>\b{_NAME}){_OF_YEAR}", _parts, ()),
        (rf"(?P<before>{_BEFORE})?(?P<date>\b{_NAME})(?![a-z0-9])", _named_month, ()),
        (rf"{_OPEN}{_DAY}(?:st|nd|rd|th)(?: day)?{_OF_MONTH}", _parts, ("month",)),
        (rf"(?:{_WHICH}) month(?:'s)?,? (?:on )?(?:the )?(?P<date>{_DAY}(?:st|nd|rd|th))\b", _parts, ("month",)),
        (rf"\b(?:on|since|before|after|from|by|until|till) the (?P<date>{_DAY}(?:st|nd|rd|th))\b(?! [a-z])", _parts,
         ("the ",)),
        (rf"\bday (?P<date>{_DAY})\b{_OF_MONTH}", _parts, ("day ",)),
        (_OCLOCK, _parts, (":",)),
        (rf"(?<![a-z0-9_.:])(?P<hour>0?[1-9]|1[0-2]) ?{_HALF}", _parts, ("am", "pm", "a.m", "p.m")),
        (_TO_AN_HOUR, _part_of_day, tuple(english.HOURS_OF_PARTS)),
        (_AT_AN_HOUR, _part_of_day, tuple(english.HOURS_OF_PARTS)),
        (r"(?P<date>\b(?:12 )?noon)\b", _named_hour, ("noon",)),
        (r"(?P<until>\b(?:before|by|to|until|till|and) )?(?P<date>\b(?:12 )?midnight)\b", _named_hour, ("midnight",)),
        (rf"(?<![a-z0-9_.,$#-])(?<![0-9]/){_YEAR}(?![a-z0-9_]|[.,/][0-9]|-month|-day|-year){_UNITS}", _year_alone, ()),
        (rf"(?<![a-z0-9_.,$#-]){_YEAR}(?=q[1-4](?![a-z0-9_]))", _year_alone, ("q",)),
        (rf"(?<=[0-9]-){_YEAR}(?![a-z0-9_]|[.,/][0-9])", _year_alone, ("-",)),
    )
)  # fmt: skip
