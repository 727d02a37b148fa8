"""Queries of different families agree where their questions do, on the rows of a hospital."""

from __future__ import annotations

from dataclasses import replace

import pytest

from fastsql.execution.rows import Cell
from fastsql.synthesis.hospital.course.before import Before
from fastsql.synthesis.hospital.course.between import Between
from fastsql.synthesis.hospital.events.list_readings import ListReadings
from fastsql.synthesis.hospital.events.total import Total
from fastsql.synthesis.hospital.facts import Fact
from fastsql.synthesis.hospital.family import Family
from fastsql.synthesis.hospital.population.admission_average import AdmissionAverage
from fastsql.synthesis.hospital.population.breakdown import Breakdown
from fastsql.synthesis.hospital.population.count_patients import CountPatients
from fastsql.synthesis.hospital.population.count_people import CountPeople
from fastsql.synthesis.hospital.population.count_repeated import CountRepeated
from fastsql.synthesis.hospital.population.count_without import CountWithout
from fastsql.synthesis.hospital.population.extreme_patient import ExtremePatient
from fastsql.synthesis.hospital.population.measure_of_all import MeasureOfAll
from fastsql.synthesis.hospital.population.survival_rate import SurvivalRate
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.ward import Ward

ALL = Scope()
GLUCOSE = Event("lab", "glucose")
DRUG = Event("drug", "acetaminophen")


def rows(ward: Ward, question: Family) -> list[tuple[Cell, ...]]:
    return ward.run(question.sql())


def number(ward: Ward, question: Family) -> float:
    ((cell,),) = rows(ward, question)
    assert isinstance(cell, (int, float))
    return cell


def test_who_did_not_survive_died(ward: Ward) -> None:
    survived = number(ward, SurvivalRate(GLUCOSE, 6, died=False))
    assert survived + number(ward, SurvivalRate(GLUCOSE, 6, died=True)) == pytest.approx(1)
    assert survived >= 0.5


def test_patients_who_never_had_something_and_who_had_it_are_all(ward: Ward) -> None:
    everybody = number(ward, CountPatients(GLUCOSE, ALL))
    without = number(ward, CountWithout(GLUCOSE, DRUG, same_visit=False))
    assert 0 < without < everybody
    assert number(ward, CountWithout(GLUCOSE, DRUG, same_visit=True)) >= without


def test_at_least_is_exactly_or_more_than(ward: Ward) -> None:
    counts = {sign: number(ward, CountRepeated(GLUCOSE, ALL, sign, 2)) for sign in ("=", ">", ">=")}
    assert counts[">="] == counts["="] + counts[">"] > 0


def test_the_parts_of_a_breakdown_are_counted_one_by_one(ward: Ward) -> None:
    parts = dict(rows(ward, Breakdown("gender", ALL)))
    assert parts == {
        value: number(ward, CountPeople(Fact("gender", value), ALL, admitted=False)) for value in "fm"
    }
    assert sum(map(int, map(str, parts.values()))) == number(ward, CountPeople(None, ALL, admitted=False))
    insured = dict(rows(ward, Breakdown("insurance", ALL)))
    assert insured["medicaid"] == number(ward, CountPeople(Fact("insurance", "medicaid"), ALL, admitted=True))


def test_who_has_the_highest_value_has_the_greatest_of_all(ward: Ward) -> None:
    highest = number(ward, MeasureOfAll(GLUCOSE, ALL, "MAX"))
    found = rows(ward, ExtremePatient(GLUCOSE, ALL, "MAX"))
    assert found
    for (patient,) in found:
        assert number(ward, Total(GLUCOSE, Scope(int(str(patient))), "MAX")) == highest


def test_the_readings_of_a_patient_hold_the_greatest(ward: Ward) -> None:
    ((patient,), *_) = rows(ward, ExtremePatient(GLUCOSE, ALL, "MAX"))
    scope = Scope(int(str(patient)))
    listed = rows(ward, ListReadings(GLUCOSE, scope, times=True))
    values = [value for value, time in listed if time is not None]
    assert max(float(str(value)) for value in values) == number(ward, Total(GLUCOSE, scope, "MAX"))
    assert [(value,) for value in values] == rows(ward, ListReadings(GLUCOSE, scope, times=False))


def test_ages_and_stays_lie_between_the_least_and_the_greatest(ward: Ward) -> None:
    for stay in (False, True):
        mean = AdmissionAverage(Fact("gender", "f"), ALL, "AVG", stay)
        least, most = (number(ward, replace(mean, function=function)) for function in ("MIN", "MAX"))
        assert 0 <= least < number(ward, mean) < most


def test_time_between_two_events_counts_forward(ward: Ward) -> None:
    patients = [row[0] for row in ward.run("SELECT subject_id FROM patients")]
    days = hours = 0.0
    for patient in patients:
        asked = Between(GLUCOSE, DRUG, Scope(int(str(patient))), "day")
        if found := rows(ward, asked):
            there = float(str(found[0][0]))
            back = number(ward, Between(DRUG, GLUCOSE, asked.scope, "day"))
            assert back == pytest.approx(-there)
            days, hours = days + there, hours + number(ward, replace(asked, unit="hour"))
    assert days != 0
    assert hours == pytest.approx(24 * days)


def test_the_value_before_an_event_is_one_of_the_patient(ward: Ward) -> None:
    seen = 0
    for (patient,) in ward.run("SELECT subject_id FROM patients"):
        scope = Scope(int(str(patient)))
        found = rows(ward, Before(GLUCOSE, DRUG, scope))
        seen += len(found)
        assert set(found) <= set(rows(ward, ListReadings(GLUCOSE, scope, times=False)))
    assert seen > 0
