"""What many families draw: filters on time, scopes of a patient, events, places in an order."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.scope import Event, Nth, Relation, Scope, Visit
from fastsql.synthesis.hospital.values import Values

_UNITS = ("month", "day", "year")
WINDOWS = (
    *(f"{lead}_{unit}" for lead in ("since", "at", "ago") for unit in _UNITS),
    *("this_year", "last_year", "this_month", "last_month", "this_day", "last_day"),
    *(
        "month_of_this_year",
        "month_of_last_year",
        "day_of_this_year",
        "day_of_this_month",
        "day_of_last_month",
    ),
)
BACKWARD = ("before_day", "before_month", "before_year", "until_day", "until_month", "until_year")
OPEN_WINDOWS = ("since_month", "since_day", "since_year", "ago_month", "ago_year")
LONG_WINDOWS = (*OPEN_WINDOWS[:3], "at_year", *OPEN_WINDOWS[3:], "this_year", "last_year")
NAMED = ("diagnosis", "procedure", "drug", "lab", "specimen", "input", "output")
NTHS = (*[Nth(False), Nth(True)] * 4, Nth(False, 1), Nth(True, 1))


def scope_of(kind: str, rng: random.Random, values: Values, *, current: bool = True) -> Scope:
    """A patient; with a visit, a filter on time, or neither."""
    draw = rng.random()
    if draw < 0.2:
        return Scope(values.patient())
    if draw < 0.6:
        kinds = BACKWARD if rng.random() < 0.08 else WINDOWS
        return Scope(values.patient(), window=values.window(rng.choice(kinds)))
    return Scope(values.patient(), visit=visit_of(kind, rng, current=current))


def visit_of(kind: str, rng: random.Random, *, current: bool = True) -> Visit:
    """A visit to the hospital; for what is charted in intensive care, mostly a stay there."""
    place = "icu" if KINDS[kind].by_stay and rng.random() < 0.65 else "hospital"
    return Visit(
        place, rng.choice(("first", "last", "first", "last", "current") if current else ("first", "last"))
    )


def relation_of(relations: Sequence[Relation], rng: random.Random, values: Values) -> Relation:
    """One of the relations; where it counts days or months, mostly their two, and now and then other numbers."""
    relation = rng.choice(relations)
    return replace(relation, count=values.rng.choice((1, 2, 2, 2, 3, 6))) if relation.count else relation


def event_of(kind: str, values: Values) -> Event:
    """An event of one item."""
    return Event(kind, values.name(kind))
