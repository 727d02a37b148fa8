"""The conditions that SQL of EHRSQL 2024 is built of: a patient's visits, what an event was, filters on time."""

from __future__ import annotations

from fastsql.synthesis.hospital.kinds import KINDS, Kind
from fastsql.synthesis.hospital.scope import Ages, Bound, Event, Nth, Relation, Scope, Visit, Window

GRAIN = {"day": "%Y-%m-%d", "month": "%Y-%m", "year": "%Y"}
VISIT_TIMES = {
    ("hospital", False): ("admissions", "admittime"),
    ("hospital", True): ("admissions", "dischtime"),
    ("icu", False): ("icustays", "intime"),
    ("icu", True): ("icustays", "outtime"),
}
_COMPARED = {"since": ">=", "before": "<", "at": "="}


def quote(text: str) -> str:
    """A string literal."""
    return "'" + text.replace("'", "''") + "'"


def where(*conditions: str) -> str:
    """A WHERE clause of the conditions that are not empty, with a space in front; nothing where all are."""
    present = [condition for condition in conditions if condition]
    return f" WHERE {' AND '.join(present)}" if present else ""


def window_condition(window: Window | None, column: str) -> str:
    """The filter on a time column, empty without a window."""
    if window is None:
        return ""
    lead, _, rest = window.kind.partition("_")
    if lead in _COMPARED:
        form = GRAIN[rest]
        return f"strftime('{form}',{column}) {_COMPARED[lead]} '{_written(window, form)}'"
    if lead in ("ago", "until"):
        operator = ">=" if lead == "ago" else "<="
        return f"datetime({column}) {operator} datetime(current_time,'-{window.count} {rest}')"
    if lead in ("this", "last"):
        return _same_period(column, rest, 0 if lead == "this" else 1)
    # month_of_this_year, day_of_last_month, ...
    _, _, which, period = window.kind.split("_")
    form = "%m" if lead == "month" else "%m-%d" if period == "year" else "%d"
    same = _same_period(column, period, 0 if which == "this" else 1)
    return f"{same} AND strftime('{form}',{column}) = '{_written(window, form)}'"


def _same_period(column: str, period: str, back: int) -> str:
    start = f"'start of {period}'"
    return f"datetime({column},{start}) = datetime(current_time,{start},'-{back} {period}')"


def _written(window: Window, form: str) -> str:
    text = form.replace("%Y", f"{window.year:04d}").replace("%m", f"{window.month:02d}")
    return text.replace("%d", f"{window.day:02d}")


def admission_filter(visit: Visit | None) -> str:
    """What narrows a patient's admissions to one of them, to stand after the condition on the patient."""
    if visit is None or visit.place != "hospital":
        return ""
    if visit.which == "current":
        return " AND admissions.dischtime IS NULL"
    order = "ASC" if visit.which == "first" else "DESC"
    return f" AND admissions.dischtime IS NOT NULL ORDER BY admissions.admittime {order} LIMIT 1"


def stay_filter(visit: Visit | None) -> str:
    """What narrows a patient's stays in intensive care to one of them."""
    if visit is None or visit.place != "icu":
        return ""
    if visit.which == "current":
        return " AND icustays.outtime IS NULL"
    order = "ASC" if visit.which == "first" else "DESC"
    return f" AND icustays.outtime IS NOT NULL ORDER BY icustays.intime {order} LIMIT 1"


def in_admissions(table: str, patient: int, visit: Visit | None) -> str:
    """The condition that a row of `table` belongs to an admission of the patient, or to the one `visit`."""
    return (
        f"{table}.hadm_id IN ( SELECT admissions.hadm_id FROM admissions "
        f"WHERE admissions.subject_id = {patient}{admission_filter(visit)} )"
    )


def whose(kind: Kind, scope: Scope) -> str:
    """The condition that events belong to the scope's patient and visit, or to patients of its ages; empty for all."""
    if scope.patient is None:
        if scope.ages is None:
            return ""
        ages = age_condition(scope.ages)
        return f"{kind.column('hadm_id')} IN ( SELECT admissions.hadm_id FROM admissions WHERE {ages} )"
    if not kind.by_stay:
        return in_admissions(kind.table, scope.patient, scope.visit)
    return (
        f"{kind.column('stay_id')} IN ( SELECT icustays.stay_id FROM icustays "
        f"WHERE {in_admissions('icustays', scope.patient, scope.visit)}{stay_filter(scope.visit)} )"
    )


