"""Drawing meanings about a patient's events: every kind of event with every filter that makes sense for it."""

from __future__ import annotations

import random
from collections.abc import Callable

from fastsql.augment import meaning as m
from fastsql.augment.kinds import KINDS, VITAL_SIGNS
from fastsql.augment.values import Values

WINDOWS = (
    *(
        "since_month",
        "since_day",
        "since_year",
        "at_month",
        "at_day",
        "at_year",
        "ago_month",
        "ago_day",
        "ago_year",
    ),
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
LONG_WINDOWS = (
    "since_month",
    "since_day",
    "since_year",
    "at_year",
    "ago_month",
    "ago_year",
    "this_year",
    "last_year",
)
OPEN_WINDOWS = ("since_month", "since_day", "since_year", "ago_month", "ago_year")
NAMED = ("diagnosis", "procedure", "drug", "lab", "specimen", "input", "output")
NTHS = (*[m.Nth(False), m.Nth(True)] * 4, m.Nth(False, 1), m.Nth(True, 1))


def scope_of(kind: str, rng: random.Random, values: Values, *, current: bool = True) -> m.Scope:
    """A patient; with a visit, a filter on time, or neither."""
    draw = rng.random()
    if draw < 0.2:
        return m.Scope(values.patient())
    if draw < 0.6:
        kinds = BACKWARD if rng.random() < 0.08 else WINDOWS
        return m.Scope(values.patient(), window=values.window(rng.choice(kinds)))
    return m.Scope(values.patient(), visit=visit_of(kind, rng, current=current))


def visit_of(kind: str, rng: random.Random, *, current: bool = True) -> m.Visit:
    """A visit to the hospital; for what is charted in intensive care, mostly a stay there."""
    place = "icu" if KINDS[kind].by_stay and rng.random() < 0.65 else "hospital"
    return m.Visit(
        place, rng.choice(("first", "last", "first", "last", "current") if current else ("first", "last"))
    )


def event_of(kind: str, values: Values) -> m.Event:
    """An event of one item."""
    return m.Event(kind, values.name(kind))


def bounded_event(rng: random.Random, values: Values) -> m.Event:
    """A vital sign or lab test with a bound on its value."""
    kind = rng.choice(("vital", "vital", "lab"))
    item = values.name(kind)
    if kind == "vital" and rng.random() < 0.3:
        return m.Event(kind, item, bound=m.Bound(normal=VITAL_SIGNS[item][0]))
    return m.Event(kind, item, bound=m.Bound(rng.choice("<>"), values.number(kind, item)))


def any_event(rng: random.Random, values: Values) -> m.Meaning:
    """Any event of a kind, of an item, of several drugs, or of a bounded measure."""
    draw = rng.random()
    if draw < 0.2:
        event = bounded_event(rng, values)
    elif draw < 0.3:
        event = m.Event("drug", items=values.names("drug", rng.choice((2, 3, 3))))
    elif draw < 0.6:
        event = m.Event(rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "input", "output")))
    else:
        event = event_of(rng.choice((*NAMED, "careunit")), values)
    return m.AnyEvent(event, scope_of(event.kind, rng, values))


def any_admission(rng: random.Random, values: Values) -> m.Meaning:
    """An admission at all, or through the emergency room, there also of one visit."""
    emergency = rng.random() < 0.6
    scope = scope_of("drug", rng, values)
    return m.AnyAdmission(scope if emergency else m.Scope(scope.patient, window=scope.window), emergency)


def count_events(rng: random.Random, values: Values) -> m.Meaning:
    """How often one item."""
    event = bounded_event(rng, values) if rng.random() < 0.25 else event_of(rng.choice(NAMED), values)
    return m.CountEvents(event, scope_of(event.kind, rng, values))


def count_names(rng: random.Random, values: Values) -> m.Meaning:
    """How many different ones."""
    kind = rng.choice(("drug", "drug", "diagnosis", "procedure", "lab", "specimen", "careunit"))
    return m.CountNames(kind, scope_of(kind, rng, values))


def list_names(rng: random.Random, values: Values) -> m.Meaning:
    """Which ones."""
    kind = rng.choice(
        (
            "drug",
            "diagnosis",
            "procedure",
            "lab",
            "specimen",
            "culture",
            "careunit",
            "organism",
            "input",
            "output",
        )
    )
    return m.ListNames(kind, scope_of(kind, rng, values))


