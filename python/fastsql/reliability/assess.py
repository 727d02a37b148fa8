"""Two calibrated numbers a parse: p, that the SQL is right, and u, that the question has no answer in this schema.

u is a logistic regression over all evidence. p is (1 - u) q, with q the probability that the SQL is right if there is an
answer at all, a regression over the beam's figures and what the query has that the question does not say. So p + u never
exceeds 1, each is fitted on the questions that tell something about it, and a bundle carries the weights of both.

The same evidence means other things on a schema that the model was trained on and on one that it never saw. A bundle has
regressions for either; between a schema known in part they lie in between (`Elsewhere`). Over schemas never seen, and
about questions in doubt over others, a reverse model and a reranker may be asked as well; there are judges of the former
(`Second`) and of the latter (`Doubted`) that are told what they say.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from fastsql.grammar.program import ColumnRef, Program
from fastsql.linking.relations import RELATIONS, split_words
from fastsql.reliability.evidence import (
    BEAM,
    FEATURES,
    INSPECTED,
    SECONDED,
    Evidence,
    beam_figures,
    lead,
    rating_lead,
    removed,
    unused_words,
)
from fastsql.reliability.familiarity import Familiarity
from fastsql.reliability.names import SchemaNames, names_of
from fastsql.reliability.regression import Probe, Regression, malformed, sigmoid

if TYPE_CHECKING:
    from fastsql.decode import Search
    from fastsql.linking.prepare import Prepared
    from fastsql.linking.relations import SchemaLinks
    from fastsql.reliability.correspondence import Correspondence
    from fastsql.result import Link

SETTING = "reliability"
SECOND_WEIGHT = 0.25
"""What log P(question | program) counts beside log P(program | question) where a hypothesis is chosen: between what is best
over Spider's held-out databases (0.1 to 0.3) and over six designs held out (0.2 to 0.5; docs/reliability.md)."""
RATING_WEIGHT, BESIDE_RATING = 1.0, 0.15
"""What the log-odds by a reranker count there, and what log P(question | program) does beside them (docs/reliability.md)."""
LEFT_OUT_WEIGHT = 2.0
"""Nats that a hypothesis is marked down by for each thing that its question names and that it leaves out: between 1 and 3
hardly another answer is right over everyday questions, Spider's held-out databases and six designs (docs/reliability.md)."""
_SURE = math.log(0.95)
"""Log-probability from which a hypothesis is left alone: what it leaves out then is what is never said."""
_EARLIER = "confidence"
_EARLIER_FEATURES = ("sequence", "worst", "margin", "decisions", "strangeness")
_NAMING = [RELATIONS.index(f"token-{item}-{how}") for item in ("table", "column") for how in ("part", "name")]


@dataclass(frozen=True)
class Assessment:
    """p and u of a hypothesis."""

    confidence: float
    unanswerable: float = 0.0


def combined(standing: Mapping[int, Assessment]) -> Assessment:
    """The probabilities of a query all of whose parts must be right: p is their product, and u that one has no answer."""
    confidence, answerable = 1.0, 1.0
    for one in standing.values():
        confidence *= one.confidence
        answerable *= 1 - one.unanswerable
    return Assessment(confidence, 1 - answerable)


@dataclass(frozen=True)
class Asked:
    """What a question is before it is decoded: its text as asked, its linking, its state float[d] in the graph."""

    question: str
    prepared: Prepared
    links: SchemaLinks
    state: NDArray[np.floating[Any]]


