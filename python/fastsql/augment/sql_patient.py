# ruff: noqa: S608 - SQL is what these functions write; texts are quoted by `quote`
"""SQL of the questions about one patient, in the style of EHRSQL 2024's gold."""

from __future__ import annotations

from dataclasses import replace

from fastsql.augment import meaning as m
from fastsql.augment.kinds import KINDS
from fastsql.augment.sql_parts import (
    admission_filter,
    at_nth,
    follows,
    in_admissions,
    names_of,
    nth_order,
    quote,
    what,
    where,
    whose,
    window_condition,
)

_GRAIN = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
_VISIT_TIMES = {
    ("hospital", False): ("admissions", "admittime"),
    ("hospital", True): ("admissions", "dischtime"),
    ("icu", False): ("icustays", "intime"),
    ("icu", True): ("icustays", "outtime"),
}


def conditions_of(event: m.Event, scope: m.Scope) -> tuple[str, str, str]:
    """What an event was, whose it was and when."""
    kind = KINDS[event.kind]
    return what(event), whose(kind, scope), window_condition(scope.window, kind.when)


def any_event(asked: m.AnyEvent) -> str:
    """COUNT(*)>0 over the events."""
    return f"SELECT COUNT(*)>0 FROM {KINDS[asked.event.kind].table}{where(*conditions_of(asked.event, asked.scope))}"


def any_admission(asked: m.AnyAdmission) -> str:
    """COUNT(*)>0 over the patient's admissions."""
    room = "admissions.admission_location = 'emergency room'" if asked.emergency else ""
    time = window_condition(asked.scope.window, "admissions.admittime")
    conditions = (f"admissions.subject_id = {asked.scope.patient}", room, time)
    return f"SELECT COUNT(*)>0 FROM admissions{where(*conditions)}{admission_filter(asked.scope.visit)}"


def count_events(asked: m.CountEvents) -> str:
    """COUNT(*) over the events."""
    return f"SELECT COUNT(*) FROM {KINDS[asked.event.kind].table}{where(*conditions_of(asked.event, asked.scope))}"


def count_names(asked: m.CountNames) -> str:
    """The number of distinct keys."""
    kind = KINDS[asked.kind]
    conditions = conditions_of(m.Event(asked.kind), asked.scope)
    return f"SELECT COUNT( DISTINCT {kind.what} ) FROM {kind.table}{where(*conditions)}"


def list_names(asked: m.ListNames) -> str:
    """The distinct names of all events."""
    kind = KINDS[asked.kind]
    some = f"{kind.what} IS NOT NULL" if asked.kind in ("careunit", "organism") else ""
    clauses = where(some, *conditions_of(m.Event(asked.kind), asked.scope))
    if kind.terms:
        return names_of(kind, f"SELECT {kind.what} FROM {kind.table}{clauses}", distinct=True)
    return f"SELECT DISTINCT {kind.what} FROM {kind.table}{clauses}"


def count_visits(asked: m.CountVisits) -> str:
    """The number of distinct admissions or ICU stays of the patient."""
    scope = asked.scope
    assert scope.patient is not None
    if asked.place == "hospital":
        patient = f"admissions.subject_id = {scope.patient}"
        time = window_condition(scope.window, "admissions.admittime")
        return f"SELECT COUNT( DISTINCT admissions.hadm_id ) FROM admissions{where(patient, time)}"
    patient = in_admissions("icustays", scope.patient, scope.visit)
    time = window_condition(scope.window, "icustays.intime")
    return f"SELECT COUNT( DISTINCT icustays.stay_id ) FROM icustays{where(patient, time)}"


def when(asked: m.When) -> str:
    """The time of the nth event."""
    kind = KINDS[asked.event.kind]
    clauses = where(*conditions_of(asked.event, asked.scope))
    return f"SELECT {kind.when} FROM {kind.table}{clauses}{nth_order(kind.when, asked.nth)}"


def when_extreme(asked: m.WhenExtreme) -> str:
    """The time of the highest or lowest number."""
    kind = KINDS[asked.event.kind]
    clauses = where(*conditions_of(asked.event, asked.scope))
    number = f"{kind.column(kind.number)} {'DESC' if asked.highest else 'ASC'}"
    time = f"{kind.when} {'DESC' if asked.last else 'ASC'}"
    return f"SELECT {kind.when} FROM {kind.table}{clauses} ORDER BY {number}, {time} LIMIT 1"


