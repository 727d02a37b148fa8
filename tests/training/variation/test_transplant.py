from __future__ import annotations

import random

import pytest

from fastsql.grammar import Program, sql_to_program
from fastsql.grammar.program import masked
from fastsql.schema import Schema
from fastsql.training.corpus.sample import Sample
from fastsql.training.corpus.split import Pair
from fastsql.training.variation.opposites import turn
from fastsql.training.variation.time_conditions import cut_time
from fastsql.training.variation.times import KINDS, find_time_phrases
from fastsql.training.variation.transplant import Transplants, _remove, add_wording, read_slot
from fastsql.training.variation.visits import find_visit_phrases

from ...worlds.training_ward import CURRENT, FIRST, JULY, SCHEMA, SINCE, doses, examples, program

PATIENT = 10_004_235
LAST = FIRST.replace("ASC", "DESC")
TIME_COLUMNS = frozenset(i for i, column in enumerate(SCHEMA.columns) if column.type == "time")


def samples() -> list[Sample]:
    return [
        Sample(Pair(row["id"], row["question"], row["sql"], "ward"), program(row["sql"]))
        for row in examples()
        if row["sql"]
    ]


TAUGHT = Transplants.collect(samples())


@pytest.mark.parametrize(
    ("wording", "kind"),
    [
        ("on the first hospital visit", "hospital_first"),
        ("during their last ICU stay", "icu_last"),
        ("this hospital encounter", "hospital_current"),
    ],
)
def test_visit_filters_are_read(wording: str, kind: str) -> None:
    question = f"What was given {wording}?"
    (phrase,) = find_visit_phrases(question)
    assert (phrase.kind, question[slice(*phrase.span)]) == (kind, wording)


def test_the_first_drug_is_no_visit() -> None:
    assert find_visit_phrases("the first drug within the same hospital visit") == []


@pytest.mark.parametrize(("kind", "visit"), [("first", FIRST), ("last", LAST), ("current", CURRENT)])
def test_visits_are_pasted_and_cut(kind: str, visit: str) -> None:
    bare, full = program(doses(PATIENT, "aspirin")), program(doses(PATIENT, "aspirin", visit))
    assert TAUGHT.visits.paste(bare, f"hospital_{kind}") == full
    assert TAUGHT.visits.cut(full, f"hospital_{kind}") == bare


def test_a_visit_is_cut_only_where_it_is_the_one_asked_for() -> None:
    assert TAUGHT.visits.cut(program(doses(PATIENT, "aspirin", FIRST)), "hospital_last") is None
    assert TAUGHT.visits.cut(program(doses(PATIENT, "aspirin", FIRST)), "icu_first") is None
    assert TAUGHT.visits.paste(program("SELECT COUNT(*) FROM admissions"), "hospital_last") is None


def test_two_filters_are_no_slot() -> None:
    sql = doses(PATIENT, "aspirin", FIRST, SINCE)
    question = "the dose on the first hospital visit since 08/2100"
    assert read_slot(question, program(sql), TAUGHT.visits) is None


def test_a_filter_that_only_the_question_has_is_no_slot() -> None:
    assert read_slot("the dose since 08/2100", program(doses(PATIENT, "aspirin")), TAUGHT.visits) is None


def exchanged(sample: Sample, taught: Transplants = TAUGHT) -> list[tuple[str, Program]]:
    found = [
        taught.exchange(sample.pair.question, sample.program, random.Random(seed)) for seed in range(200)
    ]
    return [item for item in found if item is not None]


@pytest.mark.parametrize("number", range(4))
def test_question_and_program_still_say_the_same(number: int) -> None:
    sample = samples()[number]
    original = read_slot(sample.pair.question, sample.program, TAUGHT.visits)
    assert original is not None
    made = exchanged(sample)
    assert made
    for question, changed in made:
        slot = read_slot(question, changed, TAUGHT.visits)
        assert slot is not None
        assert slot.bare == original.bare


def test_a_template_comes_with_filters_that_it_never_had() -> None:
    programs = {masked(changed) for _, changed in exchanged(samples()[0])}
    assert masked(program(doses(PATIENT, "aspirin", time=SINCE))) in programs
    assert masked(program(doses(PATIENT, "aspirin", FIRST))) in programs


def test_held_out_templates_are_never_made() -> None:
    held_out = program(doses(PATIENT, "aspirin", FIRST))
    taught = Transplants.collect(samples(), held_out=[held_out])
    assert all(
        masked(changed) != masked(held_out)
        for sample in samples()
        for _, changed in exchanged(sample, taught)
    )


def test_a_filter_joins_a_question_before_its_mark_or_in_front() -> None:
    made = {add_wording("What was given?", "since 2100", random.Random(seed)) for seed in range(30)}
    assert made == {"What was given since 2100?", "Since 2100, what was given?"}


def turned(question: str, sql: str) -> set[tuple[str, Program]]:
    old = program(sql)
    found = {turn(question, old, TIME_COLUMNS, random.Random(seed)) for seed in range(40)}
    return {(text, changed) for text, changed in found if changed != old}