@dataclass(frozen=True)
class Judge:
    """The regression of q and that of u; without the latter, every question is taken to have an answer."""

    right: Regression
    unanswerable: Regression | None = None

    def __call__(self, evidence: Evidence) -> Assessment:
        """Both numbers."""
        return self.blended(self, evidence, 1.0)

    def blended(self, other: Judge, evidence: Evidence, share: float) -> Assessment:
        """Both numbers from log-odds that are this judge's by `share` and the `other`'s by the rest."""
        q = share * self.right.log_odds(evidence) + (1 - share) * other.right.log_odds(evidence)
        if self.unanswerable is None or other.unanswerable is None:
            # Who does not know u takes every question to have an answer.
            sides = ((self.unanswerable, share), (other.unanswerable, 1 - share))
            u = sum(weight * known(evidence) for known, weight in sides if known is not None)
        else:
            own, others = self.unanswerable.log_odds(evidence), other.unanswerable.log_odds(evidence)
            u = sigmoid(share * own + (1 - share) * others)
        return Assessment((1 - u) * sigmoid(q), u)

    @classmethod
    def from_settings(cls, found: object, where: str, known: Sequence[str]) -> Judge:
        """Read {"right", "unanswerable"}, the latter where u was fitted. Raises ModelError."""
        if not isinstance(found, Mapping):
            raise malformed("it has no regressions", where)
        right = Regression.from_settings(found.get("right"), f"{where}.right", known)
        if "unanswerable" not in found:
            return cls(right)
        return cls(right, Regression.from_settings(found["unanswerable"], f"{where}.unanswerable", known))

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        parts = {"right": self.right, "unanswerable": self.unanswerable}
        return {name: part.to_settings() for name, part in parts.items() if part is not None}


_RAW = Judge(Regression(0.0, {"sequence": 1.0}))
"""The probability of the sequence as it is: nobody knows how often such a query is right."""


@dataclass(frozen=True)
class Weights:
    """What is said of a hypothesis counts so much beside log P(program | question) where one is chosen; None asks nobody.

    `likelihood`: of log P(question | program) by a reverse model. `rating`: of the log-odds by a reranker.
    """

    likelihood: float | None
    rating: float | None

    @property
    def of_turns(self) -> Weights | None:
        """What counts where a question may go on from earlier ones: a reverse model reads single questions alone."""
        return None if self.rating is None else Weights(None, self.rating)


@dataclass(frozen=True)
class SecondModels:
    """Who gives a second opinion, told by the SHA-256 of the weights: what another one says is worth something else.

    `reranker` is None in bundles of before there was one, which ask none.
    """

    reverse: str
    reranker: str | None


def weights_of(models: SecondModels) -> Weights:
    """What they count unless a bundle says otherwise."""
    return Weights(SECOND_WEIGHT, None) if models.reranker is None else Weights(BESIDE_RATING, RATING_WEIGHT)


@dataclass(frozen=True)
class Second:
    """A second opinion: what a reverse model and a reranker say of a hypothesis, and what that is worth.

    Attributes:
        models: who is asked.
        weights: how much either counts.
        judge: of queries as they are.
        inspected: of queries whose answers were looked at; None where none were.
        turns: of queries that refer to earlier turns, about which the reranker alone is asked; None where it is not.
    """

    models: SecondModels
    weights: Weights
    judge: Judge
    inspected: Judge | None
    turns: Judge | None = None

    @classmethod
    def from_settings(cls, found: object, where: str) -> Second:
        """Read {"reverse", "weight", "reranker", "rating_weight", "right", "unanswerable", "inspected", "turns"}.

        Raises ModelError.
        """
        judge = Judge.from_settings(found, where, (*FEATURES, *SECONDED))
        assert isinstance(found, Mapping)  # as a judge was read from it
        reverse, reranker, inspected = found.get("reverse"), found.get("reranker"), found.get("inspected")
        if not isinstance(reverse, str):
            raise malformed("it does not name a reverse model", where)
        if not isinstance(reranker, str | None):
            raise malformed("it does not name a reranker", where)
        rating = None if reranker is None else _weight(found.get("rating_weight"), where)
        weights = Weights(_weight(found.get("weight"), where), rating)
        names = (*INSPECTED, *SECONDED)
        looked = None if inspected is None else Judge.from_settings(inspected, f"{where}.inspected", names)
        turns = _judge_of_turns(found, where, (*FEATURES, *SECONDED))
        return cls(SecondModels(reverse, reranker), weights, judge, looked, turns)

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        parts = {"inspected": self.inspected, "turns": self.turns}
        found = self.judge.to_settings()
        found |= {name: part.to_settings() for name, part in parts.items() if part is not None}
        found |= {"reverse": self.models.reverse, "weight": self.weights.likelihood}
        if self.models.reranker is not None:
            found |= {"reranker": self.models.reranker, "rating_weight": self.weights.rating}
        return found


