"""The phrases that many families share: filters on time, visits, ages, ordinals."""

from __future__ import annotations

import random

from fastsql.synthesis.hospital.scope import Ages, Nth, Relation, Scope, Visit, Window
from fastsql.synthesis.phrases import expand

PER = {"day": "daily", "month": "monthly", "year": "yearly"}
_PERIODS = {
    "this_year": "this year|in this year|during this year|throughout this year",
    "last_year": "last year|in the last year|during the last year|in the previous year|during the previous year",
    "this_month": "this month|in this month|during this month|throughout this month",
    "last_month": "last month|in the last month|during the last month|in the previous month|during the previous month",
    "this_day": "today",
    "last_day": "yesterday",
}


def window_phrase(window: Window, rng: random.Random) -> str:
    """The filter on time in the way of EHRSQL: "since 08/2100", "in 08/this year", "since 3 months ago"."""
    if window.kind in _PERIODS:
        return expand(_PERIODS[window.kind], rng)
    lead, _, rest = window.kind.partition("_")
    day, month, year = f"{window.day:02d}", f"{window.month:02d}", str(window.year)
    if lead in ("since", "before", "at"):
        date = {"day": f"{month}/{day}/{year}", "month": f"{month}/{year}", "year": year}[rest]
        word = lead if lead != "at" else "on" if rest == "day" else "in"
        return f"{word} {date}"
    if lead in ("ago", "until"):
        return f"{'since' if lead == 'ago' else 'until'} {window.count} {rest}{'s' if window.count > 1 else ''} ago"
    _, _, which, period = window.kind.split("_")
    if period == "month":
        return f"on {which} month/{day}"
    return f"on {month}/{day}/{which} year" if lead == "day" else f"in {month}/{which} year"


def visit_phrase(visit: Visit, rng: random.Random) -> str:
    """The visit: "on their first hospital visit", "during the current ICU stay"."""
    place = "ICU" if visit.place == "icu" else "hospital"
    noun = expand("visit|visit|stay" if visit.place == "icu" else "visit|visit|encounter|stay", rng)
    if visit.which == "current":
        return expand(f"[on|in|during] [the current|their current|this] {place} {noun}", rng)
    return expand(f"[on|on|in|during] [the|their] {visit.which} {place} {noun}", rng)


def when_phrase(scope: Scope, rng: random.Random) -> str:
    """The visit or the filter on time of a scope; empty where it has none."""
    if scope.visit is not None:
        return visit_phrase(scope.visit, rng)
    return "" if scope.window is None else window_phrase(scope.window, rng)


def ages_phrase(ages: Ages, rng: random.Random) -> str:
    """What follows "patients": "in their 40s", "aged 60 or above"."""
    if ages.highest is None:
        return expand(f"aged {ages.lowest} or above|in their {ages.lowest}s or above", rng)
    return expand(
        f"in their {ages.lowest}s|aged {ages.lowest}s|of age {ages.lowest}s|in the {ages.lowest}s age group",
        rng,
    )


def nth_word(nth: Nth) -> str:
    """first, second, third, last, second to last."""
    word = ("first", "second", "third")[nth.skip]
    if not nth.last:
        return word
    return "last" if nth.skip == 0 else f"{word} to last"


def relation_phrase(relation: Relation, rng: random.Random) -> str:
    """How soon something follows: "within 2 months", "in the same hospital visit"."""
    if relation.unit == "visit":
        return expand("[within|during|in] the same hospital [visit|visit|encounter|stay]", rng)
    if relation.count:
        return f"within {relation.count} {relation.unit}{'s' if relation.count > 1 else ''}"
    return expand(f"[within|in|during] the same {relation.unit}", rng)
