"""A result shows itself briefly, in full to a notebook, and can leave its process."""

from __future__ import annotations

import dataclasses
import json
import pickle
from pathlib import Path
from typing import Any

import pytest

from fastsql import Parser, Schema, ValueDictionary
from fastsql.explanation import Decision, Explanation, Reason, Trail, WordRoles
from fastsql.grammar.program import sql_literal
from fastsql.parser.decide import doubt
from fastsql.result import Alternative, Link, Literal, Result

from .background import Told
from .worlds.toy_bundle import QUESTIONS, load_toy
from .worlds.toy_model import SCHEMA

QUESTION = "How many <women> got aspirin?"
ANSWER = Result(
    QUESTION,
    "SELECT COUNT(*) FROM patients WHERE gender = 'f'",
    0.93,
    links=(
        Link((21, 29), "aspirin?", "value", "prescriptions.drug = 'aspirin'"),
        Link((9, 16), "<women>", "column", "patients.gender"),
    ),
    values=(Literal("f", "schema", None, "patients.gender"),),
    timings={"encode": 3.25, "decode": 4.0},
    background=Told((Alternative("SELECT 1", 0.04),)),
)
REFUSAL = Result("Why?", "SELECT 1", 0.12, abstained=True, reason="not sure enough")


def test_an_answer_has_sql() -> None:
    assert ANSWER.sql == ANSWER.best
    assert ANSWER


def test_a_refusal_has_no_sql_but_keeps_its_best_hypothesis() -> None:
    assert REFUSAL.sql is None
    assert REFUSAL.best == "SELECT 1"
    assert not REFUSAL


def test_repr_is_one_short_line() -> None:
    assert repr(ANSWER) == "Result(\"SELECT COUNT(*) FROM patients WHERE gender = 'f'\", confidence=0.93)"
    assert repr(REFUSAL) == "Result(abstained, confidence=0.12, reason='not sure enough')"
    assert len(repr(Result("?", "SELECT " + "x" * 1000, 1.0))) < 130


def test_alternatives_are_rendered_once_and_only_when_asked_for() -> None:
    background = Told((Alternative("SELECT 2", 0.1),))
    result = Result("?", "SELECT 1", 0.9, background=background)
    assert background.asked == []
    assert result.alternatives == result.alternatives == background.further
    assert background.asked == ["alternatives"]


def test_a_result_can_be_pickled_with_its_alternatives() -> None:
    copy = pickle.loads(pickle.dumps(ANSWER))
    assert copy.alternatives == (Alternative("SELECT 1", 0.04),)
    assert (copy.sql, copy.links, dict(copy.timings)) == (ANSWER.sql, ANSWER.links, dict(ANSWER.timings))


def test_a_pickle_holds_the_question_and_the_values_that_the_result_shows_and_no_others(
    toy_bundle: Path,
) -> None:
    schema = SCHEMA.with_values({("admissions", "admission_type"): ["urgent", "quuxmorph"]})
    listed = [f"graultfred {number}" for number in range(20)] + ["plughcorge"]
    values = ValueDictionary.from_mapping({("patients", "gender"): listed}, schema)
    result = load_toy(toy_bundle).parse("is zyxwaldo 'plughcorge' or urgent?", schema, values=values)
    told = result.explain().text(2000, decisions=True)
    shown = "\n".join([result.question, result.best or "", told, *(a.sql for a in result.alternatives)])
    pickled = pickle.dumps(result).decode("latin-1")
    assert "zyxwaldo" in pickled
    assert "plughcorge" in pickled
    assert [word for word in listed if word in pickled] == [word for word in listed if word in shown]
    assert "graultfred" not in pickled
    assert ("quuxmorph" in pickled) == ("quuxmorph" in shown)


def test_a_result_cannot_be_changed() -> None:
    with pytest.raises(dataclasses.FrozenInstanceError):
        ANSWER.confidence = 1.0  # type: ignore[misc]


TRAIL = Trail(
    (Reason("column", "patients.gender", "its name", (9, 16), "<women>", "patients.gender"),),
    (Decision("row", "column", "patients.gender", 22, 0.75),),
    (WordRoles(("WHERE",), (9, 16), "<women>"),),
)


def test_a_result_is_retraced_once_and_only_when_asked_for() -> None:
    background = Told(led_to=TRAIL)
    result = dataclasses.replace(ANSWER, background=background)
    assert background.asked == []
    first, second = result.explain(), result.explain()
    assert (
        (first.reasons, first.decisions)
        == (second.reasons, second.decisions)
        == (TRAIL.reasons, TRAIL.decisions)
    )
    assert background.asked == ["trail"]


