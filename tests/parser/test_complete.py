"""Hypotheses that leave out what a question names come behind those that say it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fastsql.decode import Hypothesis
from fastsql.engine import Decoded
from fastsql.errors import ModelError
from fastsql.grammar import sql_to_program
from fastsql.grammar.program import Literal
from fastsql.limits import DEFAULT
from fastsql.parser import Parser
from fastsql.parser.complete import WIDER, _made_up, complete
from fastsql.parser.link import Linked, link
from fastsql.reliability.assess import Reliability
from fastsql.reliability.familiarity import Familiarity, TrainingQuestion
from fastsql.reliability.judges import Judge
from fastsql.reliability.regression import Regression
from fastsql.schema import Schema

from ..worlds.toy_bundle import AS_THE_SEQUENCE, load_toy, write_bundle
from ..worlds.toy_model import SCHEMA

QUESTION = "how many patients of gender f were admitted after 2100?"
KNOWN = Familiarity.from_questions(
    TrainingQuestion(text, frozenset({"patient", "gender", "admitted"}))
    for text in (
        "how many patients are there?",
        "gender of patients admitted",
        "how many were admitted after",
    )
)


WEIGHED = Reliability(familiarity=KNOWN)


@pytest.fixture(scope="module")
def parser(tmp_path_factory: pytest.TempPathFactory) -> Parser:
    return load_toy(write_bundle(tmp_path_factory.mktemp("complete") / "toy"), device="python")


@pytest.fixture(scope="module")
def linked(parser: Parser) -> Linked:
    state = parser.engine.encode_schema(SCHEMA)
    return link(QUESTION, QUESTION, state, None, parser.engine, DEFAULT)


def completed(parser: Parser, linked: Linked, decoded: Decoded) -> tuple[Hypothesis, ...]:
    return complete(linked, decoded, parser.engine, 4, WEIGHED).search.finished


def decode(parser: Parser, linked: Linked, beam: int = 4, patience: float = 0.0) -> Decoded:
    return parser.engine.decode(linked.prepared, linked.schema, linked.space, beam, patience)


def test_the_first_has_the_highest_rank_and_no_rival_could_have_a_higher_one(
    parser: Parser, linked: Linked
) -> None:
    found = completed(parser, linked, decode(parser, linked))
    first, *others = found
    assert first.marked_down > 0, "no query of the toy says everything"
    assert first.rank == first.score - first.marked_down
    assert all(one.rank <= first.rank for one in others)
    assert len(found) <= 4


def test_another_query_comes_first_where_the_likeliest_leaves_more_out(tmp_path: Path) -> None:
    changed = 0
    for seed in range(12):
        toy = load_toy(write_bundle(tmp_path / str(seed), seed=seed), device="python")
        asked = link(QUESTION, QUESTION, toy.engine.encode_schema(SCHEMA), None, toy.engine, DEFAULT)
        decoded = decode(toy, asked)
        first = completed(toy, asked, decoded)[0]
        changed += first.path != decoded.search.finished[0].path
    assert changed


def test_all_that_is_compared_next_is_marked_down(tmp_path: Path) -> None:
    slightly = replace(WEIGHED, left_out=0.01)  # so that the second could not come first, whatever it says
    lower = 0
    for seed in range(6):
        toy = load_toy(write_bundle(tmp_path / str(seed), seed=seed), device="python")
        asked = link(QUESTION, QUESTION, toy.engine.encode_schema(SCHEMA), None, toy.engine, DEFAULT)
        decoded = decode(toy, asked)
        alone, every = (
            complete(asked, decoded, toy.engine, 4, slightly, within=within).search.finished
            for within in (0.0, 1_000.0)
        )
        assert alone[0] == every[0], "the first stays the first"
        ranks = {one.path: one.rank for one in alone}
        lower += sum(one.rank < ranks[one.path] for one in every)
    assert lower, "some of the others leave something out, too"


@pytest.mark.parametrize("nothing", [Reliability(familiarity=KNOWN, left_out=0.0), Reliability()])
def test_nothing_is_compared_where_nothing_is_known_or_weighed_or_one_is_sure(
    parser: Parser, linked: Linked, nothing: Reliability
) -> None:
    search = decode(parser, linked).search
    assert WEIGHED.doubts(search)
    assert not nothing.doubts(search)
    first = replace(search.finished[0], log_probabilities=(-0.01,))
    assert not WEIGHED.doubts(replace(search, finished=(first,)))


class Counting:
    """An engine that notes how it is asked again."""

    def __init__(self, parser: Parser) -> None:
        self.engine = parser.engine
        self.asked: list[tuple[int, float]] = []

    def decode(self, prepared: Any, schema: Any, space: Any, beam: int, patience: float = 0.0) -> Decoded:
        self.asked.append((beam, patience))
        return self.engine.decode(prepared, schema, space, beam, patience)


@pytest.mark.parametrize("unfinished", [-math.inf, 0.0])
def test_a_search_is_made_again_only_where_what_was_given_up_might_come_first(
    parser: Parser, linked: Linked, unfinished: float
) -> None:
    engine: Any = Counting(parser)
    decoded = decode(parser, linked)
    decoded = replace(decoded, search=replace(decoded.search, unfinished=unfinished))
    complete(linked, decoded, engine, 4, WEIGHED)
    if unfinished == -math.inf:
        assert engine.asked == []
    else:
        ((beam, patience),) = engine.asked
        assert beam == WIDER
        assert 1 <= patience == int(patience) <= 4, "whole nats, so that questions share a batch of the GPU"


@pytest.mark.parametrize(("log_odds", "searches"), [(-3.0, 1), (3.0, 0)])
def test_no_other_query_is_searched_for_where_there_is_probably_none(
    parser: Parser, linked: Linked, log_odds: float, searches: int
) -> None:
    engine: Any = Counting(parser)
    decoded = decode(parser, linked)
    decoded = replace(decoded, search=replace(decoded.search, unfinished=0.0))
    judge = Judge(Regression(0.0, {"sequence": 1.0}), Regression(log_odds, {}))
    found = complete(linked, decoded, engine, 4, replace(WEIGHED, judge=judge))
    assert len(engine.asked) == searches
    assert found.search.finished[0].marked_down > 0, "what there is is compared all the same"


def parsed(folder: Path, settings: dict[str, Any], questions: Sequence[str]) -> list[str | None]:
    reliability = {**AS_THE_SEQUENCE, **settings}
    toy = load_toy(write_bundle(folder, reliability=reliability, familiarity=KNOWN.to_settings()))
    results = [toy.parse(question, SCHEMA, penalty=0) for question in questions]
    assert all(("complete" in result.timings) == bool(settings.get("left_out")) for result in results)
    return [result.best for result in results]


def test_a_bundle_says_what_it_weighs_and_those_from_before_weigh_nothing(tmp_path: Path) -> None:
    questions = (QUESTION, "count 3 admissions with type urgent since 2101 or 2102")
    before = parsed(tmp_path / "before", {}, questions)
    assert parsed(tmp_path / "nothing", {"left_out": 0.0}, questions) == before
    assert parsed(tmp_path / "much", {"left_out": 8.0}, questions) != before


@pytest.mark.parametrize("wrong", [-1.0, "2", True, math.inf, math.nan])
def test_a_weight_that_is_none_is_refused(tmp_path: Path, wrong: object) -> None:
    folder = write_bundle(tmp_path / "toy", reliability={**AS_THE_SEQUENCE, "left_out": wrong})
    with pytest.raises(ModelError, match="left out"):
        load_toy(folder)


@pytest.mark.parametrize(
    ("question", "value", "span", "found"),
    [
        ("没有药物过敏的病人", "磺胺", None, 1.5),
        ("磺胺过敏的病人", "磺胺", None, 0.0),
        ("去世的病人", "死亡", (0, 2), 0.0),  # which is called so
        ("没有药物过敏的病人", "penicillin", None, 0.0),
    ],
)
def test_a_value_without_a_letter_of_a_chinese_question_is_made_up(
    question: str, value: str, span: tuple[int, int] | None, found: float
) -> None:
    schema = Schema.from_ddl("CREATE TABLE 病人 (过敏 TEXT)")
    program = sql_to_program(f"SELECT COUNT(*) FROM 病人 WHERE 过敏 = '{value}'", schema)
    said = tuple(replace(item, span=span) if isinstance(item, Literal) else item for item in program)
    assert _made_up(said, question) == found
