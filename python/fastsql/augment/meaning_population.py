"""What can be asked about all patients: one frozen dataclass a kind of question."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.augment.scope import Event, Relation, Scope


@dataclass(frozen=True)
class CountPatients:
    """How many patients had such an event? Without one: were admitted, discharged, or are there now (`state`)."""

    event: Event | None
    scope: Scope
    state: str = ""


@dataclass(frozen=True)
class ListPatients:
    """Which patients had such an event?"""

    event: Event
    scope: Scope


@dataclass(frozen=True)
class CountFollowed:
    """How many patients had an event after another one?"""

    first: Event
    then: Event
    relation: Relation
    scope: Scope


@dataclass(frozen=True)
class Ranking:
    """The most frequent drugs (diagnoses, tests ...); after an event if there is a `first`."""

    kind: str
    top: int
    scope: Scope
    first: Event | None = None
    relation: Relation | None = None


@dataclass(frozen=True)
class Price:
    """What one such thing costs."""

    event: Event


@dataclass(frozen=True)
class IntakeRoute:
    """How a drug is taken."""

    drug: str


@dataclass(frozen=True)
class VisitCost:
    """A function (AVG, MAX, MIN) of the total cost of hospital visits that had such an event."""

    event: Event
    scope: Scope
    function: str


@dataclass(frozen=True)
class Rate:
    """A function (AVG, MAX, MIN) of the number of patients with such an event per day, month or year."""

    event: Event
    scope: Scope
    function: str
    per: str


@dataclass(frozen=True)
class Mortality:
    """The diagnoses, procedures or drugs after which most (or fewest) patients die within so many months."""

    kind: str
    top: int
    months: int
    fewest: bool = False