def test_what_was_retraced_survives_pickling() -> None:
    retraced = dataclasses.replace(ANSWER, background=Told(led_to=TRAIL))
    copy = pickle.loads(pickle.dumps(retraced))
    assert copy.trail == TRAIL
    assert str(copy.explain()) == str(retraced.explain())


def test_without_a_trail_links_and_values_are_the_reasons() -> None:
    told = ANSWER.explain()
    assert [(reason.target, reason.text) for reason in told.in_question] == [
        ("patients.gender", "<women>"),
        ("prescriptions.drug = 'aspirin'", "aspirin?"),
    ]
    (value,) = told.beyond_question
    assert (value.target, value.why) == (
        "patients.gender = 'f'",
        "a known value of patients.gender that the question does not spell out",
    )
    assert told.decisions == ()


@pytest.mark.parametrize(
    ("literal", "why"),
    [
        (Literal("women", "span", (10, 15)), "words taken as written"),
        (Literal("Women", "span", (10, 15), "t.c"), "words, in the letter case of t.c"),
        (Literal("WOMEN", "dictionary", (10, 15), "t.c"), "a dictionary value of t.c, spelled as there"),
        (Literal("women", "schema", (10, 15), "t.c"), "a known value of t.c"),
        (Literal("women", "quoted", (10, 15)), "quoted text"),
        (Literal(3, "number", (0, 3)), "a number rule"),
        (Literal(2, "ordinal", (0, 3)), "an ordinal number"),
        (Literal("2100-08", "date", (0, 3), "", "%Y-%m"), "a date rule: read as a year and month"),
        (Literal(95, "constant", None, "t.c", "", "sao2_lower"), "the bound sao2_lower of the normal range"),
        (Literal(1, "closed"), "0, 1 and 2 are always available"),
        (Literal(1, "oracle"), "from oracle"),
    ],
)
def test_every_provenance_has_a_sentence(literal: Literal, why: str) -> None:
    (reason,) = Result(QUESTION, "SELECT 1", 0.5, values=(literal,)).explain().reasons
    assert reason.why == why


def test_an_explanation_is_shown_as_text_and_as_html() -> None:
    told = ANSWER.explain()
    assert isinstance(told, Explanation)
    assert repr(told) == "<Explanation: 3 reasons, 0 decisions>"
    assert str(told).startswith("How many <women> got aspirin?\n         ~~~1~~~     ~~~2~~~~")
    assert told._repr_html_() == ANSWER._repr_html_()
    assert '<mark class="column"><bdi>&lt;women&gt;</bdi><sup>1</sup></mark>' in ANSWER._repr_html_()


def test_of_overlapping_links_one_is_marked_and_both_are_told() -> None:
    links = (Link((0, 4), "Why?", "column", "x.a"), Link((2, 4), "y?", "value", "z"))
    result = dataclasses.replace(REFUSAL, links=links)
    assert result._repr_html_().count("<mark") == 1
    assert {"x.a", "z"} <= set(str(result.explain()).replace("(", " ").split())


def test_numbers_that_decide_are_told_apart() -> None:
    assert (
        doubt(0.9073, 10 / 11, 10) == "The confidence of 0.907 is below the 0.909 that penalty 10 asks for."
    )
    assert doubt(0.01, 10 / 11, 10) == "The confidence of 0.01 is below the 0.91 that penalty 10 asks for."
    assert doubt(0.90909, 10 / 11, 10).startswith("The confidence of 0.909090 is below the 0.909091 ")


# ---------------------------------------------------------------- of real parses


def test_a_parse_can_be_explained_wherever_it_went(toy: Parser) -> None:
    for question in QUESTIONS:
        result = toy.parse(f" \t{question}", SCHEMA)
        told = result.explain()
        assert len(told.decisions) > 1
        assert all(result.question[slice(*reason.span)] == reason.text for reason in told.in_question)
        for literal in result.values:
            assert literal.span is None or any(sql_literal(literal.value) in r.target for r in told.reasons)
        assert result.threshold == 0
        copy = pickle.loads(pickle.dumps(result))
        assert str(copy.explain()) == str(told)


def test_a_refusal_is_explained_as_an_answer_is(toy_bundle: Path) -> None:
    refused = load_toy(toy_bundle, penalty=10).parse(QUESTIONS[0], SCHEMA)
    answered = load_toy(toy_bundle, penalty=0).parse(QUESTIONS[0], SCHEMA)
    assert refused.abstained
    assert refused.threshold == pytest.approx(10 / 11)
    assert refused.explain().reasons == answered.explain().reasons
    assert refused.explain().decisions == answered.explain().decisions


