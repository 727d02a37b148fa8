"""Drawing meanings about all patients."""

from __future__ import annotations

import random
from collections.abc import Callable

from fastsql.augment import meaning as m
from fastsql.augment.draw_patient import LONG_WINDOWS, OPEN_WINDOWS, event_of, scope_of
from fastsql.augment.values import Values

_WINDOWS = (
    *("since_year", "at_year", "ago_year", "this_year", "last_year") * 3,
    *("since_month", "at_month", "ago_month", "this_month", "last_month", "month_of_this_year"),
)
_RANKED = ("drug", "diagnosis", "procedure", "lab", "specimen", "culture")
_RELATIONS = (m.Relation("visit"), m.Relation("month"), m.Relation("month", 2))
_FUNCTIONS = ("AVG", "MAX", "MIN")


def _scope(rng: random.Random, values: Values, *, ages: float = 0.0) -> m.Scope:
    window = values.window(rng.choice(_WINDOWS)) if rng.random() < 0.7 else None
    return m.Scope(window=window, ages=_ages(rng, values) if rng.random() < ages else None)


def _ages(rng: random.Random, values: Values) -> m.Ages:
    if rng.random() < 0.3:
        return m.Ages(60)
    lowest = values.rng.choice((20, 30, 40, 50))
    return m.Ages(lowest, lowest + 9)


def count_events(rng: random.Random, values: Values) -> m.Meaning:
    """How often something was done in all."""
    event = event_of(rng.choice(("procedure", "drug", "diagnosis", "lab", "specimen")), values)
    return m.CountEvents(event, _scope(rng, values))


def count_patients(rng: random.Random, values: Values) -> m.Meaning:
    """How many patients."""
    if rng.random() < 0.3:
        state = rng.choice(("current", "discharged", "admitted", "emergency"))
        scope = _scope(rng, values, ages=0.4)
        return m.CountPatients(None, m.Scope(ages=scope.ages) if state == "current" else scope, state)
    event = event_of(
        rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit", "input", "output")),
        values,
    )
    if rng.random() < 0.15:
        return m.CountPatients(
            event, m.Scope(ages=_ages(rng, values) if rng.random() < 0.3 else None), "current"
        )
    return m.CountPatients(event, _scope(rng, values, ages=0.35))


def list_patients(rng: random.Random, values: Values) -> m.Meaning:
    """Which patients."""
    event = event_of(rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit")), values)
    return m.ListPatients(event, _scope(rng, values, ages=0.25))


def count_followed(rng: random.Random, values: Values) -> m.Meaning:
    """How many patients had one event after another."""
    first = rng.choice(("diagnosis", "diagnosis", "procedure", "drug", "lab"))
    then = rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen"))
    one, other = values.names(first, 2)
    later = m.Event(then, other if then == first else values.name(then))
    return m.CountFollowed(m.Event(first, one), later, rng.choice(_RELATIONS), _scope(rng, values))


def ranking(rng: random.Random, values: Values) -> m.Meaning:
    """What is most frequent."""
    kind = rng.choice(_RANKED)
    top = values.rng.choice((2, 3, 3, 4, 4, 5, 5, 10))
    draw = rng.random()
    if draw < 0.2:
        kind = rng.choice((*_RANKED, "input", "output", "careunit"))
        return m.Ranking(kind, top, _scope(rng, values))
    if draw < 0.4:
        return m.Ranking(kind, top, _scope(rng, values, ages=1.0))
    if draw < 0.55:
        return m.Ranking(kind, top, scope_of(kind, rng, values))
    first = event_of(rng.choice(("diagnosis", "procedure", "drug", "lab")), values)
    return m.Ranking(kind, top, _scope(rng, values, ages=0.3), first, rng.choice(_RELATIONS))


def price(rng: random.Random, values: Values) -> m.Meaning:
    """What it costs."""
    return m.Price(event_of(rng.choice(("diagnosis", "procedure", "drug", "lab")), values))


def intake_route(rng: random.Random, values: Values) -> m.Meaning:
    """How it is taken."""
    del rng
    return m.IntakeRoute(values.name("drug"))


def visit_cost(rng: random.Random, values: Values) -> m.Meaning:
    """What hospital visits with it cost."""
    event = event_of(rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit")), values)
    return m.VisitCost(event, _scope(rng, values), rng.choice(_FUNCTIONS))


def rate(rng: random.Random, values: Values) -> m.Meaning:
    """How many patients per period."""
    event = event_of(
        rng.choice(("diagnosis", "diagnosis", "procedure", "drug", "lab", "specimen", "careunit")), values
    )
    per = rng.choice(("day", "month", "year"))
    window = (
        values.window(rng.choice(LONG_WINDOWS if per != "year" else OPEN_WINDOWS))
        if rng.random() < 0.7
        else None
    )
    return m.Rate(event, m.Scope(window=window), rng.choice(_FUNCTIONS), per)


def mortality(rng: random.Random, values: Values) -> m.Meaning:
    """After what patients die."""
    kind = rng.choice(("diagnosis", "diagnosis", "procedure", "drug"))
    return m.Mortality(kind, values.rng.choice((2, 3, 4, 5)), rng.choice((3, 6)), fewest=rng.random() < 0.3)


DRAWERS: tuple[tuple[float, Callable[[random.Random, Values], m.Meaning]], ...] = (
    (0.8, count_events),
    (1.6, count_patients),
    (0.4, list_patients),
    (1.8, count_followed),
    (3.0, ranking),
    (0.3, price),
    (0.15, intake_route),
    (1.2, visit_cost),
    (1.2, rate),
    (0.25, mortality),
)
"""With how often each is drawn, in relation to the others."""
