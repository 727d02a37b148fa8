"""The bundled model on the demo's hospital: a few questions whose answers are known."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

import fastsql
from fastsql import Parser, Schema
from fastsql.demo import NOW

from .worlds.toy_bundle import load_toy, search

GOLDEN = (
    (
        "What is the gender of patient 71021258?",
        "SELECT gender FROM patients WHERE subject_id = 71021258",
    ),
    (
        "How many patients were discharged from the hospital in 2100?",
        "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE STRFTIME('%Y', dischtime) = '2100'",
    ),
    (
        "Count the number of current patients whose ages fall within the 40s.",
        "SELECT COUNT(DISTINCT subject_id) FROM admissions WHERE dischtime IS NULL AND age BETWEEN 40 AND 49",
    ),
    (
        "What are the methods for taking ceftriaxone?",
        "SELECT DISTINCT route FROM prescriptions WHERE drug = 'ceftriaxone'",
    ),
    (
        "When was patient 71021258 last discharged from the hospital?",
        (
            "SELECT dischtime FROM admissions WHERE subject_id = 71021258 AND dischtime IS NOT NULL"
            " ORDER BY admittime DESC LIMIT 1"
        ),
    ),
)


@pytest.mark.parametrize(("question", "gold"), GOLDEN)
def test_the_bundled_model_answers_plain_questions(
    ehr_en: Parser, demo_hospital: Path, question: str, gold: str
) -> None:
    result = ehr_en.parse(question, demo_hospital, values=demo_hospital, now=NOW)
    assert result.sql
    with closing(sqlite3.connect(demo_hospital)) as database:
        assert sorted(database.execute(result.sql)) == sorted(database.execute(gold))


def test_the_bundled_model_takes_the_same_actions_with_either_encoder(
    demo_hospital: Path, ehr_en: Parser
) -> None:
    pytest.importorskip("onnxruntime", reason="pip install '.[cpu]' to run this")
    schema = Schema.coerce(demo_hospital)
    reference = load_toy(ehr_en.bundle.path, encoder="numpy", limits=ehr_en.limits)
    encoded = [(parser, parser.engine.encode_schema(schema)) for parser in (ehr_en, reference)]
    for question, _ in GOLDEN:
        (one, _), (other, _) = (search(parser, question, schema, encoded=ready) for parser, ready in encoded)
        assert one.finished[0].actions == other.finished[0].actions
        assert one.finished[0].score == pytest.approx(other.finished[0].score, rel=1e-4, abs=1e-4)


def test_the_bundled_model_refuses_what_nobody_can_answer(ehr_en: Parser, demo_hospital: Path) -> None:
    careful = fastsql.load("ehr-en", threads=1)
    assert careful.parse("Which nurse looked after patient 71021141 last night?", demo_hospital).abstained


def test_a_drug_that_the_database_does_not_hold_is_not_asked_for(ehr_en: Parser, demo_hospital: Path) -> None:
    """No patient got "ceftriaxon", and an answer of 0 to a typing error would be wrong."""
    question = "How many patients were prescribed ceftriaxon?"
    held = ehr_en.parse(question, demo_hospital, values=demo_hospital)
    assert held.abstained
    assert held.confidence < 0.1
    assert "ceftriaxon" not in str(held.best)
    said = ehr_en.parse(question, demo_hospital, values=demo_hospital, grounded=False)
    assert said.sql is not None
    assert "'ceftriaxon'" in said.sql
