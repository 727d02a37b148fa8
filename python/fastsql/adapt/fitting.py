"""The two probabilities of an adapted bundle, and whether it is better than its base, by what neither was trained on.

The base's regressions of schemas never seen were fitted on people's questions over many databases. They are kept, and given
a shift and a slope (Platt, 1999) that the held-out pairs of this database ask for. Pairs that were made say less of people's
questions than seeds do, so that together they count as a few seeds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from fastsql.adapt.material import AdaptError
from fastsql.errors import ExecutionError
from fastsql.evaluation.answers import answer_rows
from fastsql.evaluation.calibration import calibration_error
from fastsql.execution import Executor
from fastsql.execution.executor import check_alive
from fastsql.grammar import render, sql_to_program
from fastsql.grammar.program import Program
from fastsql.linking.question import clean_question
from fastsql.model.bundle import Bundle
from fastsql.parser import Parser
from fastsql.parser.assess import evidence_of
from fastsql.parser.link import link
from fastsql.parser.merge import merged
from fastsql.parser.parser import DEFAULT_BEAM
from fastsql.parser.write import sensible_first, verified, write
from fastsql.reliability.assess import Reliability
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.judges import Elsewhere, Judge
from fastsql.schema import Schema
from fastsql.synthesis.generate import Report
from fastsql.training.calibration.fit import recalibrated
from fastsql.training.calibration.table import features_of

MADE_COUNT = 10.0
"""As how many seeds all held-out pairs that were made count, and all made questions without an answer, where p is fitted."""
ANSWERABLE_SHARE = 0.8
"""Share of the questions in use that have an answer, as EHRSQL 2024 states it."""
ENOUGH_SEEDS = 10
"""Seeds with an answer that were kept apart, from which on they alone may say which of two bundles is better."""


@dataclass(frozen=True)
class Case:
    """A question that nothing was trained on; `program` is None where it is to be refused, `by_hand` tells a seed."""

    question: str
    program: Program | None
    by_hand: bool = False


@dataclass(frozen=True)
class Outcome:
    """What became of a case: the evidence of its likeliest query, and whether that is right."""

    case: Case
    evidence: Evidence
    right: bool


def observe(
    bundle: Bundle,
    schema: Schema,
    values: Any,
    cases: Sequence[Case],
    executor: Executor,
    report: Report,
    *,
    second: bool = False,
) -> tuple[Outcome, ...]:
    """What becomes of the cases; such as nothing valid is written for are left out.

    With `second`, hypotheses are weighed by a second opinion where the bundle asks for one, as in use. A query is right if
    it is gold's, or gives the same rows. Raises ExecutionError where the database is gone.
    """
    parser = _Observed(bundle, penalty=0, suggest=False)
    if not second:
        parser._second = None
    answers = _Answers(executor, schema)
    found: list[Outcome] = []
    for number, case in enumerate(cases, 1):
        read = parser.look(case.question, schema, values)
        if read is not None:
            evidence, program = read
            found.append(Outcome(case, evidence, answers.agree(case.program, program)))
        if number % 200 == 0 or number == len(cases):
            report(f"{number} of {len(cases)} questions parsed by {bundle.config.name}")
    return tuple(found)


class _Observed(Parser):
    """A parser that lets one see what its probabilities are told from."""

    def look(self, question: str, schema: Schema, values: Any) -> tuple[Evidence, Program] | None:
        state, dictionary = self._sources.ready(schema, values)
        text = clean_question(question, self.limits)
        linked = link(question, text, state, dictionary, self.engine, self.limits)
        decoded = self.engine.decode(linked.prepared, linked.schema, linked.space, DEFAULT_BEAM)
        if not decoded.search.finished:
            return None
        if decoded.search.is_divided:
            decoded = merged(linked, decoded)
        weights = self._second_weights(linked, doubted=self.reliability.doubts(decoded.search))
        if weights is not None:
            decoded = self._weighed(linked, decoded, weights, confirmed=False)
        written = verified(write(linked, sensible_first(linked, decoded)), self.limits)
        if written.fault:
            return None
        return evidence_of(written, self.reliability)[0], written.program


class _Answers:
    """The rows of queries, each run once."""

    def __init__(self, executor: Executor, schema: Schema) -> None:
        self._executor = executor
        self._schema = schema
        self._known: dict[Program, object] = {}

    def agree(self, gold: Program | None, found: Program) -> bool:
        if gold is None or gold == found:
            return gold is not None
        own, other = self._rows(gold), self._rows(found)
        return own is not None and own == other

    def _rows(self, program: Program) -> object:
        """The comparable form of a query's rows; None where it fails."""
        if program not in self._known:
            try:
                sql = render(program, self._schema, dialect=self._executor.dialect)
                self._known[program] = answer_rows(self._executor.run(sql).rows)
            except ExecutionError:
                check_alive(self._executor)
                self._known[program] = None
        return self._known[program]


