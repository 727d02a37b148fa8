# ruff: noqa: S608 - SQL is what these functions write; texts are quoted by `quote`
"""SQL of the questions about all patients, in the style of EHRSQL 2024's gold."""

from __future__ import annotations

from fastsql.augment import meaning as m
from fastsql.augment.kinds import KINDS
from fastsql.augment.sql_parts import age_condition, follows, names_of, quote, what, where, window_condition
from fastsql.augment.sql_patient import conditions_of

_GRAIN = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}


def count_patients(asked: m.CountPatients) -> str:
    """The number of distinct patients with such an event, or whose admissions are in a state."""
    scope = asked.scope
    ages = "" if scope.ages is None else age_condition(scope.ages)
    if asked.event is not None:
        kind = KINDS[asked.event.kind]
        events = where(what(asked.event), window_condition(scope.window, kind.when))
        found = f"admissions.hadm_id IN ( SELECT {kind.column('hadm_id')} FROM {kind.table}{events} )"
        state = "admissions.dischtime IS NULL" if asked.state == "current" else ""
        return _patients(state, ages, found)
    if asked.state == "current":
        return _patients("admissions.dischtime IS NULL", ages)
    if asked.state == "discharged":
        time = window_condition(scope.window, "admissions.dischtime")
        return _patients("admissions.dischtime IS NOT NULL", ages, time)
    time = window_condition(scope.window, "admissions.admittime")
    if asked.state == "admitted":
        return _patients(ages, time)
    return _patients("admissions.admission_location = 'emergency room'", ages, time)


def _patients(*conditions: str) -> str:
    return f"SELECT COUNT( DISTINCT admissions.subject_id ) FROM admissions{where(*conditions)}"


def list_patients(asked: m.ListPatients) -> str:
    """The distinct patients with such an event."""
    kind = KINDS[asked.event.kind]
    events = where(what(asked.event), window_condition(asked.scope.window, kind.when))
    found = f"admissions.hadm_id IN ( SELECT {kind.column('hadm_id')} FROM {kind.table}{events} )"
    ages = "" if asked.scope.ages is None else age_condition(asked.scope.ages)
    return f"SELECT DISTINCT admissions.subject_id FROM admissions{where(ages, found)}"


def count_followed(asked: m.CountFollowed) -> str:
    """The number of patients who had one event after another."""
    joined = _joined(asked.first, asked.then, asked.relation, asked.scope, "")
    return f"SELECT COUNT( DISTINCT T1.subject_id ) FROM {joined}"


def ranking(asked: m.Ranking) -> str:
    """The names with the highest dense rank by count."""
    kind = KINDS[asked.kind]
    dense = "DENSE_RANK() OVER ( ORDER BY COUNT(*) DESC ) AS C1"
    if asked.first is None or asked.relation is None:
        clauses = where(*conditions_of(m.Event(asked.kind), asked.scope))
        ranked = f"SELECT {kind.what}, {dense} FROM {kind.table}{clauses} GROUP BY {kind.what}"
        return names_of(kind, f"SELECT T1.{kind.key} FROM ( {ranked} ) AS T1 WHERE T1.C1 <= {asked.top}")
    joined = _joined(asked.first, m.Event(asked.kind), asked.relation, asked.scope, f", {kind.what}")
    ranked = f"SELECT T2.{kind.key}, {dense} FROM {joined} GROUP BY T2.{kind.key}"
    return names_of(kind, f"SELECT T3.{kind.key} FROM ( {ranked} ) AS T3 WHERE T3.C1 <= {asked.top}")


def _joined(first: m.Event, then: m.Event, relation: m.Relation, scope: m.Scope, name: str) -> str:
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


def price(asked: m.Price) -> str:
    """The distinct costs of such an event."""
    kind = KINDS[asked.event.kind]
    rows = f"SELECT {kind.column('row_id')} FROM {kind.table}{where(what(asked.event))}"
    return (
        f"SELECT DISTINCT cost.cost FROM cost WHERE cost.event_type = {quote(kind.table)} "
        f"AND cost.event_id IN ( {rows} )"
    )


def intake_route(asked: m.IntakeRoute) -> str:
    """The routes that a drug has been prescribed by."""
    return f"SELECT DISTINCT prescriptions.route FROM prescriptions WHERE prescriptions.drug = {quote(asked.drug)}"


def visit_cost(asked: m.VisitCost) -> str:
    """A function of the total cost per admission."""
    kind = KINDS[asked.event.kind]
    visits = (
        f"cost.hadm_id IN ( SELECT {kind.column('hadm_id')} FROM {kind.table}{where(what(asked.event))} )"
    )
    time = window_condition(asked.scope.window, "cost.chargetime")
    totals = f"SELECT SUM(cost.cost) AS C1 FROM cost{where(visits, time)} GROUP BY cost.hadm_id"
    return f"SELECT {asked.function}(T1.C1) FROM ( {totals} ) AS T1"


def rate(asked: m.Rate) -> str:
    """A function of the number of admissions per period."""
    kind = KINDS[asked.event.kind]
    clauses = where(what(asked.event), window_condition(asked.scope.window, kind.when))
    counts = (
        f"SELECT COUNT( DISTINCT {kind.column('hadm_id')} ) AS C1 FROM {kind.table}{clauses} "
        f"GROUP BY strftime('{_GRAIN[asked.per]}',{kind.when})"
    )
    return f"SELECT {asked.function}(T1.C1) FROM ( {counts} ) AS T1"


def mortality(asked: m.Mortality) -> str:
    """The names by the share of patients who lived on for so many months after their first such event.

    A patient who died in time counts 0, any other 1, so the lowest average stands for the highest mortality.
    """
    kind = KINDS[asked.kind]
    share = {3: "1 * 365/4", 6: "1 * 365/2"}[asked.months]
    first = (
        f"SELECT admissions.subject_id, {kind.what}, {kind.when} FROM {kind.table} "
        f"JOIN admissions ON {kind.column('hadm_id')} = admissions.hadm_id "
        f"WHERE strftime('%J',current_time) - strftime('%J',{kind.when}) >= {share} "
        f"GROUP BY admissions.subject_id, {kind.what} HAVING MIN({kind.when}) = {kind.when}"
    )
    survived = (
        f"SELECT T1.{kind.key}, ( CASE WHEN strftime('%J',patients.dod) - strftime('%J',T1.{kind.time}) "
        f"< {share} THEN 0 ELSE 1 END ) AS C1 FROM ( {first} ) AS T1 "
        "JOIN patients ON T1.subject_id = patients.subject_id"
    )
    averaged = f"SELECT T2.{kind.key}, AVG(T2.C1) AS C2 FROM ( {survived} ) AS T2 GROUP BY T2.{kind.key}"
    order = "DESC" if asked.fewest else "ASC"
    ranked = (
        f"SELECT T3.{kind.key}, DENSE_RANK() OVER ( ORDER BY T3.C2 {order} ) AS C3 FROM ( {averaged} ) AS T3"
    )
    return names_of(kind, f"SELECT T4.{kind.key} FROM ( {ranked} ) AS T4 WHERE T4.C3 <= {asked.top}")