def test_first_and_last_change_places() -> None:
    sql = "SELECT drug FROM prescriptions WHERE dose = 3 ORDER BY starttime {} LIMIT 1"
    made = turned("What was the first drug of dose 3?", sql.format("ASC"))
    assert made == {("What was the last drug of dose 3?", program(sql.format("DESC")))}


def test_the_first_visit_stays_the_first() -> None:
    assert not turned(
        "the dose on the first hospital visit", doses(PATIENT, "aspirin", FIRST, aggregate="SUM")
    )


def test_extremes_change_places() -> None:
    made = turned("What was the maximum dose?", doses(PATIENT, "aspirin"))
    assert made == {
        ("What was the minimum dose?", program(doses(PATIENT, "aspirin", aggregate="MIN"))),
        ("What was the average dose?", program(doses(PATIENT, "aspirin", aggregate="AVG"))),
    }


def test_comparisons_change_places() -> None:
    sql = "SELECT COUNT(*) FROM prescriptions WHERE dose {} 3.5"
    assert turned("Doses less than 3.5?", sql.format("<")) == {
        ("Doses greater than 3.5?", program(sql.format(">")))
    }


@pytest.mark.parametrize(
    ("question", "sql"),
    [
        ("the first and the last drug", "SELECT drug FROM prescriptions ORDER BY starttime ASC LIMIT 1"),
        ("the last drug", "SELECT drug FROM prescriptions ORDER BY starttime ASC LIMIT 1"),
        ("the maximum dose", "SELECT MIN(dose) FROM prescriptions"),
        ("the maximum dose", "SELECT MAX(dose), AVG(dose) FROM prescriptions"),
        ("less than 3", doses(PATIENT, "aspirin", time=JULY)),
    ],
)
def test_what_the_program_does_not_bear_out_stays(question: str, sql: str) -> None:
    assert not turned(question, sql)


DISCHARGES = Schema.from_ddl("CREATE TABLE 出院 (病人 TEXT, 出院日期 DATE, 科室 TEXT)")
LAST_YEAR = "datetime(出院日期, 'start of year') = datetime('now', 'start of year', '-1 year')"


def discharged(*conditions: str) -> Program:
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    return sql_to_program(f"SELECT COUNT(*) FROM 出院{where}", DISCHARGES)


CHINESE = Transplants.collect([Sample(Pair("1", "去年的出院几次", "", "出院"), discharged(LAST_YEAR))])


def test_chinese_filters_take_each_others_place() -> None:
    found = [
        CHINESE.exchange("请问去年的出院几次", discharged(LAST_YEAR), random.Random(seed))
        for seed in range(200)
    ]
    made = dict(item for item in found if item is not None)
    assert len(made) > 50
    assert all(question.startswith("请问") and question.endswith("的出院几次") for question in made)
    for question, changed in made.items():
        (phrase,) = find_time_phrases(question)
        cut = cut_time(changed, phrase.conditions)
        assert cut is not None
        assert cut[0] == discharged()


def test_over_a_database_that_is_asked_in_both_languages_a_question_keeps_its_own() -> None:
    this_month = "datetime(出院日期, 'start of month') = datetime('now', 'start of month', '-0 month')"
    the_third = discharged("strftime('%d', 出院日期) = '03'", this_month)
    both = Transplants.collect(
        [
            Sample(Pair("1", "去年的出院几次", "", "出院"), discharged(LAST_YEAR)),
            Sample(Pair("2", "How many discharges on this month/03?", "", "出院"), the_third),
        ]
    )
    kinds, _ = both.kinds[False]
    assert "day_of_month_0" in kinds
    for seed in range(300):
        made = both.exchange("去年的出院几次", discharged(LAST_YEAR), random.Random(seed))
        assert made is None or not any("a" <= letter <= "z" for letter in made[0])


def test_a_chinese_filter_is_added_behind_what_asks() -> None:
    found = [CHINESE.exchange("列出出院几次", discharged(), random.Random(seed)) for seed in range(100)]
    made = [question for question, _ in filter(None, found)]
    assert made
    assert all(question.startswith("列出") and question.endswith("出院几次") for question in made)
    assert "列出出院几次" not in made


@pytest.mark.parametrize(
    ("question", "left"),
    [("去年的出院几次", "出院几次"), ("在2022年出院的", "出院的"), ("本年度出院几次", "出院几次")],
)
def test_nothing_of_a_chinese_filter_is_left(question: str, left: str) -> None:
    assert _remove(question, tuple(phrase.span for phrase in find_time_phrases(question))) == left


VISITED = Schema.from_ddl("CREATE TABLE visits (patient TEXT, visit_date DATE, reason TEXT)")


def test_a_year_gives_place_to_whatever_people_say_of_times() -> None:
    program = sql_to_program("SELECT COUNT(*) FROM visits WHERE strftime('%Y', visit_date) = '2021'", VISITED)
    question = "How many visits were there in 2021?"
    taught = Transplants.collect([Sample(Pair("1", question, "", "visits"), program)])
    found = [taught.exchange(question, program, random.Random(seed)) for seed in range(400)]
    kinds = {find_time_phrases(item[0])[0].kind for item in found if item is not None}
    assert kinds == set(KINDS)