def test_no_question_has_nothing_to_explain(toy: Parser) -> None:
    told = toy.parse("  ?!  ", SCHEMA).explain()
    assert (told.reasons, told.decisions) == ((), ())
    assert "There is no question in this text." in str(told)


def test_the_bundled_model_ties_words_to_what_they_stand_for(ehr_en: Parser, demo_hospital: Path) -> None:
    schema = Schema.from_sqlite(demo_hospital, max_values=12)
    values = ValueDictionary.from_database(demo_hospital, schema)
    result = ehr_en.parse("Has patient 71021258 been prescribed warfarin this month?", schema, values=values)
    said = {reason.text: (reason.kind, reason.target) for reason in result.explain().in_question}
    assert said["71021258"] == ("value", "admissions.subject_id = 71021258")
    assert said["warfarin"] == ("value", "prescriptions.drug = 'warfarin'")
    assert said["this month"] == ("time", "prescriptions.starttime in the present month")


# ---------------------------------------------------------------- as plain data

KEYS = [
    *("question", "sql", "best", "confidence", "unanswerable", "threshold", "abstained", "reason"),
    *("note", "remembered", "suggestions", "dialect", "links", "values", "timings"),
]


def read(text: str) -> Any:
    """JSON as strict readers take it."""
    text.encode("utf-8")
    return json.loads(text, parse_constant=lambda name: pytest.fail(f"{name} in JSON"))


@pytest.mark.parametrize("result", [ANSWER, REFUSAL, Result("?", None, 0.0, abstained=True)])
def test_a_result_goes_to_json_and_back(result: Result) -> None:
    content = result.to_dict()
    assert list(content) == KEYS
    assert read(result.to_json()) == content
    again = Result(
        **{key: content[key] for key in KEYS if key not in ("sql", "suggestions", "links", "values")},
        links=tuple(Link(**{**link, "span": tuple(link["span"])}) for link in content["links"]),
        values=tuple(
            Literal(**{**value, "span": value["span"] and tuple(value["span"])})
            for value in content["values"]
        ),
    )
    assert again.to_dict() == content
    assert (again.links, again.values, again.sql) == (result.links, result.values, result.sql)


def test_reasons_decisions_and_alternatives_are_told_when_asked_for() -> None:
    background = Told((Alternative("SELECT 1", 0.04),), TRAIL)
    result = dataclasses.replace(ANSWER, background=background)
    assert list(result.to_dict()) == KEYS
    assert background.asked == []
    content = read(result.to_json(explain=True))
    assert list(content) == [*KEYS, "reasons", "decisions", "roles", "alternatives"]
    assert content["alternatives"] == [{"sql": "SELECT 1", "confidence": 0.04}]
    assert content["reasons"] == [dict(dataclasses.asdict(TRAIL.reasons[0]), span=[9, 16])]
    assert content["decisions"] == [dataclasses.asdict(TRAIL.decisions[0])]
    assert content["roles"] == [{"roles": ["WHERE"], "span": [9, 16], "text": "<women>"}]


def test_json_holds_no_number_that_json_does_not_have() -> None:
    odd = dataclasses.replace(
        ANSWER,
        confidence=float("nan"),
        threshold=float("inf"),
        values=(Literal(float("-inf"), "number"), Literal(10**30, "number")),
        timings={"encode": float("nan")},
    )
    content = read(odd.to_json(indent=2))
    assert (content["confidence"], content["threshold"], content["timings"]) == (None, None, {"encode": None})
    assert [value["value"] for value in content["values"]] == [None, 10**30]
    assert content == odd.to_dict()


@pytest.mark.parametrize("text", ["肌酐最高是多少？", "half \ud83d a pair", '"\n\u2028\x00</script>'])
def test_any_text_goes_to_json_and_back(text: str) -> None:
    result = dataclasses.replace(REFUSAL, question=text, best=text, reason=text)
    assert read(result.to_json())["question"] == text
    assert "\n" not in result.to_json()
    assert "肌酐" not in text or "肌酐" in result.to_json()


@pytest.mark.parametrize("question", [*QUESTIONS, "?!"])
def test_what_a_parse_gives_goes_to_json_and_back(toy: Parser, question: str) -> None:
    result = toy.parse(question, SCHEMA)
    content = read(result.to_json(explain=True))
    assert content == result.to_dict(explain=True)
    assert (content["sql"], content["confidence"]) == (result.sql, result.confidence)
    assert len(content["alternatives"]) == len(result.alternatives)
    assert list(content["timings"]) == list(result.timings)