def _weight(found: object, where: str, of: str = "") -> float:
    if isinstance(found, bool) or not isinstance(found, int | float) or not 0 <= found < math.inf:
        raise malformed(f"its weight{of} is not a number of at least 0", where)
    return float(found)


@dataclass(frozen=True)
class Doubted:
    """The judges of queries over schemas trained on that were in doubt, so that a second opinion was asked for.

    Attributes:
        judge: of queries as they are.
        inspected: of queries whose answers were looked at; None where none were.
    """

    judge: Judge
    inspected: Judge | None

    @classmethod
    def from_settings(cls, found: object, where: str) -> Doubted:
        """Read {"right", "unanswerable", "inspected"}. Raises ModelError."""
        judge = Judge.from_settings(found, where, (*FEATURES, *SECONDED))
        assert isinstance(found, Mapping)  # as a judge was read from it
        inspected, names = found.get("inspected"), (*INSPECTED, *SECONDED)
        return cls(
            judge, None if inspected is None else Judge.from_settings(inspected, f"{where}.inspected", names)
        )

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        found = self.judge.to_settings()
        return found if self.inspected is None else found | {"inspected": self.inspected.to_settings()}


@dataclass(frozen=True)
class Elsewhere:
    """The judges of schemas that the model was not trained on; `known` are the columns of those whose judges are others.

    Attributes:
        judge: of queries as they are.
        inspected: of queries whose answers were looked at; None where none were.
        known: "table.column" in small letters.
        second: the judges of queries that a second opinion was asked for; None where none is.
        turns: of queries that refer to earlier turns; None where those of the schemas trained on judge these, too.
    """

    judge: Judge
    inspected: Judge | None
    known: frozenset[str]
    second: Second | None = None
    turns: Judge | None = None

    def judge_of_turns(self, evidence: Evidence) -> Judge | None:
        """The judge of a query that refers to earlier turns; None where those of the schemas trained on judge it, too."""
        rated = self.second is not None and evidence.rating and self.second.turns
        return rated or self.turns

    def judge_of(self, evidence: Evidence, *, inspected: bool) -> Judge:
        """The judge of a query of which this much is known."""
        side = self.second if self.second is not None and evidence.likelihood else self
        return side.inspected or side.judge if inspected else side.judge

    @classmethod
    def from_settings(cls, found: object, where: str) -> Elsewhere:
        """Read {"right", "unanswerable", "inspected", "known": [names], "second", "turns"}. Raises ModelError."""
        judge = Judge.from_settings(found, where, FEATURES)
        assert isinstance(found, Mapping)  # as a judge was read from it
        known, inspected, second = found.get("known"), found.get("inspected"), found.get("second")
        if not isinstance(known, list) or not all(isinstance(name, str) for name in known):
            raise malformed("it does not have a list of known columns", where)
        return cls(
            judge,
            None if inspected is None else Judge.from_settings(inspected, f"{where}.inspected", INSPECTED),
            frozenset(known),
            None if second is None else Second.from_settings(second, f"{where}.second"),
            _judge_of_turns(found, where),
        )

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        parts = {"inspected": self.inspected, "second": self.second, "turns": self.turns}
        return (
            self.judge.to_settings()
            | {name: part.to_settings() for name, part in parts.items() if part is not None}
            | {"known": sorted(self.known)}
        )


