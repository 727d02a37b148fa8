"""Each question has the SQL that EHRSQL 2024's gold would have: the same program, whatever the order of conditions."""

from __future__ import annotations

import pytest

from fastsql.grammar import sql_to_program
from fastsql.schema import Schema
from fastsql.synthesis.hospital.course.change import Change
from fastsql.synthesis.hospital.course.elapsed import Elapsed
from fastsql.synthesis.hospital.course.new_names import NewNames
from fastsql.synthesis.hospital.course.repeated import Repeated
from fastsql.synthesis.hospital.course.stay_length import StayLength
from fastsql.synthesis.hospital.events.any_admission import AnyAdmission
from fastsql.synthesis.hospital.events.any_event import AnyEvent
from fastsql.synthesis.hospital.events.total import Total
from fastsql.synthesis.hospital.events.when import When
from fastsql.synthesis.hospital.events.when_extreme import WhenExtreme
from fastsql.synthesis.hospital.events.which_name import WhichName
from fastsql.synthesis.hospital.family import Family
from fastsql.synthesis.hospital.population.count_followed import CountFollowed
from fastsql.synthesis.hospital.population.intake_route import IntakeRoute
from fastsql.synthesis.hospital.population.price import Price
from fastsql.synthesis.hospital.population.ranking import Ranking
from fastsql.synthesis.hospital.population.rate import Rate
from fastsql.synthesis.hospital.population.visit_cost import VisitCost
from fastsql.synthesis.hospital.scope import Ages, Bound, Event, Nth, Relation, Scope, Visit, Window
from fastsql.synthesis.hospital.ward import Ward

P = 71_021_258
ADMITTED = f"SELECT admissions.hadm_id FROM admissions WHERE admissions.subject_id = {P}"
FIRST = f"{ADMITTED} AND admissions.dischtime IS NOT NULL ORDER BY admissions.admittime ASC LIMIT 1"
STAYS = f"SELECT icustays.stay_id FROM icustays WHERE icustays.hadm_id IN ( {ADMITTED} )"
LAST_STAY = f"{STAYS} AND icustays.outtime IS NOT NULL ORDER BY icustays.intime DESC LIMIT 1"
GLUCOSE = (
    "labevents.itemid IN ( SELECT d_labitems.itemid FROM d_labitems WHERE d_labitems.label = 'glucose' )"
)
PULSE = (
    "chartevents.itemid IN ( SELECT d_items.itemid FROM d_items WHERE d_items.label = 'heart rate' "
    "AND d_items.linksto = 'chartevents' )"
)
GOUT = (
    "diagnoses_icd.icd_code = ( SELECT d_icd_diagnoses.icd_code FROM d_icd_diagnoses "
    "WHERE d_icd_diagnoses.long_title = 'gout, unspecified' )"
)
SINCE = Window("since_month", month=8)
THIS_YEAR = "datetime({0},'start of year') = datetime(current_time,'start of year','-0 year')"
FIRST_VISIT = Scope(P, visit=Visit("hospital", "first"))

