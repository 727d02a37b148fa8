"""Two calibrated numbers a parse: p, that the SQL is right, and u, that the question has no answer in this schema.

u is a logistic regression over all evidence. p is (1 - u) q, with q the probability that the SQL is right if there is an
answer at all, a regression over the beam's figures and what the query has that the question does not say. So p + u never
exceeds 1, each is fitted on the questions that tell something about it, and a bundle carries the weights of both.

The same evidence means other things on a schema that the model was trained on and on one that it never saw. A bundle has
judges for either (`judges.py`); over a schema known in part they lie in between (`Elsewhere`). Over schemas never seen, and
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
    Evidence,
    beam_figures,
    lead,
    rating_lead,
    removed,
    unused_words,
)
from fastsql.reliability.familiarity import Familiarity
from fastsql.reliability.judges import Assessment, Doubted, Elsewhere, Judge, judge_of_turns, read_weight
from fastsql.reliability.names import SchemaNames, names_of
from fastsql.reliability.regression import Probe, Regression, malformed

if TYPE_CHECKING:
    from fastsql.decode import Search
    from fastsql.linking.prepare import Prepared
    from fastsql.linking.relations import SchemaLinks
    from fastsql.reliability.correspondence import Correspondence
    from fastsql.result import Link

SETTING = "reliability"
LEFT_OUT_WEIGHT = 2.0
"""Nats that a hypothesis is marked down by for each thing that its question names and that it leaves out: between 1 and 3
hardly another answer is right over everyday questions, Spider's held-out databases and six designs (docs/reliability.md)."""
_RAW = Judge(Regression(0.0, {"sequence": 1.0}))
"""The probability of the sequence as it is: nobody knows how often such a query is right."""
_SURE = math.log(0.95)
"""Log-probability from which a hypothesis is left alone: what it leaves out then is what is never said."""
_EARLIER = "confidence"
_EARLIER_FEATURES = ("sequence", "worst", "margin", "decisions", "strangeness")
_NAMING = [RELATIONS.index(f"token-{item}-{how}") for item in ("table", "column") for how in ("part", "name")]


@dataclass(frozen=True)
class Asked:
    """What a question is before it is decoded: its text as asked, its linking, its state float[d] in the graph."""

    question: str
    prepared: Prepared
    links: SchemaLinks
    state: NDArray[np.floating[Any]]


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
        left_out = read_weight(found.get("left_out", 0.0), SETTING, " of what is left out")
        return cls(
            Judge.from_settings(found, SETTING, FEATURES),
            None if inspected is None else Judge.from_settings(inspected, f"{SETTING}.inspected", INSPECTED),
            familiarity,
            None if probe is None else Probe.from_settings(probe, f"{SETTING}.probe", d),
            None if told is None else _correspondence(told),
            None if elsewhere is None else Elsewhere.from_settings(elsewhere, f"{SETTING}.elsewhere"),
            None if doubted is None else Doubted.from_settings(doubted, f"{SETTING}.doubted"),
            judge_of_turns(found, SETTING),
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