def which_name(asked: m.WhichName) -> str:
    """The name of the nth event: that of every event at its time."""
    kind = KINDS[asked.kind]
    conditions = conditions_of(m.Event(asked.kind), asked.scope)
    if asked.via is not None:
        conditions = (f"prescriptions.route = {quote(asked.via)}", *conditions[1:])
    if asked.kind == "careunit":
        conditions = (f"{kind.what} IS NOT NULL", *conditions[1:])
    clauses = where(*conditions, at_nth(kind.when, kind.table, conditions, asked.nth))
    if kind.terms:
        return names_of(kind, f"SELECT {kind.what} FROM {kind.table}{clauses}", distinct=True)
    return f"SELECT DISTINCT {kind.what} FROM {kind.table}{clauses}"


def organism(asked: m.Organism) -> str:
    """The organism of the nth test of a specimen in which one was found."""
    kind = KINDS["specimen"]
    specimen, patient, time = conditions_of(m.Event("specimen", asked.specimen), asked.scope)
    conditions = (patient, specimen, "microbiologyevents.org_name IS NOT NULL", time)
    clauses = where(*conditions, at_nth(kind.when, kind.table, conditions, asked.nth))
    chosen = "COUNT(*)>0" if asked.whether else "DISTINCT microbiologyevents.org_name"
    return f"SELECT {chosen} FROM {kind.table}{clauses}"


def reading(asked: m.Reading) -> str:
    """The number of the nth event."""
    return _reading(asked.event, asked.scope, asked.nth)


def _reading(event: m.Event, scope: m.Scope, moment: m.Nth | str) -> str:
    kind = KINDS[event.kind]
    conditions = conditions_of(event, scope)
    at = (
        f"{kind.when} = {quote(moment)}"
        if isinstance(moment, str)
        else at_nth(kind.when, kind.table, conditions, moment)
    )
    return f"SELECT {kind.column(kind.number)} FROM {kind.table}{where(*conditions, at)}"


def total(asked: m.Total) -> str:
    """A function of the numbers, per period where one is asked for."""
    kind = KINDS[asked.event.kind]
    clauses = where(*conditions_of(asked.event, asked.scope))
    group = f" GROUP BY strftime('{_GRAIN[asked.per]}',{kind.when})" if asked.per else ""
    return f"SELECT {asked.function}({kind.column(kind.number)}) FROM {kind.table}{clauses}{group}"


def change(asked: m.Change) -> str:
    """Two readings and what stands between them."""
    later = _reading(asked.event, asked.scope, asked.later)
    earlier = _reading(asked.event, asked.scope, asked.earlier)
    return f"SELECT ( {later} ) {asked.operator} ( {earlier} )"


def compare_patients(asked: m.ComparePatients) -> str:
    """The same reading of two patients and what stands between them."""
    one = _reading(asked.event, asked.scope, asked.nth)
    other = _reading(asked.event, replace(asked.scope, patient=asked.other), asked.nth)
    return f"SELECT ( {one} ) {asked.operator} ( {other} )"


def elapsed(asked: m.Elapsed) -> str:
    """Hours (24 a day) or days (1 a day) from the event to now."""
    kind = KINDS[asked.event.kind]
    clauses = where(*conditions_of(asked.event, asked.scope))
    factor = 24 if asked.unit == "hour" else 1
    since = f"strftime('%J',current_time) - strftime('%J',{kind.when})"
    return (
        f"SELECT {factor} * ( {since} ) FROM {kind.table}{clauses}{nth_order(kind.when, m.Nth(asked.last))}"
    )


def repeated(asked: m.Repeated) -> str:
    """The names that are counted so often."""
    kind = KINDS[asked.kind]
    clauses = where(*conditions_of(m.Event(asked.kind), asked.scope))
    counted = (
        f"SELECT {kind.what}, COUNT( {kind.when} ) AS C1 FROM {kind.table}{clauses} GROUP BY {kind.what}"
    )
    operator = "=" if asked.exactly else ">="
    keys = f"SELECT T1.{kind.key} FROM ( {counted} ) AS T1 WHERE T1.C1 {operator} {asked.times}"
    return names_of(kind, keys)


def percentile(asked: m.Percentile) -> str:
    """The percent rank of a value among those of everybody who was as old as the patient."""
    kind = KINDS[asked.event.kind]
    number = kind.column(kind.number)
    age = (
        f"SELECT admissions.age FROM admissions WHERE admissions.subject_id = {asked.scope.patient}"
        f"{admission_filter(asked.scope.visit)}"
    )
    peers = (
        f"{kind.column('hadm_id')} IN ( SELECT admissions.hadm_id FROM admissions "
        f"WHERE admissions.age = ( {age} ) )"
    )
    ranked = f"SELECT {number}, PERCENT_RANK() OVER ( ORDER BY {number} ) AS C1 FROM {kind.table}"
    return (
        f"SELECT DISTINCT T1.C1 FROM ( {ranked}{where(what(asked.event), peers)} ) AS T1 "
        f"WHERE T1.{kind.number} = {asked.value}"
    )


