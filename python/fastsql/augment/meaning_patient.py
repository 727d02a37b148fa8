"""What can be asked about one patient: one frozen dataclass a kind of question. Some of it can be asked about all, too."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.augment.scope import Event, Nth, Relation, Scope


@dataclass(frozen=True)
class AnyEvent:
    """Has there been such an event?"""

    event: Event
    scope: Scope


@dataclass(frozen=True)
class AnyAdmission:
    """Has the patient been in the hospital; with `emergency`, in the emergency room?"""

    scope: Scope
    emergency: bool = False


@dataclass(frozen=True)
class CountEvents:
    """How many such events have there been?"""

    event: Event
    scope: Scope


@dataclass(frozen=True)
class CountNames:
    """How many different drugs (diagnoses, tests ...) has the patient had?"""

    kind: str
    scope: Scope


@dataclass(frozen=True)
class ListNames:
    """Which drugs (diagnoses, tests ...) has the patient had?"""

    kind: str
    scope: Scope


@dataclass(frozen=True)
class CountVisits:
    """How often was the patient in the hospital, or in intensive care?"""

    place: str
    scope: Scope


@dataclass(frozen=True)
class When:
    """When was the nth such event?"""

    event: Event
    scope: Scope
    nth: Nth


@dataclass(frozen=True)
class WhenExtreme:
    """When was the measure highest or lowest, and if several times: the first or the last of them?"""

    event: Event
    scope: Scope
    highest: bool
    last: bool


@dataclass(frozen=True)
class WhichName:
    """What was the nth event called (the drug, the diagnosis ...)? `via`: among prescriptions by this route."""

    kind: str
    scope: Scope
    nth: Nth
    via: str | None = None


@dataclass(frozen=True)
class Organism:
    """Which organism was found in the nth test of a specimen; or, with `whether`, was there any?"""

    specimen: str
    scope: Scope
    nth: Nth
    whether: bool = False


@dataclass(frozen=True)
class Reading:
    """The number of the nth event."""

    event: Event
    scope: Scope
    nth: Nth


@dataclass(frozen=True)
class Total:
    """A function (MAX, MIN, AVG, SUM) of the numbers of events; `per` day, month or year if not empty."""

    event: Event
    scope: Scope
    function: str
    per: str = ""


@dataclass(frozen=True)
class Change:
    """Two readings compared: `later` and `earlier` are Nth in the scope or written times; `operator` is -, < or >."""

    event: Event
    scope: Scope
    later: Nth | str
    earlier: Nth | str
    operator: str


@dataclass(frozen=True)
class ComparePatients:
    """The nth readings of two patients compared: `operator` is -, < or >. The `scope` is the first one's."""

    event: Event
    scope: Scope
    other: int
    nth: Nth
    operator: str


@dataclass(frozen=True)
class Elapsed:
    """How many hours or days have passed since the first or last such event?"""

    event: Event
    scope: Scope
    last: bool
    unit: str


@dataclass(frozen=True)
class Repeated:
    """What was done exactly, or at least, so many times?"""

    kind: str
    scope: Scope
    times: int
    exactly: bool


@dataclass(frozen=True)
class Percentile:
    """The percentile of a value among patients of the age that the patient had on a visit."""

    event: Event
    scope: Scope
    value: float


@dataclass(frozen=True)
class Following:
    """What of kind `then` came after an event; with `nth`, when; with `whether`, was there any (of `then.item`)?"""

    first: Event
    then: Event
    relation: Relation
    scope: Scope
    nth: Nth | None = None
    whether: bool = False


@dataclass(frozen=True)
class Together:
    """When were two drugs prescribed at the same time?"""

    drugs: tuple[str, str]
    scope: Scope
    last: bool


@dataclass(frozen=True)
class NewNames:
    """What has been prescribed (tested, diagnosed ...) in this day, month or year, but not in the one before?"""

    kind: str
    unit: str
    scope: Scope
    gone: bool = False  # the other way round


@dataclass(frozen=True)
class Detail:
    """A column of the patient's nth or current admission, or of the patient."""

    column: str
    scope: Scope


@dataclass(frozen=True)
class StayLength:
    """The length in days of the patient's first, last, longest or shortest visit to the hospital or to an ICU."""

    place: str
    which: str
    scope: Scope


@dataclass(frozen=True)
class VisitTime:
    """When the nth visit to the hospital or ICU began, or ended."""

    place: str
    end: bool
    scope: Scope
    nth: Nth


@dataclass(frozen=True)
class PatientCost:
    """What the patient's care has cost in all."""

    scope: Scope
