"""Time filters: their wordings in a question, and the abstract conditions that stand for them.

"since 08/2100", "this year" and "on 06/14/last year" are exchangeable: whatever question one of them fits, the others
fit, and the SQL differs in the time conditions alone. Augmentation uses this to show the model each question under
time filters that its template never came with. The wordings are those of the EHRSQL data sets (Lee et al. 2022), and, of
questions in Chinese, what people say (`times_chinese.py`).
"""

from __future__ import annotations

import random
import re
from dataclasses import dataclass

from fastsql.linking.folding import has_han
from fastsql.linking.vocabulary.english import SMALL_NUMERALS
from fastsql.training.variation import times_chinese
from fastsql.training.variation.time_wordings import (
    DAYS_OF_WEEK,
    MOST_WEEKS,
    OF_WEEKS,
    Condition,
    Reader,
    draw_year,
)


@dataclass(frozen=True)
class TimePhrase:
    """One time filter: it stands at `span` (characters) of the question, its `conditions` stand in the program.

    `conditions` are in the converter's canonical order.
    """

    kind: str
    span: tuple[int, int]
    conditions: tuple[Condition, ...]


_AGE = {"this": 0, "last": 1, "previous": 1}
_DAY = {"today": 0, "yesterday": 1}
_LEAD = r"(?P<lead>since|in|on|during|throughout|from|over|of|at) "
_NUMERALS = "|".join(sorted(SMALL_NUMERALS, key=len, reverse=True))
_SHORT = r"(?:(?P<lead>in|during|throughout|over|within) )?(?:the )?"


def _operator(match: re.Match[str]) -> str:
    return "date_ge" if match["lead"].lower() in ("since", "from") else "date_eq"


