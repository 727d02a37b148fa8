"""What questions are made of: filters on time, visits and ages, kinds of events, and their order in time."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Window:
    """A filter on time.

    `kind` is one of since_, before_ or at_ with day, month or year (a written date), ago_ or until_ with day, month or year
    (at least, at most `count` units before now), this_ and last_ with day, month or year, and month_of_, day_of_ with
    this_year, last_year, this_month or last_month.
    """

    kind: str
    year: int = 2100
    month: int = 1
    day: int = 1
    count: int = 1


@dataclass(frozen=True)
class Visit:
    """One visit of a patient: the `first` or `last` that has ended, or the `current` one, to the `hospital` or an `icu`."""

    place: str
    which: str


@dataclass(frozen=True)
class Ages:
    """An age group, both ends included; without `highest` it is open."""

    lowest: int
    highest: int | None = None


@dataclass(frozen=True)
class Scope:
    """Whose events count, and of when. Without `patient`, everybody's."""

    patient: int | None = None
    visit: Visit | None = None
    window: Window | None = None
    ages: Ages | None = None


@dataclass(frozen=True)
class Bound:
    """A comparison with a number, `operator` being < or >; or with the bounds of normal, whose name `normal` is."""

    operator: str = ""
    value: float = 0.0
    normal: str = ""


@dataclass(frozen=True)
class Event:
    """Events of one kind (see `kinds.KINDS`), of one `item` or of any; `items`: of one of several; `bound` on the number."""

    kind: str
    item: str | None = None
    items: tuple[str, ...] = ()
    bound: Bound | None = None


@dataclass(frozen=True)
class Nth:
    """One of several events in the order of time: `skip` of them are passed over, from the end if `last`."""

    last: bool
    skip: int = 0


@dataclass(frozen=True)
class Relation:
    """How soon the second of two events follows: in the same `unit` (visit, day, month), or within `count` units."""

    unit: str
    count: int = 0
