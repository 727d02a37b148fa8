"""From a meaning to a question."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from fastsql.augment import meaning as m
from fastsql.augment import wording_course, wording_events, wording_measures, wording_population
from fastsql.augment.phrases import finish, when_phrase

_WRITERS: Mapping[type, Callable[[Any, random.Random], str]] = MappingProxyType(
    {
        m.AnyEvent: wording_events.any_event,
        m.AnyAdmission: wording_events.any_admission,
        m.CountEvents: wording_population.count_events,
        m.CountNames: wording_events.count_names,
        m.ListNames: wording_events.list_names,
        m.CountVisits: wording_events.count_visits,
        m.When: wording_events.when,
        m.WhenExtreme: wording_measures.when_extreme,
        m.WhichName: wording_events.which_name,
        m.Organism: wording_course.organism,
        m.Reading: wording_measures.reading,
        m.Total: wording_measures.total,
        m.Change: wording_measures.change,
        m.ComparePatients: wording_measures.compare_patients,
        m.Elapsed: wording_course.elapsed,
        m.Repeated: wording_events.repeated,
        m.Percentile: wording_measures.percentile,
        m.Following: wording_course.following,
        m.Together: wording_course.together,
        m.NewNames: wording_course.new_names,
        m.Detail: wording_course.detail,
        m.StayLength: wording_course.stay_length,
        m.VisitTime: wording_course.visit_time,
        m.PatientCost: wording_course.patient_cost,
        m.CountPatients: wording_population.count_patients,
        m.ListPatients: wording_population.list_patients,
        m.CountFollowed: wording_population.count_followed,
        m.Ranking: wording_population.ranking,
        m.Price: wording_population.price,
        m.IntakeRoute: wording_population.intake_route,
        m.VisitCost: wording_population.visit_cost,
        m.Rate: wording_population.rate,
        m.Mortality: wording_population.mortality,
    }
)


def write_question(meaning: m.Meaning, rng: random.Random) -> str:
    """One of the many questions that ask what `meaning` says."""
    text = _WRITERS[type(meaning)](meaning, rng)
    scope = getattr(meaning, "scope", None)
    when = when_phrase(scope, rng) if isinstance(scope, m.Scope) and "{when}" in text else ""
    return finish(text, when, rng)
