"""Every name, literal and period of a query has its reason, and the decisions are those that wrote it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import pytest

from fastsql import Parser
from fastsql.decode import Hypothesis
from fastsql.explanation import Reason, Trail
from fastsql.explanation.retrace import retrace
from fastsql.grammar import ActionSpace, read_program, sql_to_program, trace_program
from fastsql.linking.dictionary import ValueDictionary
from fastsql.linking.prepare import prepare
from fastsql.linking.relations import SchemaLinks
from fastsql.schema import Schema

from ..worlds.toy_bundle import QUESTIONS, load_toy, search, write_bundle
from ..worlds.toy_model import SCHEMA, WORDPIECE

WARD = Schema.from_ddl(
    """
    CREATE TABLE patients (id INTEGER PRIMARY KEY, gender TEXT);
    CREATE TABLE visits (id INTEGER PRIMARY KEY, patient_id INTEGER REFERENCES patients (id), ward TEXT, kind TEXT,
      admit_time TIMESTAMP, discharge_time TIMESTAMP)
    """
).with_values({("visits", "kind"): ["urgent", "elective"]})
DICTIONARY = ValueDictionary.from_mapping({("visits", "ward"): ["Intensive Care"]}, WARD)


def retraced(question: str, sql: str, schema: Schema = WARD) -> Trail:
    """The trail of a query that is written for a question, each decision taken with probability one half."""
    links = SchemaLinks(schema)
    prepared = prepare(question, links, WORDPIECE, dictionary=DICTIONARY if schema is WARD else None)
    space = ActionSpace.for_question(schema, question, prepared.offsets, prepared.candidates)
    actions = tuple(int(a) for a in trace_program(sql_to_program(sql, schema), space).actions)
    hypothesis = Hypothesis(actions, (math.log(0.5),) * len(actions))
    return retrace(hypothesis, read_program(actions, space), space, prepared, links)


def reasons(question: str, sql: str, kind: str) -> list[Reason]:
    return [reason for reason in retraced(question, sql).reasons if reason.kind == kind]


def test_names_have_the_words_that_say_them() -> None:
    found = retraced(
        "What gender do patients with urgent visits have?",
        "SELECT patients.gender FROM patients WHERE patients.id IN "
        "(SELECT visits.patient_id FROM visits WHERE visits.kind = 'urgent')",
    ).reasons
    assert {(r.target, r.text, r.why) for r in found} == {
        ("patients", "patients", "its name"),
        ("patients.gender", "gender", "its name"),
        ("patients.id", "", "a key between tables; probability 0.50"),
        ("visits", "visits", "its name"),
        ("visits.patient_id", "patients", "part of its name"),
        ("visits.kind", "", "no word names it; probability 0.50"),
        ("visits.kind = 'urgent'", "urgent", "a known value of visits.kind"),
    }


@pytest.mark.parametrize(
    ("question", "condition", "target", "text", "why"),
    [
        ("patient 12345", "visits.patient_id = 12345", "visits.patient_id = 12345", "12345", "a number"),
        ("patient three", "visits.patient_id = 3", "visits.patient_id = 3", "three", "a number rule"),
        (
            "in intensive care",
            "visits.ward = 'Intensive Care'",
            "visits.ward = 'Intensive Care'",
            "intensive care",
            "a dictionary value of visits.ward, spelled as there",
        ),
        (
            "not planned",
            "visits.kind = 'elective'",
            "visits.kind = 'elective'",
            "",
            "a known value of visits.kind that the question does not spell out",
        ),
        (
            "on ward seven b",
            "visits.ward = 'seven b'",
            "visits.ward = 'seven b'",
            "seven b",
            "words taken as written",
        ),
        ("ward 'x y'", "visits.ward = 'x y'", "visits.ward = 'x y'", "x y", "quoted text"),
        ("more than 60", "visits.patient_id > 60", "visits.patient_id > 60", "60", "a number"),
        ("5 or more", "visits.patient_id BETWEEN 5 AND 2", "visits.patient_id BETWEEN 5", "5", "a number"),
        (
            "in 12/2100",
            "STRFTIME('%Y-%m', visits.admit_time) >= '2100-12'",
            "visits.admit_time >= '2100-12'",
            "12/2100",
            "a date rule: read as a year and month",
        ),
    ],
)
def test_values_have_their_provenance(
    question: str, condition: str, target: str, text: str, why: str
) -> None:
    found = reasons(question, f"SELECT visits.id FROM visits WHERE {condition}", "value")
    (reason,) = (one for one in found if "always" not in one.why)
    assert (reason.target, reason.text, reason.why) == (target, text, why)
    assert reason.span is None or question[slice(*reason.span)] == text


WITHIN = (
    "DATETIME(visits.discharge_time) BETWEEN DATETIME(visits.admit_time) AND "
    "DATETIME(visits.admit_time, '+2 month')"
)
NOW = "DATETIME('now', 'start of year', '-{} year')"


@pytest.mark.parametrize(
    ("question", "condition", "target", "text", "action"),
    [
        (
            "who came this year?",
            f"DATETIME(visits.admit_time, 'start of year') = {NOW.format(0)}",
            "visits.admit_time in the present year",
            "this year",
            "in_year",
        ),
        (
            "who came last year?",
            f"DATETIME(visits.admit_time, 'start of year') = {NOW.format(1)}",
            "visits.admit_time in the year 1 year ago",
            "last year",
            "in_year",
        ),
        (
            "who came since 30 days ago?",
            "DATETIME(visits.admit_time) >= DATETIME('now', '-30 day')",
            "visits.admit_time no earlier than 30 days ago",
            "since 30 days ago",
            "since_day",
        ),
        (
            "who left on the same day?",
            "DATETIME(visits.discharge_time, 'start of day') = DATETIME(visits.admit_time, 'start of day')",
            "visits.discharge_time in the same day as visits.admit_time",
            "the same day",
            "same_day",
        ),
        (
            "who left within 2 months?",
            WITHIN,
            "visits.discharge_time at most 2 months after visits.admit_time",
            "within 2 months",
            "within_month",
        ),
        (
            "who is new?",
            f"DATETIME(visits.admit_time, 'start of year') = {NOW.format(0)}",
            "visits.admit_time in the present year",
            "",
            "in_year",
        ),
    ],
)
def test_periods_have_their_words(question: str, condition: str, target: str, text: str, action: str) -> None:
    sql = f"SELECT visits.id FROM visits WHERE {condition}"
    (reason,) = reasons(question, sql, "time")
    assert (reason.target, reason.text, reason.why) == (target, text, f"the calendar action {action}")
    assert reasons(question, sql, "value") == [], "what counts the periods has no reason of its own"


def test_columns_of_subqueries_are_told_by_what_they_pass_on() -> None:
    sql = (
        "SELECT T1.C1 FROM (SELECT visits.admit_time AS C1, COUNT(*) AS C2 FROM visits GROUP BY visits.admit_time) AS T1 "
        f"WHERE T1.C2 > 60 AND DATETIME(T1.C1, 'start of year') = {NOW.format(0)}"
    )
    found = [reason.target for reason in retraced("more than 60 this year?", sql).reasons]
    assert "a computed column of a subquery > 60" in found
    assert "visits.admit_time of a subquery in the present year" in found


def test_a_literal_that_also_counts_a_period_keeps_its_own_reason() -> None:
    sql = (
        "SELECT COUNT(*) > 0 FROM visits "
        f"WHERE DATETIME(visits.admit_time, 'start of year') = {NOW.format(0)}"
    )
    (reason,) = reasons("did anyone come this year?", sql, "value")
    assert (reason.target, reason.why) == ("0", "0, 1 and 2 are always available")


def test_places_are_those_of_the_question_as_it_was_asked() -> None:
    plain = retraced("patient 12345", "SELECT visits.id FROM visits WHERE visits.patient_id = 12345")
    moved = retraced("    patient 12345", "SELECT visits.id FROM visits WHERE visits.patient_id = 12345")
    assert [r.span and (r.span[0] + 4, r.span[1] + 4) for r in plain.reasons] == [
        r.span for r in moved.reasons
    ]
    assert [d.span and (d.span[0] + 4, d.span[1] + 4) for d in plain.decisions] == [
        d.span for d in moved.decisions
    ]
    assert any(reason.span for reason in plain.reasons)


def trails(toy: Parser) -> Iterator[tuple[str, Hypothesis, Trail]]:
    for question in QUESTIONS:
        found, space = search(toy, question, SCHEMA)
        links = SchemaLinks(SCHEMA)
        prepared = prepare(question, links, toy.engine.tokenizer)
        for hypothesis in found.finished:
            program = read_program(hypothesis.actions, space)
            yield question, hypothesis, retrace(hypothesis, program, space, prepared, links)


def test_decisions_are_those_of_the_hypothesis(toy: Parser, tmp_path: Path) -> None:
    kinds = set()
    spelling = load_toy(
        write_bundle(tmp_path / "spelling", seed=56), device=toy.engine.device
    )  # it spells literals out
    for _, hypothesis, trail in (*trails(toy), *trails(spelling)):
        assert len(trail.decisions) == len(hypothesis.actions)
        assert sum(math.log(d.probability) for d in trail.decisions) == pytest.approx(
            hypothesis.score, abs=1e-6
        )
        assert all(decision.legal > 1 for decision in trail.decisions)
        kinds |= {decision.kind for decision in trail.decisions}
    assert kinds >= {"production", "table", "column", "candidate", "start", "end"}


def test_whatever_is_written_has_reasons(toy: Parser) -> None:
    for question, _, trail in trails(toy):
        assert any(reason.kind in ("table", "column") for reason in trail.reasons)
        assert len(set(trail.reasons)) == len(trail.reasons)
        for reason in trail.reasons:
            assert reason.why
            assert (reason.span is None) == (reason.text == "")
            if reason.span is not None:
                assert question[slice(*reason.span)] == reason.text


def test_a_free_span_is_told_by_its_words(toy: Parser) -> None:
    trail = retraced("on ward seven b", "SELECT visits.id FROM visits WHERE visits.ward = 'seven b'")
    assert [d.choice for d in trail.decisions if d.kind == "end"] == ["seven b"]
    assert [d.choice for d in trail.decisions if d.kind == "start"] == ["s"], "the toy's tokens are letters"