@dataclass(frozen=True)
class Reliability:
    """Everything that a bundle knows about when to answer. Immutable, so threads may share it."""

    judge: Judge = _RAW
    inspected: Judge | None = None
    """The judge of queries whose answers were looked at."""
    familiarity: Familiarity = field(default_factory=Familiarity)
    probe: Probe | None = None
    correspondence: Correspondence | None = None
    elsewhere: Elsewhere | None = None
    """The judges of schemas never seen; without it, the others judge every schema."""
    doubted: Doubted | None = None
    """The judges of queries in doubt that a second opinion was asked about; without it, they are judged as all others."""
    turns: Judge | None = None
    """The judge of queries that refer to earlier turns; without it, they are judged as those of single questions are."""
    left_out: float = LEFT_OUT_WEIGHT
    """Nats that a hypothesis is marked down by for each thing that the question names and its query leaves out."""

    @property
    def calibrated(self) -> bool:
        """Whether p was fitted at all."""
        return self.judge != _RAW

    @property
    def lacking(self) -> str:
        """What was not fitted and what follows from that, in a sentence or two; "" where nothing is missing."""
        if not self.calibrated:
            return (
                "this model was never calibrated. It refuses every question unless penalty=0 is asked for."
                " Run: fastsql calibrate BUNDLE --config CONFIG.toml"
            )
        if self.judge.unanswerable is None:
            return "this model was calibrated without unanswerable questions. It takes every question to have an answer."
        return ""

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any], d: int) -> Reliability:
        """From a bundle's settings; `d` is the width of its graph.

        "reliability" holds the regressions. Bundles from before have one regression as "confidence", which knows no u; with
        neither, the probability of the sequence is taken as it is. Raises ModelError for settings of another form.
        """
        familiarity = Familiarity.from_settings(settings)
        found = settings.get(SETTING)
        if found is None:
            if _EARLIER not in settings:
                return cls(familiarity=familiarity)
            only = Regression.from_settings(settings[_EARLIER], _EARLIER, _EARLIER_FEATURES)
            return cls(Judge(only), familiarity=familiarity)
        if not isinstance(found, Mapping):
            raise malformed("it has no regressions", SETTING)
        probe, told = found.get("probe"), found.get("correspondence")
        inspected, elsewhere, doubted = (found.get(name) for name in ("inspected", "elsewhere", "doubted"))
        # Bundles from before were calibrated without.
        left_out = _weight(found.get("left_out", 0.0), SETTING, " of what is left out")
        return cls(
            Judge.from_settings(found, SETTING, FEATURES),
            None if inspected is None else Judge.from_settings(inspected, f"{SETTING}.inspected", INSPECTED),
            familiarity,
            None if probe is None else Probe.from_settings(probe, f"{SETTING}.probe", d),
            None if told is None else _correspondence(told),
            None if elsewhere is None else Elsewhere.from_settings(elsewhere, f"{SETTING}.elsewhere"),
            None if doubted is None else Doubted.from_settings(doubted, f"{SETTING}.doubted"),
            _judge_of_turns(found, SETTING),
            left_out,
        )

    def to_settings(self) -> dict[str, Any]:
        """What "reliability" holds; the words of `familiarity` are a setting of their own."""
        parts = {
            "inspected": self.inspected,
            "probe": self.probe,
            "correspondence": self.correspondence,
            "elsewhere": self.elsewhere,
            "doubted": self.doubted,
            "turns": self.turns,
        }
        found = {name: part.to_settings() for name, part in parts.items() if part is not None}
        return self.judge.to_settings() | found | {"left_out": self.left_out}

    def doubts(self, search: Search) -> bool:
        """Whether hypotheses are compared by what they leave out: the best is in doubt, and what words name is known."""
        return self.left_out > 0 and bool(self.familiarity.named) and search.finished[0].score < _SURE

    def knows(self, links: SchemaLinks) -> bool:
        """Whether all columns of a schema are of schemas that were trained on."""
        return self.elsewhere is None or names_of(links).known(self.elsewhere.known) == 1

    def evidence(
        self,
        asked: Asked,
        search: Search,
        chosen: int,
        program: Program,
        links: Sequence[Link],
        *,
        contradicted: bool = False,
    ) -> Evidence:
        """The evidence of finished hypothesis `chosen`; `links` are what its `program` explains of the question as asked."""
        spans = [link.span for link in links]
        names = names_of(asked.links)
        return Evidence(
            **asdict(beam_figures(search, chosen)),
            removed=removed(search, chosen),
            strangeness=self.familiarity.strangeness(asked.question, spans),
            coverage=_coverage(asked.question, spans),
            named=_named(asked),
            unmet=self.familiarity.unmet(asked.question, spans, names.words),
            unmet_at_home=self.familiarity.unmet_at_home(asked.question, spans, names.words),
            unexplained=self.familiarity.unexplained(asked.question, spans),
            left_out=self.familiarity.left_out(asked.question, spans),
            unused=unused_words(asked.question, asked.prepared.candidates, spans),
            unsaid=_unsaid(asked, program, names),
            contradicted=float(contradicted),
            state=0.0 if self.probe is None else self.probe.log_odds(asked.state),
            correspondence=0.0
            if self.correspondence is None
            else self.correspondence.log_odds(asked.question, names.words),
            likelihood=search.finished[chosen].likelihood / (asked.prepared.question_tokens + 1),
            lead=lead(search, chosen),
            rating=search.finished[chosen].rating,
            rating_lead=rating_lead(search, chosen),
            known=1.0 if self.elsewhere is None else names.known(self.elsewhere.known),
        )

    def after_inspection(
        self,
        evidence: Evidence,
        search: Search,
        chosen: int,
        allies: Sequence[int],
        *,
        void: bool,
        hollow: bool = False,
    ) -> Evidence:
        """The evidence once answers are known: hypotheses with the same one count together."""
        figures = asdict(beam_figures(search, chosen, allies))
        looked = {name: figures[name] for name in BEAM}
        # A database knows better than a dictionary that may be older.
        contradicted = evidence.contradicted if void else 0.0
        return replace(
            evidence,
            **looked,
            lead=lead(search, chosen, allies),
            rating_lead=rating_lead(search, chosen, allies),
            void=float(void),
            hollow=float(hollow),
            contradicted=contradicted,
        )

    def assess(self, evidence: Evidence, *, inspected: bool = False, refers: bool = False) -> Assessment:
        """Both numbers of a hypothesis; `inspected` tells whether answers were looked at, `refers` whether it refers to
        earlier turns, which are taken to be right.
        """
        if refers and self.turns is not None:
            elsewhere = None if self.elsewhere is None else self.elsewhere.judge_of_turns(evidence)
            return self.turns.blended(elsewhere or self.turns, evidence, evidence.known)
        doubted = self.doubted if evidence.likelihood and evidence.known == 1 else None
        side = doubted or self
        judge = side.inspected or side.judge if inspected else side.judge
        if self.elsewhere is None:
            return judge(evidence)
        other = self.elsewhere.judge_of(evidence, inspected=inspected)
        return judge.blended(other, evidence, evidence.known)


