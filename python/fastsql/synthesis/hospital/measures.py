"""What is measured, given or lost: how it is drawn, read in SQL, and called in words."""

from __future__ import annotations

import random

from fastsql.synthesis.hospital.conditions import at_nth, conditions_of, quote, where
from fastsql.synthesis.hospital.drawing import event_of
from fastsql.synthesis.hospital.kinds import BODY_MEASURES, KINDS, VITAL_SIGNS
from fastsql.synthesis.hospital.scope import Bound, Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

FUNCTIONS = {
    "MAX": "maximum|maximum|highest",
    "MIN": "minimum|minimum|lowest",
    "AVG": "average|average|mean",
    "SUM": "total",
}


def measure(rng: random.Random, values: Values, kinds: tuple[str, ...]) -> Event:
    """Something with a number; the weight is charted like a vital sign."""
    kind = rng.choice(kinds)
    if kind == "weight":
        return Event("vital", "daily weight")
    return event_of(kind, values)


def bounded_event(rng: random.Random, values: Values) -> Event:
    """A vital sign or lab test with a bound on its value."""
    kind = rng.choice(("vital", "vital", "lab"))
    item = values.name(kind)
    if kind == "vital" and rng.random() < 0.3:
        return Event(kind, item, bound=Bound(normal=VITAL_SIGNS[item][0]))
    return Event(kind, item, bound=Bound(rng.choice("<>"), values.number(kind, item)))


def reading_sql(event: Event, scope: Scope, moment: Nth | str) -> str:
    """The number of the nth event, or of the one at a written time."""
    kind = KINDS[event.kind]
    conditions = conditions_of(event, scope)
    at = (
        f"{kind.when} = {quote(moment)}"
        if isinstance(moment, str)
        else at_nth(kind.when, kind.table, conditions, moment)
    )
    return f"SELECT {kind.column(kind.number)} FROM {kind.table}{where(*conditions, at)}"


def measured(event: Event, rng: random.Random) -> str:
    """How the item of an event with a number is called."""
    assert event.item is not None
    if event.kind == "vital" and event.item in BODY_MEASURES:
        return BODY_MEASURES[event.item]
    if event.kind == "vital" and event.item in VITAL_SIGNS:
        return rng.choice(VITAL_SIGNS[event.item][1])
    return event.item


def bounded(patterns: str, event: Event, scope: Scope, rng: random.Random, **values: str) -> str:
    """A question about a number in or out of bounds: ``<b>`` is "less than 97.0", ``<a>`` "a heart rate less than 97.0"."""
    bound = event.bound
    assert bound is not None
    if bound.normal:
        outside = "abnormal|out of the normal range|outside the normal range|not normal"
        text = choose(patterns, rng, b=outside, a="an abnormal {x}")
    else:
        words = "[greater|higher] than|above" if bound.operator == ">" else "[less|lower] than|below"
        text = choose(patterns, rng, b=f"[{words}] {{v}}", a=f"a {{x}} [{words}] {{v}}")
    return put(text, p=f"patient {scope.patient}", v=str(bound.value), x=measured(event, rng), **values)


def more(operator: str) -> str:
    """What < and > are called."""
    return "[less|lower] than" if operator == "<" else "[greater|higher] than"
