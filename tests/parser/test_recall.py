"""Remembered pairs supply queries and speak for them, where it is clear what they say."""

from __future__ import annotations

import io
import json
import pickle
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastsql import ExampleError, LimitError, Parser, Schema, ValueDictionary, load
from fastsql.execution import ReadOnlyExecutor, Rows
from fastsql.limits import Limits
from fastsql.parser import recall
from fastsql.parser.audit import Audit
from fastsql.parser.recall import SAME
from fastsql.reliability.inspection import Inspector
from fastsql.result import Remembered

from ..worlds.toy_bundle import LIMITS, load_toy, outcome

DDL = """
CREATE TABLE patients (id INT, surname TEXT, forename TEXT, city TEXT);
CREATE TABLE drugs (patient INT, drug TEXT, given TIMESTAMP);
CREATE TABLE 就诊 (编号 INT, 诊断 TEXT);
"""
SCHEMA = Schema.from_ddl(DDL)
VALUES = ValueDictionary.from_mapping(
    {
        ("patients", "forename"): ["Ann", "Mary Ann", "Mary", "Bob"],
        ("patients", "surname"): ["Lee", "Ann Lee", "Ray"],
        ("patients", "city"): ["Ray", "Rome"],
        ("drugs", "drug"): ["aspirin", "ferrous sulfate"],
        ("就诊", "诊断"): ["败血症", "肺炎"],
    },
    SCHEMA,
)
BY_ID = ("Where does patient 7 live?", "SELECT city FROM patients WHERE id = 7")
BY_NAME = (
    "Where does Bob Ray live?",
    "SELECT city FROM patients WHERE forename = 'Bob' AND surname = 'Ray'",
)
TAKING = ("Who took aspirin?", "SELECT patient FROM drugs WHERE drug = 'aspirin'")


@pytest.fixture
def parser(toy_bundle: Path) -> Parser:
    return load_toy(toy_bundle)


def remembering(parser: Parser, *pairs: tuple[str, str], values: Any = VALUES) -> Parser:
    for question, sql in pairs:
        parser.remember(question, sql, SCHEMA, values=values)
    return parser


@pytest.mark.parametrize(
    ("pair", "question", "sql"),
    [
        (BY_ID, "where does patient 12 live", "SELECT patients.city FROM patients WHERE patients.id = 12"),
        (TAKING, "Who took 'ferrous sulfate'?", "SELECT drugs.patient FROM drugs WHERE drugs.drug = 'ferrous sulfate'"),
        (
            BY_NAME,
            "Where does Ann Ray live?",
            "SELECT patients.city FROM patients WHERE patients.surname = 'Ray' AND patients.forename = 'Ann'",
        ),
        (
            (
                "Who took aspirin in 2100?",
                "SELECT patient FROM drugs WHERE drug = 'aspirin' AND STRFTIME('%Y', given) = '2100'",
            ),
            "Who took ferrous sulfate in 2101?",
            "SELECT drugs.patient FROM drugs WHERE drugs.drug = 'ferrous sulfate' AND STRFTIME('%Y', drugs.given) = '2101'",
        ),
        (
            ("有多少人得了败血症？", "SELECT COUNT(*) FROM 就诊 WHERE 诊断 = '败血症'"),
            "有多少人得了肺炎？",
            'SELECT COUNT(*) FROM "就诊" WHERE "就诊"."诊断" = \'肺炎\'',
        ),
    ],
)  # fmt: skip
def test_the_same_question_with_other_literals_has_the_pairs_query_with_them(
    parser: Parser, pair: tuple[str, str], question: str, sql: str
) -> None:
    result = remembering(parser, pair).parse(question, SCHEMA, values=VALUES, penalty=10)
    assert result.sql == sql
    assert result.confidence == pytest.approx(SAME)
    assert result.remembered is not None
    assert (result.remembered.number, result.remembered.same) == (1, True)


@pytest.mark.parametrize(
    ("pair", "question"),
    [
        (BY_ID, "Where does patient 12 work?"),
        (BY_ID, "Where does patient Bob live?"),
        (BY_NAME, "Where does Bob Unknown live?"),
        (BY_NAME, "Where does Mary Ann Lee live?"),
        (TAKING, "Who took paracetamol?"),
        (TAKING, "Who took drugs?"),
        (TAKING, "Who took Ray?"),
    ],
    ids=["wording", "type", "unknown", "two ways", "no value", "a name of the schema", "another column's"],
)
def test_nothing_is_supplied_where_words_or_literals_do_not_fit(
    parser: Parser, pair: tuple[str, str], question: str
) -> None:
    before = parser.parse(question, SCHEMA, values=VALUES)
    after = remembering(parser, pair).parse(question, SCHEMA, values=VALUES)
    assert after.remembered is None
    assert outcome(after) == outcome(before)


def test_without_values_a_gap_takes_a_word_and_no_more(parser: Parser) -> None:
    remembering(parser, TAKING, values=None)
    assert parser.parse("Who took paracetamol?", SCHEMA).best == (
        "SELECT drugs.patient FROM drugs WHERE drugs.drug = 'paracetamol'"
    )
    assert parser.parse("Who took paracetamol and died?", SCHEMA).remembered is None
    assert parser.parse("Who took drugs?", SCHEMA).remembered is None