def age_condition(ages: Ages) -> str:
    """The condition on the age at admission."""
    if ages.highest is None:
        return f"admissions.age >= {ages.lowest}"
    return f"admissions.age BETWEEN {ages.lowest} AND {ages.highest}"


def what(event: Event) -> str:
    """The condition that an event is of its item (one of its items); with the bound on its number, if it has one."""
    kind = KINDS[event.kind]
    conditions = []
    if event.items:
        names = ", ".join(quote(item) for item in event.items)
        conditions.append(f"{kind.what} IN ( {names} )")
    elif event.item is not None:
        conditions.append(_named(kind, event.item))
    if event.bound is not None:
        conditions.append(_bound(event.bound, kind.column(kind.number)))
    return " AND ".join(conditions)


def _named(kind: Kind, item: str) -> str:
    if not kind.terms:
        return f"{kind.what} = {quote(item)}"
    linked = f" AND d_items.linksto = {quote(kind.table)}" if kind.terms == "d_items" else ""
    terms = (
        f"( SELECT {kind.terms}.{kind.key} FROM {kind.terms} "
        f"WHERE {kind.terms}.{kind.title} = {quote(item)}{linked} )"
    )
    return f"{kind.what} {'=' if kind.one_code else 'IN'} {terms}"


def _bound(bound: Bound, column: str) -> str:
    if bound.normal:
        return f"{column} NOT BETWEEN {bound.normal}_lower AND {bound.normal}_upper"
    return f"{column} {bound.operator} {bound.value}"


def with_event(event: Event, window: Window | None = None, table: str = "admissions") -> str:
    """The condition that a row belongs to an admission with such an event."""
    kind = KINDS[event.kind]
    events = where(what(event), window_condition(window, kind.when))
    return f"{table}.hadm_id IN ( SELECT {kind.column('hadm_id')} FROM {kind.table}{events} )"


def names_of(kind: Kind, keys: str, *, distinct: bool = False) -> str:
    """The names behind a subquery over keys; the subquery itself where the key is the name."""
    if not kind.terms:
        return keys
    word = "SELECT DISTINCT" if distinct else "SELECT"
    return f"{word} {kind.terms}.{kind.title} FROM {kind.terms} WHERE {kind.terms}.{kind.key} IN ( {keys} )"


def nth_order(column: str, nth: Nth) -> str:
    """ORDER BY and LIMIT that pick the nth row in the order of a time column."""
    offset = f" OFFSET {nth.skip}" if nth.skip else ""
    return f" ORDER BY {column} {'DESC' if nth.last else 'ASC'} LIMIT 1{offset}"


def at_nth(column: str, table: str, conditions: tuple[str, ...], nth: Nth) -> str:
    """The condition that a row has the time of the nth row that meets the conditions."""
    return f"{column} = ( SELECT DISTINCT {column} FROM {table}{where(*conditions)}{nth_order(column, nth)} )"


def follows(relation: Relation, earlier: str, later: str) -> str:
    """The condition that a row of T2 (time column `later`) comes after one of T1 (`earlier`), as soon as `relation` says."""
    after = f"T1.{earlier} < T2.{later}"
    if relation.unit == "visit":
        return f"{after} AND T1.hadm_id = T2.hadm_id"
    if relation.count:
        limit = f"datetime(T1.{earlier},'+{relation.count} {relation.unit}')"
        return f"{after} AND datetime(T2.{later}) BETWEEN datetime(T1.{earlier}) AND {limit}"
    start = f"'start of {relation.unit}'"
    return f"{after} AND datetime(T1.{earlier},{start}) = datetime(T2.{later},{start})"


def conditions_of(event: Event, scope: Scope) -> tuple[str, str, str]:
    """What an event was, whose it was and when."""
    kind = KINDS[event.kind]
    return what(event), whose(kind, scope), window_condition(scope.window, kind.when)


def owner(table: str, scope: Scope) -> str:
    """The condition that an admission or a stay in intensive care is the patient's."""
    assert scope.patient is not None
    if table == "admissions":
        return f"admissions.subject_id = {scope.patient}"
    return in_admissions(table, scope.patient, scope.visit)
