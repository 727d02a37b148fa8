"""The little phrase grammar, and the phrases that many questions share: filters on time, visits, ages, ordinals."""

from __future__ import annotations

import random
import re

from fastsql.augment.scope import Ages, Nth, Relation, Scope, Visit, Window

_INNERMOST = re.compile(r"\[([^\[\]]*)\]")
_NUMBER_WORDS = ("zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten")
_PERIODS = {
    "this_year": "this year|in this year|during this year|throughout this year",
    "last_year": "last year|in the last year|during the last year|in the previous year|during the previous year",
    "this_month": "this month|in this month|during this month|throughout this month",
    "last_month": "last month|in the last month|during the last month|in the previous month|during the previous month",
    "this_day": "today",
    "last_day": "yesterday",
}


def expand(text: str, rng: random.Random) -> str:
    """One phrase of the grammar: ``a|b`` is one of two phrases, ``[a|b] c`` groups, ``[a|]`` may be left out."""
    while True:
        found = _INNERMOST.search(text)
        if found is None:
            return rng.choice(text.split("|"))
        chosen = rng.choice(found[1].split("|"))
        text = text[: found.start()] + chosen + text[found.end() :]


_COMMON = {
    "what": "What [was|is]|What's|Tell me|Can you tell me|Could you give me|Show me|Give me",
    "calculate": "Calculate|Tell me|Give me|What [was|is]|Get me|Can you tell me",
    "count": "Count|Count up|Calculate|Tell me|Give me|What [was|is]|Get|Find",
}
_FRAGMENT = re.compile(r"<(\w+)>")


def choose(patterns: str, rng: random.Random, **fragments: str) -> str:
    """One line of `patterns`, expanded. ``<name>`` stands for a fragment, which is a phrase of the grammar, too."""
    known = {**_COMMON, **fragments}
    line = rng.choice(patterns.strip().splitlines()).strip()
    while _FRAGMENT.search(line):
        line = _FRAGMENT.sub(lambda match: f"[{known[match[1]]}]", line)
    return expand(line, rng)


def put(text: str, **values: str) -> str:
    """The text with the values of its ``{slots}``, taken literally. ``{when}`` is left to `finish`."""
    for name, value in values.items():
        if value[:1] in tuple("aeio"):
            text = text.replace(f" a {{{name}}}", f" an {{{name}}}")
        text = text.replace(f"{{{name}}}", value)
    return text


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
        return expand(f"aged {ages.lowest} or above|in their {ages.lowest} or above", rng)
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


def number_word(number: int, rng: random.Random) -> str:
    """A small number, mostly spelled out."""
    return _NUMBER_WORDS[number] if number < len(_NUMBER_WORDS) and rng.random() < 0.85 else str(number)


def relation_phrase(relation: Relation, rng: random.Random) -> str:
    """How soon something follows: "within 2 months", "in the same hospital visit"."""
    if relation.unit == "visit":
        return expand("[within|during|in] the same hospital [visit|visit|encounter|stay]", rng)
    if relation.count:
        return f"within {relation.count} {relation.unit}{'s' if relation.count > 1 else ''}"
    return expand(f"[within|in|during] the same {relation.unit}", rng)


def finish(text: str, when: str, rng: random.Random) -> str:
    """The question with its filter on time or visit: at ``{when}``, or now and then in front."""
    if when and rng.random() < 0.12:
        body = text.replace("{when}", "")
        first, _, rest = body.partition(" ")
        text = f"{when[:1].upper()}{when[1:]}, {first[:1].lower()}{first[1:]} {rest}"
    else:
        text = text.replace("{when}", f" {when}" if when else "")
    text = re.sub(r" ([,.?])(?= |$)", r"\1", re.sub(r" +", " ", text)).strip()
    return text[:1].upper() + text[1:]
