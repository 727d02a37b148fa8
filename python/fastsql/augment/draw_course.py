"""Drawing meanings about the course of one patient: changes, what followed what, visits and costs."""

from __future__ import annotations

import random
from collections.abc import Callable

from fastsql.augment import meaning as m
from fastsql.augment.draw_patient import NTHS, WINDOWS, event_of, measure, scope_of, visit_of
from fastsql.augment.values import Values

_RELATIONS = (
    m.Relation("visit"),
    m.Relation("day"),
    m.Relation("month"),
    m.Relation("day", 2),
    m.Relation("month", 2),
)


def change(rng: random.Random, values: Values) -> m.Meaning:
    """Two readings of one visit, or at two written times."""
    event = measure(rng, values, ("lab", "vital", "weight"))
    operator = rng.choice(("-", "-", "<", ">"))
    patient = values.patient()
    if rng.random() < 0.25:
        later, earlier = values.moments(event.kind, event.item or "", patient)
        return m.Change(event, m.Scope(patient), later, earlier, operator)
    pairs = ((m.Nth(True), m.Nth(False)), (m.Nth(True), m.Nth(True, 1)), (m.Nth(False, 1), m.Nth(False)))
    last, first = rng.choice(pairs)
    visit = (
        m.Visit("hospital", visit_of("lab", rng).which)
        if event.item == "daily weight"
        else visit_of(event.kind, rng)
    )
    if rng.random() < 0.2:
        scope = m.Scope(patient, window=values.window(rng.choice(WINDOWS)))
    else:
        scope = m.Scope(patient, visit=visit)
    return m.Change(event, scope, last, first, operator)


def compare_patients(rng: random.Random, values: Values) -> m.Meaning:
    """The same reading of two patients."""
    event = measure(rng, values, ("lab", "vital", "weight"))
    scope = scope_of(event.kind, rng, values)
    return m.ComparePatients(
        event, scope, values.other_patient(), rng.choice(NTHS), rng.choice(("-", "<", ">"))
    )


def elapsed(rng: random.Random, values: Values) -> m.Meaning:
    """The time since an event, mostly of the current visit."""
    kind = rng.choice(("diagnosis", "procedure", "drug", "lab", "specimen", "careunit"))
    event = event_of(kind, values)
    if kind in ("lab", "specimen", "procedure") and rng.random() < 0.2:
        event = m.Event(kind)
    patient = values.patient()
    draw = rng.random()
    visit = m.Visit("hospital", "current") if draw < 0.6 else None if draw < 0.8 else visit_of("lab", rng)
    return m.Elapsed(event, m.Scope(patient, visit=visit), rng.random() < 0.5, rng.choice(("hour", "day")))


def repeated(rng: random.Random, values: Values) -> m.Meaning:
    """What happened so often."""
    kind = rng.choice(("procedure", "procedure", "diagnosis", "drug", "lab", "specimen"))
    return m.Repeated(kind, scope_of(kind, rng, values), values.rng.choice((2, 2, 3, 4)), rng.random() < 0.5)


def percentile(rng: random.Random, values: Values) -> m.Meaning:
    """A value among patients of one age."""
    event = event_of(rng.choice(("lab", "lab", "vital")), values)
    scope = m.Scope(values.patient(), visit=m.Visit("hospital", rng.choice(("first", "last", "current"))))
    return m.Percentile(event, scope, values.number(event.kind, event.item or ""))


def following(rng: random.Random, values: Values) -> m.Meaning:
    """What came after an event."""
    first = event_of(rng.choice(("diagnosis", "procedure", "procedure", "drug", "lab", "specimen")), values)
    draw = rng.random()
    scope = scope_of("drug", rng, values, current=False)
    relation = rng.choice(_RELATIONS)
    if draw < 0.5:
        kind = rng.choice(("drug", "drug", "diagnosis", "procedure", "lab", "specimen", "culture"))
        return m.Following(first, m.Event(kind), relation, scope)
    if draw < 0.65:
        kind = rng.choice(("drug", "diagnosis", "procedure", "lab", "specimen"))
        return m.Following(first, m.Event(kind), relation, scope, whether=True)
    then = event_of(rng.choice(("drug", "diagnosis", "procedure", "lab", "specimen")), values)
    if draw < 0.85:
        return m.Following(first, then, relation, scope, whether=True)
    return m.Following(first, then, relation, scope, nth=m.Nth(rng.random() < 0.5))


def together(rng: random.Random, values: Values) -> m.Meaning:
    """Two drugs at one time."""
    one, other = values.names("drug", 2)
    return m.Together((one, other), scope_of("drug", rng, values), rng.random() < 0.5)


def new_names(rng: random.Random, values: Values) -> m.Meaning:
    """What one period has and the one before has not."""
    kind = rng.choice(("drug", "drug", "diagnosis", "procedure", "lab", "specimen", "culture"))
    unit = rng.choice(("day", "month", "year"))
    return m.NewNames(kind, unit, m.Scope(values.patient()), gone=rng.random() < 0.25)


def detail(rng: random.Random, values: Values) -> m.Meaning:
    """A fact of an admission, or of the patient."""
    if rng.random() < 0.15:
        return m.Detail(rng.choice(("gender", "dob", "dod")), m.Scope(values.patient()))
    columns = (
        "insurance",
        "marital_status",
        "language",
        "admission_type",
        "admission_location",
        "discharge_location",
        "age",
    )
    column = rng.choice(columns)
    which = rng.choice(("first", "last") if column == "discharge_location" else ("first", "last", "current"))
    return m.Detail(column, m.Scope(values.patient(), visit=m.Visit("hospital", which)))


def stay_length(rng: random.Random, values: Values) -> m.Meaning:
    """The length of a visit."""
    place = rng.choice(("hospital", "icu"))
    which = rng.choice(("first", "last", "longest", "shortest", "average", "total"))
    patient = values.patient()
    draw = rng.random()
    window = values.window(rng.choice(WINDOWS[:10])) if draw < 0.3 else None
    visit = (
        m.Visit("hospital", rng.choice(("first", "last"))) if place == "icu" and 0.3 <= draw < 0.5 else None
    )
    return m.StayLength(place, which, m.Scope(patient, visit, window))


def visit_time(rng: random.Random, values: Values) -> m.Meaning:
    """When a visit began or ended."""
    place = rng.choice(("hospital", "icu"))
    patient = values.patient()
    window = values.window(rng.choice(WINDOWS[:10])) if rng.random() < 0.5 else None
    visit = (
        m.Visit("hospital", rng.choice(("first", "last")))
        if place == "icu" and window is None and rng.random() < 0.4
        else None
    )
    return m.VisitTime(place, rng.random() < 0.5, m.Scope(patient, visit, window), rng.choice(NTHS))


def patient_cost(rng: random.Random, values: Values) -> m.Meaning:
    """The total cost of the patient's care."""
    return m.PatientCost(scope_of("drug", rng, values))


DRAWERS: tuple[tuple[float, Callable[[random.Random, Values], m.Meaning]], ...] = (
    (1.6, change),
    (0.3, compare_patients),
    (1.0, elapsed),
    (0.6, repeated),
    (0.3, percentile),
    (2.0, following),
    (0.6, together),
    (0.6, new_names),
    (0.6, detail),
    (0.5, stay_length),
    (0.5, visit_time),
    (0.3, patient_cost),
)
"""With how often each is drawn, in relation to the others."""