def _judge_of_turns(found: Mapping[str, Any], where: str, names: Sequence[str] = FEATURES) -> Judge | None:
    return Judge.from_settings(found["turns"], f"{where}.turns", names) if "turns" in found else None


def _correspondence(found: object) -> Correspondence:
    from fastsql.reliability.correspondence import Correspondence  # of some bundles alone

    return Correspondence.from_settings(found, f"{SETTING}.correspondence")


def _coverage(question: str, spans: Iterable[tuple[int, int]]) -> float:
    taken = {place for start, end in spans for place in range(start, end)}
    starts = [start for _, start, _ in split_words(question)]
    return sum(start in taken for start in starts) / max(len(starts), 1)


def named_tokens(prepared: Prepared, links: SchemaLinks) -> NDArray[np.bool_]:
    """bool[Q]: the tokens of a question that are part of a name of the schema; none of what is read behind it is."""
    nodes = links.nodes.with_question(len(prepared.offsets), len(prepared.candidates), len(prepared.turns))
    to_schema = np.isin(prepared.relations[nodes.tokens, nodes.schema], _NAMING)
    named = np.asarray(to_schema.any(axis=1))
    named[prepared.question_tokens :] = False
    return named


def _named(asked: Asked) -> float:
    named = named_tokens(asked.prepared, asked.links)
    return float(named.sum()) / max(asked.prepared.question_tokens, 1)


def _unsaid(asked: Asked, program: Program, names: SchemaNames) -> float:
    schema = asked.links.schema
    keys = {index for key in schema.foreign_keys for index in (*key.columns, *key.references)}
    keys.update(index for table in schema.tables for index in table.primary_key)
    said = {word for word, _, _ in split_words(asked.question)}
    used = {item.column for item in program if isinstance(item, ColumnRef)} - keys
    return float(sum(not names.of_column[column] & said for column in used))