def test_pairs_that_disagree_supply_nothing_but_to_their_own_questions(parser: Parser) -> None:
    other = ("Where does patient 8 live?", "SELECT city FROM patients WHERE surname = '8'")
    remembering(parser, BY_ID, other, values=None)
    assert parser.parse("Where does patient 9 live?", SCHEMA).remembered is None
    assert str(parser.parse(other[0], SCHEMA).best).endswith("WHERE patients.surname = 8")
    assert str(parser.parse(BY_ID[0], SCHEMA).best).endswith("WHERE patients.id = 7")


@pytest.fixture(scope="module")
def ehr_en() -> Parser:
    """The bundled model, whose queries are short; what it remembers here, nobody else is given."""
    return load(threads=1)


WARFARIN = "How many patients were prescribed warfarin?"


def test_a_hypothesis_of_the_beam_is_raised_and_keeps_its_decisions(
    ehr_en: Parser, demo_hospital: Path
) -> None:
    question = "What is the most common diagnosis?"
    found = ehr_en.parse(question, demo_hospital, values=demo_hospital)
    second = found.alternatives[0]
    number = ehr_en.remember(question, second.sql, demo_hospital, values=demo_hospital)
    result = ehr_en.parse(question, demo_hospital, values=demo_hospital)
    assert (result.best, result.confidence) == (second.sql, pytest.approx(max(SAME, second.confidence)))
    assert result.remembered is not None
    assert not result.remembered.supplied
    assert len(result.trail.decisions) > 0
    assert found.best in {one.sql for one in result.alternatives}
    ehr_en.forget(demo_hospital, number)