CASES: dict[str, tuple[Family, str]] = {
    "whether": (
        AnyEvent(Event("lab", "glucose"), Scope(P, window=SINCE)),
        (
            f"SELECT COUNT(*)>0 FROM labevents WHERE {GLUCOSE} AND labevents.hadm_id IN ( {ADMITTED} ) "
            "AND strftime('%Y-%m',labevents.charttime) >= '2100-08'"
        ),
    ),
    "several drugs": (
        AnyEvent(Event("drug", items=("insulin", "warfarin")), FIRST_VISIT),
        (
            f"SELECT COUNT(*)>0 FROM prescriptions WHERE prescriptions.hadm_id IN ( {FIRST} ) "
            "AND prescriptions.drug IN ( 'insulin', 'warfarin' )"
        ),
    ),
    "outside normal": (
        AnyEvent(Event("vital", "heart rate", bound=Bound(normal="heart_rate")), Scope(P)),
        (
            f"SELECT COUNT(*)>0 FROM chartevents WHERE chartevents.stay_id IN ( {STAYS} ) AND {PULSE} "
            "AND chartevents.valuenum NOT BETWEEN heart_rate_lower AND heart_rate_upper"
        ),
    ),
    "emergency room": (
        AnyAdmission(FIRST_VISIT, emergency=True),
        (
            f"SELECT COUNT(*)>0 FROM admissions WHERE admissions.subject_id = {P} AND admissions.admission_location = "
            "'emergency room' AND admissions.dischtime IS NOT NULL ORDER BY admissions.admittime ASC LIMIT 1"
        ),
    ),
    "when, second to last, on an ICU stay": (
        When(
            Event("vital", "heart rate", bound=Bound(">", 97.0)),
            Scope(P, visit=Visit("icu", "last")),
            Nth(True, 1),
        ),
        (
            f"SELECT chartevents.charttime FROM chartevents WHERE chartevents.stay_id IN ( {LAST_STAY} ) AND {PULSE} "
            "AND chartevents.valuenum > 97.0 ORDER BY chartevents.charttime DESC LIMIT 1 OFFSET 1"
        ),
    ),
    "when at its highest": (
        WhenExtreme(Event("lab", "glucose"), Scope(P), highest=True, last=False),
        (
            f"SELECT labevents.charttime FROM labevents WHERE labevents.hadm_id IN ( {ADMITTED} ) AND {GLUCOSE} "
            "ORDER BY labevents.valuenum DESC, labevents.charttime ASC LIMIT 1"
        ),
    ),
    "the first drug by a route": (
        WhichName("drug", FIRST_VISIT, Nth(False), via="iv"),
        (
            f"SELECT DISTINCT prescriptions.drug FROM prescriptions WHERE prescriptions.hadm_id IN ( {FIRST} ) "
            "AND prescriptions.route = 'iv' AND prescriptions.starttime = ( SELECT DISTINCT prescriptions.starttime "
            f"FROM prescriptions WHERE prescriptions.hadm_id IN ( {FIRST} ) AND prescriptions.route = 'iv' "
            "ORDER BY prescriptions.starttime ASC LIMIT 1 )"
        ),
    ),
    "per day": (
        Total(Event("vital", "heart rate"), Scope(P), "AVG", "day"),
        (
            f"SELECT AVG(chartevents.valuenum) FROM chartevents WHERE chartevents.stay_id IN ( {STAYS} ) AND {PULSE} "
            "GROUP BY strftime('%Y-%m-%d',chartevents.charttime)"
        ),
    ),
    "two written times": (
        Change(Event("lab", "glucose"), Scope(P), "2100-06-07 05:00:00", "2100-06-06 06:00:00", "<"),
        (
            f"SELECT ( SELECT labevents.valuenum FROM labevents WHERE labevents.hadm_id IN ( {ADMITTED} ) AND {GLUCOSE} "
            "AND labevents.charttime = '2100-06-07 05:00:00' ) < ( SELECT labevents.valuenum FROM labevents WHERE "
            f"labevents.hadm_id IN ( {ADMITTED} ) AND {GLUCOSE} AND labevents.charttime = '2100-06-06 06:00:00' )"
        ),
    ),
    "hours since": (
        Elapsed(
            Event("diagnosis", "gout, unspecified"),
            Scope(P, visit=Visit("hospital", "current")),
            True,
            "hour",
        ),
        (
            "SELECT 24 * ( strftime('%J',current_time) - strftime('%J',diagnoses_icd.charttime) ) FROM diagnoses_icd "
            f"WHERE {GOUT} AND diagnoses_icd.hadm_id IN ( {ADMITTED} AND admissions.dischtime IS NULL ) "
            "ORDER BY diagnoses_icd.charttime DESC LIMIT 1"
        ),
    ),
    "two or more times": (
        Repeated("drug", Scope(P), 2, exactly=False),
        (
            "SELECT T1.drug FROM ( SELECT prescriptions.drug, COUNT( prescriptions.starttime ) AS C1 FROM prescriptions "
            f"WHERE prescriptions.hadm_id IN ( {ADMITTED} ) GROUP BY prescriptions.drug ) AS T1 WHERE T1.C1 >= 2"
        ),
    ),
    "new drugs": (
        NewNames("drug", "day", Scope(P)),
        (
            f"SELECT prescriptions.drug FROM prescriptions WHERE prescriptions.hadm_id IN ( {ADMITTED} ) AND "
            "datetime(prescriptions.starttime,'start of day') = datetime(current_time,'start of day','-0 day') EXCEPT "
            f"SELECT prescriptions.drug FROM prescriptions WHERE prescriptions.hadm_id IN ( {ADMITTED} ) AND "
            "datetime(prescriptions.starttime,'start of day') = datetime(current_time,'start of day','-1 day')"
        ),
    ),
    "length of a stay": (
        StayLength("icu", "first", Scope(P)),
        (
            "SELECT strftime('%J',icustays.outtime) - strftime('%J',icustays.intime) FROM icustays WHERE icustays.hadm_id "
            f"IN ( {ADMITTED} ) AND icustays.outtime IS NOT NULL ORDER BY icustays.intime ASC LIMIT 1"
        ),
    ),
    "ranking by age": (
        Ranking("drug", 3, Scope(window=Window("this_year"), ages=Ages(30, 39))),
        (
            "SELECT T1.drug FROM ( SELECT prescriptions.drug, DENSE_RANK() OVER ( ORDER BY COUNT(*) DESC ) AS C1 FROM "
            "prescriptions WHERE prescriptions.hadm_id IN ( SELECT admissions.hadm_id FROM admissions WHERE admissions.age "
            f"BETWEEN 30 AND 39 ) AND {THIS_YEAR.format('prescriptions.starttime')} GROUP BY prescriptions.drug ) AS T1 "
            "WHERE T1.C1 <= 3"
        ),
    ),
    "ranking after an event": (
        Ranking("drug", 4, Scope(), Event("diagnosis", "gout, unspecified"), Relation("month", 2)),
        (
            "SELECT T3.drug FROM ( SELECT T2.drug, DENSE_RANK() OVER ( ORDER BY COUNT(*) DESC ) AS C1 FROM ( SELECT "
            "admissions.subject_id, diagnoses_icd.charttime FROM diagnoses_icd JOIN admissions ON diagnoses_icd.hadm_id = "
            f"admissions.hadm_id WHERE {GOUT} ) AS T1 JOIN ( SELECT admissions.subject_id, prescriptions.drug, "
            "prescriptions.starttime FROM prescriptions JOIN admissions ON prescriptions.hadm_id = admissions.hadm_id ) "
            "AS T2 ON T1.subject_id = T2.subject_id WHERE T1.charttime < T2.starttime AND datetime(T2.starttime) BETWEEN "
            "datetime(T1.charttime) AND datetime(T1.charttime,'+2 month') GROUP BY T2.drug ) AS T3 WHERE T3.C1 <= 4"
        ),
    ),
    "cost of visits": (
        VisitCost(Event("drug", "insulin"), Scope(), "MAX"),
        (
            "SELECT MAX(T1.C1) FROM ( SELECT SUM(cost.cost) AS C1 FROM cost WHERE cost.hadm_id IN ( SELECT "
            "prescriptions.hadm_id FROM prescriptions WHERE prescriptions.drug = 'insulin' ) GROUP BY cost.hadm_id ) AS T1"
        ),
    ),
    "patients per year": (
        Rate(Event("diagnosis", "gout, unspecified"), Scope(), "AVG", "year"),
        (
            "SELECT AVG(T1.C1) FROM ( SELECT COUNT( DISTINCT diagnoses_icd.hadm_id ) AS C1 FROM diagnoses_icd WHERE "
            f"{GOUT} GROUP BY strftime('%Y',diagnoses_icd.charttime) ) AS T1"
        ),
    ),
    "price": (
        Price(Event("lab", "glucose")),
        (
            "SELECT DISTINCT cost.cost FROM cost WHERE cost.event_type = 'labevents' AND cost.event_id IN ( SELECT "
            f"labevents.row_id FROM labevents WHERE {GLUCOSE} )"
        ),
    ),
}


@pytest.mark.parametrize("name", CASES)
def test_a_meaning_has_the_gold_form(name: str, schema: Schema) -> None:
    question, gold = CASES[name]
    assert sql_to_program(question.sql(), schema) == sql_to_program(gold, schema)


def test_a_quote_in_a_name_stays_a_name(ward: Ward) -> None:
    sql = IntakeRoute("st. john's wort").sql()
    assert ward.run(sql) == []


def test_what_follows_in_the_same_visit_needs_the_same_visit() -> None:
    question = CountFollowed(
        Event("drug", "insulin"), Event("lab", "glucose"), Relation("visit"), Scope(window=SINCE)
    )
    sql = question.sql()
    assert "T1.starttime < T2.charttime AND T1.hadm_id = T2.hadm_id" in sql
    assert sql.count(">= '2100-08'") == 2
