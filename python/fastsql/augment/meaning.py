"""What a question asks, apart from its words and from its SQL: one frozen dataclass a kind of question.

A meaning is drawn (`draw_patient`, `draw_course`, `draw_population`), then realised twice: as SQL (`sql`) and as a question
(`wording`). Both see the same object, so they cannot disagree about what is asked.
"""

from __future__ import annotations

from fastsql.augment.meaning_patient import (
    AnyAdmission,
    AnyEvent,
    Change,
    ComparePatients,
    CountEvents,
    CountNames,
    CountVisits,
    Detail,
    Elapsed,
    Following,
    ListNames,
    NewNames,
    Organism,
    PatientCost,
    Percentile,
    Reading,
    Repeated,
    StayLength,
    Together,
    Total,
    VisitTime,
    When,
    WhenExtreme,
    WhichName,
)
from fastsql.augment.meaning_population import (
    CountFollowed,
    CountPatients,
    IntakeRoute,
    ListPatients,
    Mortality,
    Price,
    Ranking,
    Rate,
    VisitCost,
)
from fastsql.augment.scope import Ages, Bound, Event, Nth, Relation, Scope, Visit, Window

__all__ = [
    "Ages",
    "AnyAdmission",
    "AnyEvent",
    "Bound",
    "Change",
    "ComparePatients",
    "CountEvents",
    "CountFollowed",
    "CountNames",
    "CountPatients",
    "CountVisits",
    "Detail",
    "Elapsed",
    "Event",
    "Following",
    "IntakeRoute",
    "ListNames",
    "ListPatients",
    "Meaning",
    "Mortality",
    "NewNames",
    "Nth",
    "Organism",
    "PatientCost",
    "Percentile",
    "Price",
    "Ranking",
    "Rate",
    "Reading",
    "Relation",
    "Repeated",
    "Scope",
    "StayLength",
    "Together",
    "Total",
    "Visit",
    "VisitCost",
    "VisitTime",
    "When",
    "WhenExtreme",
    "WhichName",
    "Window",
]

Meaning = (
    AnyEvent
    | AnyAdmission
    | CountEvents
    | CountNames
    | ListNames
    | CountVisits
    | When
    | WhenExtreme
    | WhichName
    | Organism
    | Reading
    | Total
    | Change
    | ComparePatients
    | Elapsed
    | Repeated
    | Percentile
    | Following
    | Together
    | NewNames
    | Detail
    | StayLength
    | VisitTime
    | PatientCost
    | CountPatients
    | ListPatients
    | CountFollowed
    | Ranking
    | Price
    | IntakeRoute
    | VisitCost
    | Rate
    | Mortality
)