def count_visits(rng: random.Random, values: Values) -> m.Meaning:
    """Visits to the hospital by time, to intensive care also by hospital visit."""
    place = rng.choice(("hospital", "icu"))
    scope = scope_of("drug", rng, values)
    return m.CountVisits(place, scope if place == "icu" else m.Scope(scope.patient, window=scope.window))


def when(rng: random.Random, values: Values) -> m.Meaning:
    """The time of the nth event."""
    draw = rng.random()
    if draw < 0.25:
        event = bounded_event(rng, values)
    elif draw < 0.4:
        event = m.Event(rng.choice(("specimen", "input", "output", "lab", "procedure", "drug")))
    else:
        event = event_of(rng.choice((*NAMED, "route", "careunit")), values)
    return m.When(event, scope_of(event.kind, rng, values), rng.choice(NTHS))


def when_extreme(rng: random.Random, values: Values) -> m.Meaning:
    """The time of the highest or lowest value."""
    event = event_of(rng.choice(("vital", "vital", "lab", "lab", "input", "output")), values)
    return m.WhenExtreme(event, scope_of(event.kind, rng, values), rng.random() < 0.5, rng.random() < 0.5)


def which_name(rng: random.Random, values: Values) -> m.Meaning:
    """The name of the nth event."""
    kind = rng.choice(
        (
            "drug",
            "drug",
            "diagnosis",
            "procedure",
            "lab",
            "specimen",
            "culture",
            "careunit",
            "input",
            "output",
        )
    )
    via = values.name("route") if kind == "drug" and rng.random() < 0.5 else None
    return m.WhichName(kind, scope_of(kind, rng, values), rng.choice(NTHS), via)


def organism(rng: random.Random, values: Values) -> m.Meaning:
    """The organism of the nth test."""
    scope = scope_of("specimen", rng, values)
    return m.Organism(values.name("specimen"), scope, m.Nth(rng.random() < 0.5), rng.random() < 0.5)


def measure(rng: random.Random, values: Values, kinds: tuple[str, ...]) -> m.Event:
    """Something with a number; the weight is charted like a vital sign."""
    kind = rng.choice(kinds)
    if kind == "weight":
        return m.Event("vital", "daily weight")
    return event_of(kind, values)


def reading(rng: random.Random, values: Values) -> m.Meaning:
    """The nth value, dose or amount."""
    event = measure(rng, values, ("lab", "lab", "vital", "vital", "drug", "weight", "input", "output"))
    return m.Reading(event, scope_of(event.kind, rng, values), rng.choice(NTHS))


def total(rng: random.Random, values: Values) -> m.Meaning:
    """A function of the numbers."""
    event = measure(rng, values, ("lab", "vital", "weight", "input", "output", "input", "output", "drug"))
    if event.kind in ("input", "output") and rng.random() < 0.3:
        event = m.Event(event.kind)
    additive = event.kind in ("input", "output", "drug")
    if event.kind == "drug" or (additive and event.item is None):
        function = "SUM"
    else:
        function = rng.choice(("SUM", "SUM", "MAX", "MIN", "AVG") if additive else ("MAX", "MIN", "AVG"))
    per = rng.choice(("day", "month", "year")) if rng.random() < 0.35 and event.item is not None else ""
    if function != "SUM" and additive and not per:
        per = rng.choice(("day", "month", "year"))
    if event.kind == "drug":
        per = ""
    scope = scope_of(event.kind, rng, values)
    if per and scope.window is not None:
        # A filter that lies within one period of the grouping would make the grouping pointless.
        scope = m.Scope(
            scope.patient, window=values.window(rng.choice(LONG_WINDOWS if per != "year" else OPEN_WINDOWS))
        )
    return m.Total(event, scope, function, per)


DRAWERS: tuple[tuple[float, Callable[[random.Random, Values], m.Meaning]], ...] = (
    (2.0, any_event),
    (0.3, any_admission),
    (1.2, count_events),
    (0.5, count_names),
    (0.5, list_names),
    (0.4, count_visits),
    (2.5, when),
    (1.5, when_extreme),
    (2.0, which_name),
    (0.7, organism),
    (1.8, reading),
    (2.0, total),
)
"""With how often each is drawn, in relation to the others."""
