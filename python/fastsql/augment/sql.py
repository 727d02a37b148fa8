"""From a meaning to SQL."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fastsql.augment import meaning as m
from fastsql.augment import sql_patient, sql_population

_WRITERS: Mapping[type, Callable[[Any], str]] = MappingProxyType(
    {
        m.AnyEvent: sql_patient.any_event,
        m.AnyAdmission: sql_patient.any_admission,
        m.CountEvents: sql_patient.count_events,
        m.CountNames: sql_patient.count_names,
        m.ListNames: sql_patient.list_names,
        m.CountVisits: sql_patient.count_visits,
        m.When: sql_patient.when,
        m.WhenExtreme: sql_patient.when_extreme,
        m.WhichName: sql_patient.which_name,
        m.Organism: sql_patient.organism,
        m.Reading: sql_patient.reading,
        m.Total: sql_patient.total,
        m.Change: sql_patient.change,
        m.ComparePatients: sql_patient.compare_patients,
        m.Elapsed: sql_patient.elapsed,
        m.Repeated: sql_patient.repeated,
        m.Percentile: sql_patient.percentile,
        m.Following: sql_patient.following,
        m.Together: sql_patient.together,
        m.NewNames: sql_patient.new_names,
        m.Detail: sql_patient.detail,
        m.StayLength: sql_patient.stay_length,
        m.VisitTime: sql_patient.visit_time,
        m.PatientCost: sql_patient.patient_cost,
        m.CountPatients: sql_population.count_patients,
        m.ListPatients: sql_population.list_patients,
        m.CountFollowed: sql_population.count_followed,
        m.Ranking: sql_population.ranking,
        m.Price: sql_population.price,
        m.IntakeRoute: sql_population.intake_route,
        m.VisitCost: sql_population.visit_cost,
        m.Rate: sql_population.rate,
        m.Mortality: sql_population.mortality,
    }
)


def write_sql(meaning: m.Meaning) -> str:
    """The query that answers what `meaning` asks, over the MIMIC-IV tables of EHRSQL 2024."""
    return _WRITERS[type(meaning)](meaning)