def test_a_question_that_is_alike_raises_the_models_own_query_of_that_form(
    ehr_en: Parser, demo_hospital: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = ehr_en.parse(WARFARIN, demo_hospital, values=demo_hospital)
    alike = "To how many people was aspirin prescribed?"
    other = str(found.best).replace("warfarin", "aspirin")
    ehr_en.remember(alike, other, demo_hospital, values=demo_hospital)
    monkeypatch.setattr(recall, "ALIKE", ((2.0, 0.999),))
    assert ehr_en.parse(WARFARIN, demo_hospital, values=demo_hospital).remembered is None
    monkeypatch.setattr(recall, "ALIKE", ((-1.0, 0.999),))
    result = ehr_en.parse(WARFARIN, demo_hospital, values=demo_hospital)
    assert (result.best, result.unanswerable) == (found.best, found.unanswerable)
    raised = (1 - found.unanswerable) * 0.999
    assert result.confidence == pytest.approx(max(raised, found.confidence))
    assert result.remembered is not None
    assert not result.remembered.same
    rooms = ehr_en.parse("What is the average age of all patients?", demo_hospital, values=demo_hospital)
    assert rooms.remembered is None, "its query has another form"
    ehr_en.forget(demo_hospital)


def test_a_pair_does_not_speak_for_a_query_of_a_row_that_is_not_there(
    ehr_en: Parser, demo_hospital: Path
) -> None:
    sql = "SELECT gender FROM patients WHERE subject_id = {}"
    asked, absent = (f"Patient {number} is what?" for number in (71021141, 99999999))
    ehr_en.remember(asked, sql.format(71021141), demo_hospital)
    with ReadOnlyExecutor(demo_hospital) as executor:
        inspector = Inspector(executor)
        there = ehr_en.parse(asked, demo_hospital, inspector=inspector)
        assert there.remembered is not None
        assert there.confidence >= SAME
        gone = ehr_en.parse(absent, demo_hospital, inspector=inspector)
    assert gone.confidence < SAME
    assert gone.remembered is None or not gone.remembered.supplied, "nothing else speaks for the pair's query"
    ehr_en.forget(demo_hospital)


def test_without_pairs_of_the_schema_nothing_changes(parser: Parser) -> None:
    before = parser.parse(BY_ID[0], SCHEMA, values=VALUES)
    other = Schema.from_ddl("CREATE TABLE patients (id INT, city TEXT)")
    parser.remember(*BY_ID, other)
    after = parser.parse(BY_ID[0], SCHEMA, values=VALUES)
    assert outcome(after) == outcome(before)
    assert "recall" not in after.timings
    assert "recall" in parser.parse(BY_ID[0], other).timings


def test_pairs_are_listed_replaced_and_forgotten(parser: Parser) -> None:
    assert parser.remember(*BY_ID, SCHEMA) == 1
    assert parser.remember(*TAKING, SCHEMA) == 2
    again = (f"  {BY_ID[0].upper()} ", "SELECT surname FROM patients WHERE id = 7")
    assert parser.remember(*again, SCHEMA) == 1
    assert parser.examples(SCHEMA) == {1: again, 2: TAKING}
    assert parser.forget(SCHEMA, 1) == 1
    assert parser.examples(SCHEMA) == {2: TAKING}
    with pytest.raises(ExampleError, match="number 1"):
        parser.forget(SCHEMA, 1)
    assert (parser.forget(SCHEMA), parser.forget(SCHEMA)) == (1, 0)
    assert parser.parse(TAKING[0], SCHEMA).remembered is None


def test_as_many_are_remembered_as_the_limit_says(toy_bundle: Path) -> None:
    limits: Limits = replace(LIMITS, examples=2)
    parser = remembering(load_toy(toy_bundle, limits=limits), BY_ID, TAKING)
    parser.remember(*TAKING, SCHEMA)
    with pytest.raises(LimitError, match=r"3 is more than the limit of 2 \(examples\)"):
        parser.remember(*BY_NAME, SCHEMA)


@pytest.mark.parametrize(
    ("question", "sql", "why"),
    [
        ("Who is zyxwaldo?", "SELECT nothing FROM patients WHERE surname = 'zyxwaldo'", "no source in scope"),
        ("Who is zyxwaldo?", "SELECT id FROM", "does not parse"),
        ("Who is zyxwaldo?", "DELETE FROM patients WHERE surname = 'zyxwaldo'", "is not a SELECT"),
        ("Who is zyxwaldo?", "WITH a AS (SELECT 'zyxwaldo') SELECT * FROM a, a AS b", "the grammar cannot say it"),
        ("?!", "SELECT id FROM patients WHERE surname = 'zyxwaldo'", "there is no question"),
    ],
)  # fmt: skip
def test_what_cannot_be_remembered_is_an_error_without_its_words(
    parser: Parser, question: str, sql: str, why: str
) -> None:
    with pytest.raises(ExampleError, match=why) as failure:
        parser.remember(question, sql, SCHEMA)
    assert "zyxwaldo" not in "".join(traceback.format_exception(failure.value))
    assert parser.examples(SCHEMA) == {}


def test_sql_is_read_in_its_dialect(parser: Parser) -> None:
    parser.remember("Who took it today?", "SELECT patient FROM drugs LIMIT 3", SCHEMA, dialect="duckdb")
    sql = 'SELECT TOP 3 [patient] FROM "drugs"'
    with pytest.raises(ExampleError):
        parser.remember("Who took it?", sql, SCHEMA)
    parser.remember("Who took it?", sql.replace('"', ""), SCHEMA, dialect="tsql")
    assert len(parser.examples(SCHEMA)) == 2


def test_a_result_tells_which_pair_it_stands_on_and_none_of_its_words(parser: Parser) -> None:
    records: list[Any] = []
    parser.remember(
        "Where does patient 1234567 live?", "SELECT city FROM patients WHERE id = 1234567", SCHEMA
    )
    parser._audit = Audit(records.append, question=True, sql=True, literals=True, identifiers=True)
    result = parser.parse("Where does patient 7 live?", SCHEMA)
    assert result.remembered == Remembered(1, True, result.remembered.likeness, SAME, supplied=True)  # type: ignore[union-attr]
    shown = io.StringIO()
    result.show(shown, width=120, decisions=True)
    assert (
        "As in the question of remembered pair 1, but for literals. The model had not found this"
        in shown.getvalue()
    )
    content = json.loads(result.to_json(explain=True))
    assert (content["remembered"]["number"], content["decisions"]) == (1, [])
    (unnamed,) = (reason for reason in content["reasons"] if reason["target"] == "patients.city")
    assert unnamed["why"] == "no word names it; of remembered pair 1"
    assert content["values"][0]["value"] == 7
    told = (
        shown.getvalue(),
        json.dumps(content),
        repr(result),
        result._repr_html_(),
        str(records),
        repr(parser),
    )
    assert "remembered pair 1" in told[3]
    assert not any("1234567" in text for text in told)
    assert "1234567" not in repr(next(iter(parser._memory._kept.values())))


def test_a_pickled_parser_remembers(parser: Parser) -> None:
    copy = pickle.loads(pickle.dumps(remembering(parser, BY_ID)))
    parser.forget(SCHEMA)
    assert copy.parse("Where does patient 9 live?", SCHEMA).remembered.number == 1
    assert copy.remember(*TAKING, SCHEMA) == 2


class Answering:
    """Gives the same rows to every query."""

    def __init__(self, rows: list[tuple[Any, ...]]) -> None:
        self.rows = rows
        self.seen: list[str] = []

    def run(self, sql: str) -> Rows:
        self.seen.append(sql)
        return Rows(("a",), self.rows, truncated=False)


def test_an_inspector_runs_what_a_pair_supplies(parser: Parser) -> None:
    remembering(parser, BY_ID, values=None)
    executor = Answering([("Rome",)])
    result = parser.parse("Where does patient 9 live?", SCHEMA, inspector=Inspector(executor))
    assert executor.seen[0] == result.best == "SELECT patients.city FROM patients WHERE patients.id = 9"
    assert result.confidence >= SAME


def test_a_pair_whose_literals_the_question_does_not_say_speaks_for_its_form_alone(parser: Parser) -> None:
    remembering(
        parser, ("Where do most live?", "SELECT city FROM patients WHERE surname = 'Smithers'"), values=None
    )
    assert parser.parse("Where do most live?", SCHEMA).remembered is None