def _written(kind: str, form: str) -> Reader:
    def read(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
        operator = _operator(match)
        name = ("since_" if operator == "date_ge" else "at_") + kind
        return name, ((operator, _value(form, match), form),)

    return read


def _partial(kind: str, form: str, period: str) -> Reader:
    def read(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
        age = _AGE[match["age"].lower()]
        return f"{kind}_{age}", (("date_eq", _value(form, match), form), (f"in_{period}", age, ""))

    return read


def _value(form: str, match: re.Match[str]) -> str:
    groups = match.groupdict()
    return re.sub(r"%([Ymd])", lambda field: str(groups[field[1].lower()]), form)


def _ago(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
    unit, said = match["unit"].lower(), match["n"].lower()
    n = int(said) if said.isdigit() else SMALL_NUMERALS[said]
    if unit == "week":
        return "ago_day", (("since_day", DAYS_OF_WEEK * n, ""),)
    return f"ago_{unit}", ((f"since_{unit}", n, ""),)


def _period(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
    unit, age = match["unit"].lower(), _AGE[match["age"].lower()]
    return f"{unit}_{age}", ((f"in_{unit}", age, ""),)


def _day(match: re.Match[str]) -> tuple[str, tuple[Condition, ...]]:
    age = _DAY[match["day"].lower()]
    return f"day_{age}", (("in_day", age, ""),)


# In this order: a wording that contains another one comes first.
_WORDINGS: tuple[tuple[re.Pattern[str], Reader], ...] = tuple(
    (re.compile(r"(?<![\w/])" + pattern + r"(?![\w/])(?!:\d)", re.IGNORECASE), reader)
    for pattern, reader in (
        (_LEAD + r"(?P<m>\d\d)/(?P<d>\d\d)/(?P<y>\d{4})(?! \d\d:)", _written("day", "%Y-%m-%d")),
        (_LEAD + r"(?P<m>\d\d)/(?P<y>\d{4})", _written("month", "%Y-%m")),
        (_LEAD + r"(?P<y>[12]\d{3})(?!-\d)", _written("year", "%Y")),
        (
            r"(?P<lead>on|in) (?P<m>\d\d)/(?P<d>\d\d)/(?P<age>this|last) year",
            _partial("day_of_year", "%m-%d", "year"),
        ),
        (r"(?P<lead>in|on) (?P<m>\d\d)/(?P<age>this|last) year", _partial("month_of_year", "%m", "year")),
        (r"(?P<lead>on|in) (?P<age>this|last) month/(?P<d>\d\d)", _partial("day_of_month", "%d", "month")),
        (r"since (?P<n>\d+) (?P<unit>year|month|week|day)s? ago", _ago),
        (
            rf"(?:in|within|over|during) the (?:last|past) (?P<n>\d+|{_NUMERALS}) (?P<unit>year|month|week|day)s?",
            _ago,
        ),
        (_SHORT + r"(?P<age>this|last|previous) (?P<unit>year|month)", _period),
        (r"(?P<day>today|yesterday)", _day),
    )
)

KINDS = (
    *("ago_day", "ago_month", "ago_year", "year_0", "year_1", "month_0", "month_1", "day_0", "day_1"),
    *("at_year", "at_month", "at_day", "since_year", "since_month", "since_day"),
)
"""What people say of any database; a data set's own questions have more, such as "on 06/14/last year"."""


def find_time_phrases(question: str) -> list[TimePhrase]:
    """The time filters that a question spells out, by position."""
    found: list[TimePhrase] = []
    for pattern, reader in times_chinese.WORDINGS if has_han(question) else _WORDINGS:
        for match in pattern.finditer(question):
            if all(match.end() <= other.span[0] or match.start() >= other.span[1] for other in found):
                kind, conditions = reader(match)
                found.append(TimePhrase(kind, match.span(), conditions))
    return sorted(found, key=lambda phrase: phrase.span)


def draw_time_phrase(
    kind: str, rng: random.Random, *, in_chinese: bool = False
) -> tuple[str, tuple[Condition, ...]]:
    """A new wording of `kind` with dates drawn at random, and its conditions. `kind` as `find_time_phrases` names it."""
    if in_chinese:
        return times_chinese.draw(kind, rng)
    year, month, day = str(draw_year(rng)), f"{rng.randint(1, 12):02d}", f"{rng.randint(1, 28):02d}"
    lead, _, rest = kind.partition("_")
    if lead in ("since", "at"):
        operator = "date_ge" if lead == "since" else "date_eq"
        written, value, form = {
            "day": (f"{month}/{day}/{year}", f"{year}-{month}-{day}", "%Y-%m-%d"),
            "month": (f"{month}/{year}", f"{year}-{month}", "%Y-%m"),
            "year": (year, year, "%Y"),
        }[rest]
        word = "since" if lead == "since" else "on" if rest == "day" else "in"
        return f"{word} {written}", ((operator, value, form),)
    if lead == "ago":
        highest = {"year": 3, "month": 30, "day": 400}[rest]
        n = rng.randint(1, highest)
        if rest == "day" and rng.random() < OF_WEEKS:
            n = DAYS_OF_WEEK * rng.randint(1, MOST_WEEKS)
        weeks, days = divmod(n, DAYS_OF_WEEK)
        in_weeks = rest == "day" and not days and weeks <= MOST_WEEKS and rng.random() < 1 / 2
        said, unit = (weeks, "week") if in_weeks else (n, rest)
        units = f"{said} {unit}{'s' if said > 1 else ''}"
        wording = f"since {units} ago" if said == 1 or rng.random() < 1 / 2 else f"in the last {units}"
        return wording, ((f"since_{rest}", n, ""),)
    age = int(kind[-1])
    word = "this" if age == 0 else "last"
    if kind.startswith("day_of_year"):
        return f"on {month}/{day}/{word} year", (("date_eq", f"{month}-{day}", "%m-%d"), ("in_year", age, ""))
    if kind.startswith("month_of_year"):
        return f"in {month}/{word} year", (("date_eq", month, "%m"), ("in_year", age, ""))
    if kind.startswith("day_of_month"):
        return f"on {word} month/{day}", (("date_eq", day, "%d"), ("in_month", age, ""))
    if lead == "day":
        return ("today" if age == 0 else "yesterday"), (("in_day", age, ""),)
    if age == 0:
        word = rng.choice(("this", "this", "in this", "during this", "throughout this"))
    else:
        word = rng.choice(("last", "last", "in the last", "during the last"))
    return f"{word} {lead}", ((f"in_{lead}", age, ""),)
