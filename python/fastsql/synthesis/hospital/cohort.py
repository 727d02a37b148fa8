"""All patients, or those of an age: how such a scope is drawn, joined in SQL, and said."""

from __future__ import annotations

import random

from fastsql.synthesis.hospital.conditions import age_condition, follows, what, where, window_condition
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.phrases import ages_phrase
from fastsql.synthesis.hospital.scope import Ages, Event, Relation, Scope
from fastsql.synthesis.hospital.values import Values

_WINDOWS = (
    *("since_year", "at_year", "ago_year", "this_year", "last_year") * 3,
    *("since_month", "at_month", "ago_month", "this_month", "last_month", "month_of_this_year"),
)
RELATIONS = (Relation("visit"), Relation("month"), Relation("month", 2))
TOTALS = {"AVG": "average", "MAX": "maximum|maximum|highest", "MIN": "minimum|minimum|lowest"}


def cohort(rng: random.Random, values: Values, *, ages: float = 0.0) -> Scope:
    """Everybody, mostly with a filter on time; of an age group with the probability `ages`."""
    window = values.window(rng.choice(_WINDOWS)) if rng.random() < 0.7 else None
    return Scope(window=window, ages=age_group(rng, values) if rng.random() < ages else None)


def age_group(rng: random.Random, values: Values) -> Ages:
    """A decade of life, or what is above 60."""
    if rng.random() < 0.3:
        return Ages(60)
    lowest = values.rng.choice((20, 30, 40, 50))
    return Ages(lowest, lowest + 9)


def joined(first: Event, then: Event, relation: Relation, scope: Scope, name: str) -> str:
    """T1: who had the first event and when; T2: who had the other one; joined where T2 follows as the relation says."""
    sides = []
    for event, column, ages in ((first, "", None), (then, name, scope.ages)):
        kind = KINDS[event.kind]
        visit = ", admissions.hadm_id" if relation.unit == "visit" else ""
        clauses = where(
            what(event),
            "" if ages is None else age_condition(ages),
            window_condition(scope.window, kind.when),
        )
        sides.append(
            f"( SELECT admissions.subject_id{column}, {kind.when}{visit} FROM {kind.table} "
            f"JOIN admissions ON {kind.column('hadm_id')} = admissions.hadm_id{clauses} )"
        )
    after = follows(relation, KINDS[first.kind].time, KINDS[then.kind].time)
    return f"{sides[0]} AS T1 JOIN {sides[1]} AS T2 ON T1.subject_id = T2.subject_id WHERE {after}"


def patients(scope: Scope, rng: random.Random) -> str:
    """Patients, of an age group where the scope has one."""
    return "patients" if scope.ages is None else f"patients {ages_phrase(scope.ages, rng)}"
