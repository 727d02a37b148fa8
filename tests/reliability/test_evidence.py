"""The evidence of a parse: the beam's figures, what bounds them, and what the words say of the query."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest

from fastsql.decode import Hypothesis, Search
from fastsql.grammar import sql_to_program
from fastsql.linking.prepare import Prepared
from fastsql.linking.relations import SchemaLinks
from fastsql.reliability import Evidence, Judge, Reliability
from fastsql.reliability.assess import Asked
from fastsql.reliability.evidence import BeamFigures, beam_figures, lead, rating_lead, removed
from fastsql.reliability.familiarity import Familiarity, TrainingQuestion
from fastsql.reliability.judges import Elsewhere
from fastsql.reliability.regression import Regression

from ..worlds.shop import shop_schema


def hypothesis(*gains: float) -> Hypothesis:
    return Hypothesis(tuple(range(len(gains))), gains)


BEST, NEXT = hypothesis(-0.1, -0.2, -0.1, -0.1), hypothesis(-1.0, -0.5)


def odds(log_probability: float) -> float:
    p = math.exp(log_probability)
    return math.log(p / (1 - p))


def figures(*finished: Hypothesis, unfinished: float = -math.inf, chosen: int = 0) -> BeamFigures:
    return beam_figures(Search(finished, unfinished), chosen)


def test_figures_are_what_they_are_called() -> None:
    found = figures(BEST, NEXT)
    assert found.sequence == pytest.approx(odds(-0.5))
    assert found.worst == pytest.approx(odds(-0.2))
    assert found.margin == pytest.approx(1.0)
    assert found.decisions == 2
    p = 1 / (1 + math.exp(-1.0))
    assert found.entropy == pytest.approx(-p * math.log(p) - (1 - p) * math.log(1 - p))


def test_the_lead_is_over_whoever_gives_another_answer() -> None:
    told = [replace(BEST, likelihood=said) for said in (-9.0, -7.0, -8.5)]
    search = Search(tuple(told), -math.inf)
    assert lead(search, 0) == pytest.approx(-2.0)
    assert lead(search, 1) == pytest.approx(1.5)
    assert lead(search, 0, allies=[0, 1]) == pytest.approx(1.5)
    assert lead(search, 0, allies=[0, 1, 2]) == 10
    assert lead(Search((replace(BEST, likelihood=-90.0), told[0]), -math.inf), 0) == -10


def test_a_rating_leads_as_a_likelihood_does_but_may_be_of_either_sign() -> None:
    told = [replace(BEST, rating=said) for said in (-1.5, 0.5, 0.0)]
    search = Search(tuple(told), -math.inf)
    assert [rating_lead(search, number) for number in range(3)] == pytest.approx([-2.0, 2.0, 0.0])
    assert rating_lead(search, 0, allies=[1]) == 10
    assert lead(search, 0) == 0, "nobody was asked how likely the question is"


def test_where_no_reverse_model_was_asked_there_is_no_lead() -> None:
    assert lead(Search((BEST, NEXT), -math.inf), 0) == 0
    assert lead(Search((BEST,), -math.inf), 0) == 0


def test_a_worse_hypothesis_has_a_negative_margin() -> None:
    assert figures(BEST, NEXT, chosen=1).margin == pytest.approx(-1.0)


def test_an_unfinished_hypothesis_is_a_rival() -> None:
    assert figures(BEST, NEXT, unfinished=-0.7).margin == pytest.approx(0.2)
    assert figures(BEST, unfinished=-0.7).margin == pytest.approx(0.2)


def test_without_rivals_the_margin_is_as_wide_as_it_may_be_and_nothing_is_open() -> None:
    assert (figures(BEST).margin, figures(BEST).entropy) == (10, 0)
    assert figures(BEST, unfinished=-500.0).margin == 10


def test_a_query_without_decisions_is_certain() -> None:
    found = figures(hypothesis())
    assert (found.sequence, found.worst, found.decisions) == (10, 10, 0)


def test_evidence_tells_near_certainty_from_nearer_certainty() -> None:
    nine, more = (figures(hypothesis(math.log(p))) for p in (0.99, 0.999))
    assert more.sequence - nine.sequence == pytest.approx(math.log(999 / 99))


@pytest.mark.parametrize("gain", [1e-9, 0.0, -1e-12, -1e4])
def test_log_odds_are_bounded(gain: float) -> None:
    assert abs(figures(hypothesis(gain)).sequence) <= 10


def test_hypotheses_of_one_answer_count_together_and_are_no_rivals() -> None:
    other = hypothesis(-3.0)
    search = Search((BEST, NEXT, other), -math.inf)
    alone, together = beam_figures(search, 0), beam_figures(search, 0, (1,))
    whole = math.exp(-0.5) + math.exp(-1.5)
    assert together.sequence == pytest.approx(odds(math.log(whole)))
    assert together.margin == pytest.approx(math.log(whole) + 3.0)
    assert together.entropy < alone.entropy
    assert together.worst == alone.worst


def test_what_a_search_passes_over_adds_up_and_is_bounded() -> None:
    some = replace(BEST, kept=(0.0, math.log(0.5), 0.0, math.log(0.1)))
    search = Search((some, replace(NEXT, kept=(-90.0, 0.0)), hypothesis(-3.0)), -math.inf)
    assert [removed(search, number) for number in range(3)] == [pytest.approx(math.log(20)), 6.0, 0.0]
    rounded = Search((replace(BEST, kept=(1e-7, 0.0, 0.0, 0.0)),), -math.inf)
    assert removed(rounded, 0) == 0.0, "float32 may round a probability above 1"


# ---------------------------------------------------------------- what the words say of the query


SCHEMA = shop_schema()
NO_TOKENS = np.zeros(0, np.int32)
NOT_LINKED = Prepared("", 0, NO_TOKENS, NO_TOKENS.reshape(0, 2), (), np.zeros((0, 0), np.uint8))
FAMILIAR = Familiarity.from_questions(
    [TrainingQuestion(f"what is the weight of {name}", frozenset({"weight"})) for name in ("it", "her")]
)


def told(question: str, sql: str, reliability: Reliability | None = None) -> Evidence:
    asked = Asked(question, NOT_LINKED, SchemaLinks(SCHEMA), np.zeros(2, np.float32))
    found = reliability or Reliability(familiarity=FAMILIAR)
    return found.evidence(asked, Search((BEST,), -math.inf), 0, sql_to_program(sql, SCHEMA), ())


@pytest.mark.parametrize(
    ("question", "unsaid"),
    [
        ("Where are customers at home?", 1),
        ("Which town has customers of what age?", 0),
        ("Where do they live?", 2),
        ("顾客在哪里？", 2),
    ],
)
def test_columns_that_no_word_names_are_not_said(question: str, unsaid: int) -> None:
    sql = "SELECT customer.customer_id, customer.home_town, customer.age FROM customer"
    assert told(question, sql).unsaid == unsaid, "a key needs no word"


def test_evidence_has_what_the_search_passed_over() -> None:
    passed = replace(BEST, kept=(math.log(0.25), 0.0, 0.0, 0.0))
    asked = Asked("how old?", NOT_LINKED, SchemaLinks(SCHEMA), np.zeros(2, np.float32))
    program = sql_to_program("SELECT customer.age FROM customer", SCHEMA)
    found = Reliability().evidence(asked, Search((passed,), -math.inf), 0, program, ())
    assert found.removed == pytest.approx(math.log(4))


def test_what_the_schema_lacks_is_not_met() -> None:
    sql = "SELECT customer.age FROM customer"
    assert told("what is the weight of it", sql).unmet == pytest.approx(FAMILIAR.names("weight"))
    assert told("what is the age of it", sql).unmet < FAMILIAR.names("weight")


def test_a_schema_trained_on_has_words_of_its_own() -> None:
    sql = "SELECT customer.age FROM customer"
    assert told("what is the weight of it", sql).unmet_at_home == 0.0
    homely = Reliability(familiarity=replace(FAMILIAR, home=frozenset({"what", "is", "the", "of", "it"})))
    found = told("what is the weight of it", sql, homely)
    assert found.unmet_at_home == pytest.approx(FAMILIAR.names("weight"))
    assert told("what is it", sql, homely).unmet_at_home == 0.0


def test_a_schema_is_known_by_its_columns_where_others_are_judged_apart() -> None:
    sql = "SELECT customer.age FROM customer"
    judge = Judge(Regression(0.0, {"sequence": 1.0}))
    apart = Reliability(elsewhere=Elsewhere(judge, None, frozenset({"customer.age", "ward.beds"})))
    assert told("how old?", sql, apart).known == pytest.approx(1 / 3)
    assert told("how old?", sql).known == 1.0