def cases_of(pairs: Sequence[Any], schema: Schema, *, by_hand: bool = False) -> list[Case]:
    """Pairs with `question` and `sql` as cases."""
    return [
        Case(one.question, None if one.sql is None else sql_to_program(one.sql, schema), by_hand)
        for one in pairs
    ]


# ---------------------------------------------------------------- probabilities


def refitted(base: Reliability, outcomes: Sequence[Outcome]) -> Reliability:
    """The base's probabilities with those of schemas never seen as the outcomes ask for; they are of every schema then.

    Raises AdaptError where the base knows none of such schemas.
    """
    if base.elsewhere is None:
        raise AdaptError(
            "the base knows no probabilities of schemas that it was not trained on",
            where="calibration",
            remedy="Start from a bundled model.",
        )
    judge, inspected = base.elsewhere.judge, base.elsewhere.inspected
    return replace(
        base,
        elsewhere=Elsewhere(
            _refitted(judge, outcomes),
            None if inspected is None else _refitted(inspected, outcomes),
            frozenset(),
        ),
    )


def _refitted(judge: Judge, outcomes: Sequence[Outcome]) -> Judge:
    features = np.array([features_of(one.evidence) for one in outcomes], dtype=np.float64)
    right = np.array([one.right for one in outcomes])
    by_hand = np.array([one.case.by_hand for one in outcomes])
    unanswerable = np.array([one.case.program is None for one in outcomes])
    asked = ~unanswerable
    if not asked.any():
        return judge
    mass = np.where(by_hand, 1.0, 0.0)
    for made in (asked & ~by_hand, unanswerable & ~by_hand):
        mass[made] = min(1.0, MADE_COUNT / max(made.sum(), 1))
    q = recalibrated(judge.right, features[asked], right[asked], mass[asked])
    if judge.unanswerable is None or not unanswerable.any():
        return replace(judge, right=q)
    share = np.where(
        asked, ANSWERABLE_SHARE / mass[asked].sum(), (1 - ANSWERABLE_SHARE) / mass[unanswerable].sum()
    )
    u = recalibrated(judge.unanswerable, features, unanswerable, share * mass * mass.sum())
    return replace(judge, right=q, unanswerable=u)


# ---------------------------------------------------------------- figures


def figures(reliability: Reliability, outcomes: Sequence[Outcome], penalty: float) -> dict[str, Any]:
    """How many of the cases there are, are right, and are given at a penalty; of seeds and of made pairs apart."""
    found: dict[str, Any] = {}
    parts: dict[str, Callable[[Outcome], bool]] = {
        "seeds": lambda one: one.case.by_hand and one.case.program is not None,
        "made": lambda one: not one.case.by_hand and one.case.program is not None,
        "unanswerable": lambda one: one.case.program is None,
    }
    for name, is_part in parts.items():
        chosen = [one for one in outcomes if is_part(one)]
        p = np.array([reliability.assess(one.evidence).confidence for one in chosen])
        right = np.array([one.right for one in chosen], dtype=bool)
        given = p >= penalty / (1 + penalty)
        found[name] = {
            "count": len(chosen),
            "right": int(right.sum()),
            "given": int(given.sum()),
            "given_right": int((given & right).sum()),
        }
        if chosen and name != "unanswerable":
            found[name]["ece"] = round(float(calibration_error(p, right)), 3)
    return found


def is_better(base: Sequence[Outcome], adapted: Sequence[Outcome]) -> bool:
    """Whether the adapted bundle is right at least as often as its base on what was held out.

    Seeds alone say so where there are enough of them and the difference is more than chance: more than a standard deviation
    of the questions on which only one is right (McNemar, 1947). Otherwise seeds and made pairs say so together.
    """
    rights = [{one.case: one.right for one in side} for side in (base, adapted)]
    seeds = {one.case for one in (*base, *adapted) if one.case.by_hand and one.case.program is not None}
    lost, won = (
        sum(one.get(case, False) and not other.get(case, False) for case in seeds)
        for one, other in (rights, reversed(rights))
    )
    if len(seeds) >= ENOUGH_SEEDS and (won - lost) ** 2 > won + lost:
        return won > lost
    before, after = (sum(one.values()) for one in rights)
    return after >= before