def following(asked: m.Following) -> str:
    """What came after an event of the same patient: names, a time, or whether anything did."""
    then = KINDS[asked.then.kind]
    first = KINDS[asked.first.kind]
    visit = ", {table}.hadm_id" if asked.relation.unit == "visit" else ""
    name = f", {then.what}" if asked.nth is None and not asked.whether else ""
    one = f"SELECT {first.column('subject_id')}, {first.when}{visit.format(table=first.table)} FROM {first.table}"
    two = f"SELECT {then.column('subject_id')}{name}, {then.when}{visit.format(table=then.table)} FROM {then.table}"
    joined = (
        f"FROM ( {one}{where(*conditions_of(asked.first, asked.scope))} ) AS T1 "
        f"JOIN ( {two}{where(*conditions_of(asked.then, asked.scope))} ) AS T2 "
        f"ON T1.subject_id = T2.subject_id WHERE {follows(asked.relation, first.time, then.time)}"
    )
    if asked.whether:
        return f"SELECT COUNT(*)>0 {joined}"
    if asked.nth is not None:
        return f"SELECT T2.{then.time} {joined}{nth_order(f'T2.{then.time}', asked.nth)}"
    return names_of(then, f"SELECT T2.{then.key} {joined}")


def together(asked: m.Together) -> str:
    """When two drugs were begun at one time."""
    sides = [
        "( SELECT prescriptions.subject_id, prescriptions.starttime FROM prescriptions"
        f"{where(*conditions_of(m.Event('drug', drug), asked.scope))} )"
        for drug in asked.drugs
    ]
    return (
        f"SELECT T1.starttime FROM {sides[0]} AS T1 JOIN {sides[1]} AS T2 ON T1.subject_id = T2.subject_id "
        f"WHERE datetime(T1.starttime) = datetime(T2.starttime){nth_order('T1.starttime', m.Nth(asked.last))}"
    )


def new_names(asked: m.NewNames) -> str:
    """The names of this period without those of the period before."""
    kind = KINDS[asked.kind]
    keys = []
    for which in ("last", "this") if asked.gone else ("this", "last"):
        scope = m.Scope(asked.scope.patient, asked.scope.visit, m.Window(f"{which}_{asked.unit}"))
        keys.append(
            f"SELECT {kind.what} FROM {kind.table}{where(*conditions_of(m.Event(asked.kind), scope))}"
        )
    return names_of(kind, " EXCEPT ".join(keys))


def detail(asked: m.Detail) -> str:
    """A column of one admission, or of the patient."""
    table = "patients" if asked.column in ("gender", "dob", "dod") else "admissions"
    return (
        f"SELECT {table}.{asked.column} FROM {table} WHERE {table}.subject_id = {asked.scope.patient}"
        f"{admission_filter(asked.scope.visit)}"
    )


def stay_length(asked: m.StayLength) -> str:
    """Days between the two ends of a visit that is over."""
    (table, start), (_, end) = _VISIT_TIMES[asked.place, False], _VISIT_TIMES[asked.place, True]
    length = f"strftime('%J',{table}.{end}) - strftime('%J',{table}.{start})"
    conditions = (
        _owner(table, asked.scope),
        f"{table}.{end} IS NOT NULL",
        window_condition(asked.scope.window, f"{table}.{start}"),
    )
    if asked.which in ("first", "last"):
        order = f"{table}.{start} {'ASC' if asked.which == 'first' else 'DESC'}"
        return f"SELECT {length} FROM {table}{where(*conditions)} ORDER BY {order} LIMIT 1"
    function = {"longest": "MAX", "shortest": "MIN", "average": "AVG", "total": "SUM"}[asked.which]
    return f"SELECT {function}({length}) FROM {table}{where(*conditions)}"


def visit_time(asked: m.VisitTime) -> str:
    """When a visit began or ended."""
    table, column = _VISIT_TIMES[asked.place, asked.end]
    name = f"{table}.{column}"
    over = f"{name} IS NOT NULL" if asked.end else ""
    conditions = (_owner(table, asked.scope), over, window_condition(asked.scope.window, name))
    return f"SELECT {name} FROM {table}{where(*conditions)}{nth_order(name, asked.nth)}"


def _owner(table: str, scope: m.Scope) -> str:
    assert scope.patient is not None
    if table == "admissions":
        return f"admissions.subject_id = {scope.patient}"
    return in_admissions(table, scope.patient, scope.visit)


def patient_cost(asked: m.PatientCost) -> str:
    """The sum of the patient's costs."""
    assert asked.scope.patient is not None
    patient = in_admissions("cost", asked.scope.patient, asked.scope.visit)
    time = window_condition(asked.scope.window, "cost.chargetime")
    return f"SELECT SUM(cost.cost) FROM cost{where(patient, time)}"
