"""What is known of a parse before anyone looks at its answer: the beam's figures, and what the question's words say."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.linking.relations import split_words

if TYPE_CHECKING:
    from fastsql.decode import Search
    from fastsql.linking.candidate import Candidate

Span = tuple[int, int]
"""Characters of the question, [start, end)."""

_WIDEST_MARGIN = 10.0
_WIDEST_ODDS = 10.0
_MOST_REMOVED = 6.0
_WIDEST_LEAD = 10.0


@dataclass(frozen=True)
class Evidence:
    """The features of one finished hypothesis.

    Log-odds, not log P: whether the model is sure to 99 % or to 99.9 % matters to who must be right ten times in eleven,
    and log P hardly tells the two apart.
    """

    sequence: float = 0.0
    """Log-odds of the sequence."""
    worst: float = 0.0
    """Log-odds of its least certain decision."""
    margin: float = 0.0
    """Log P ahead of any rival, finished or not; at most 10."""
    decisions: float = 0.0
    """Square root of the number of decisions."""
    entropy: float = 0.0
    """Of the beam's finished hypotheses, normalised, in nats."""
    removed: float = 0.0
    """What the search passed over on its way, as it does not exist or makes no sense: minus the sum, over the decisions, of
    the log-probability of all that it might decide; at most 6."""
    strangeness: float = 0.0
    """How strange the strangest unexplained word is (`Familiarity`)."""
    coverage: float = 0.0
    """Share of the question's words that the query explains."""
    named: float = 0.0
    """Share of the question's tokens that are part of a name of the schema."""
    unmet: float = 0.0
    """How surely an unexplained word that is in no name of the schema would name something of it (`Familiarity.unmet`)."""
    unmet_at_home: float = 0.0
    """The same, of words that no question over the schemas trained on holds (`Familiarity.unmet_at_home`)."""
    unexplained: float = 0.0
    """Share of the question's words that few training questions hold and that the query does not explain."""
    left_out: float = 0.0
    """Things that the question names and the query does not (`Familiarity.left_out`)."""
    unused: float = 0.0
    """Words of the longest value that the question says and the query neither uses nor names (`unused_words`)."""
    unsaid: float = 0.0
    """Columns of the query, but for keys, of whose names the question has no word."""
    contradicted: float = 0.0
    """1 where a query of it asks a row of a reference table for what no row has together, as the dictionary knows; 0 where
    the answer was looked at and is not void."""
    state: float = 0.0
    """Log-odds of being unanswerable by the question's state (`Probe`)."""
    correspondence: float = 0.0
    """Log-odds of being unanswerable by words and length alone (`Correspondence`)."""
    void: float = 0.0
    """1 where the query's answer is empty, or nothing but NULL and 0; else, or if nobody looked, 0."""
    hollow: float = 0.0
    """1 where moreover a subquery that stands by itself returns no row; else, or if nobody looked, 0."""
    likelihood: float = 0.0
    """Log P(question | program) by a reverse model, a piece of the question: the mean of what each is likely to follow
    those before it; 0 where none was asked."""
    lead: float = 0.0
    """Log P(question | program) ahead of any rival's, within +-10; 0 where none was asked."""
    rating: float = 0.0
    """Log-odds, by a reranker, that the query is what the question asks for; 0 where none was asked."""
    rating_lead: float = 0.0
    """The same ahead of any rival's, within +-10; 0 where none was asked."""
    known: float = 1.0
    """Share of the schema's columns that the schemas have which calibration met in training (`Elsewhere`). No feature: it
    says which regressions are to be trusted."""


BEAM = ("sequence", "worst", "margin", "decisions", "entropy")
WORDS = (
    "strangeness",
    "coverage",
    "named",
    "unmet",
    "unmet_at_home",
    "unexplained",
    "left_out",
    "unused",
    "unsaid",
)
LOOKED = ("void", "hollow")
REVERSED = ("likelihood", "lead")
RERANKED = ("rating", "rating_lead")
SECONDED = (*REVERSED, *RERANKED)
FEATURES = (*BEAM, "removed", *WORDS, "contradicted", "state", "correspondence")
INSPECTED = (*FEATURES, *LOOKED)


@dataclass(frozen=True)
class BeamFigures:
    """The part of the evidence that the search gives."""

    sequence: float
    worst: float
    margin: float
    decisions: float
    entropy: float


def beam_figures(search: Search, chosen: int, allies: Sequence[int] = ()) -> BeamFigures:
    """The figures of finished hypothesis `chosen`.

    `allies` are further hypotheses that give the same answer: their probability counts as its own, and they are no rivals.
    """
    best = search.finished[chosen]
    own = {chosen, *allies}
    score = _log_sum([search.finished[i].score for i in own])
    rivals = [h.score for i, h in enumerate(search.finished) if i not in own]
    # A search that ends early knows its best hypothesis, but not what the unfinished ones would have become: that they
    # score no higher than they do now bounds the margin from below.
    margin = min(score - max([*rivals, search.unfinished]), _WIDEST_MARGIN)
    shares = [score, *rivals]
    total = _log_sum(shares)
    entropy = -sum(math.exp(s - total) * (s - total) for s in shares)
    return BeamFigures(
        _log_odds(score), _log_odds(best.worst), margin, math.sqrt(len(best.actions)), max(entropy, 0.0)
    )


def lead(search: Search, chosen: int, allies: Sequence[int] = ()) -> float:
    """How much likelier a reverse model finds the question where this program is meant than where any rival's is.

    `allies` as for `beam_figures`: the likeliest of them counts. 10 where no rival was asked about, 0 where this one was
    not.
    """
    return _ahead([one.likelihood for one in search.finished], chosen, allies)


def rating_lead(search: Search, chosen: int, allies: Sequence[int] = ()) -> float:
    """How much higher a reranker rates this program than any rival; `allies`, and where nobody was asked, as for `lead`."""
    return _ahead([one.rating for one in search.finished], chosen, allies)


def _ahead(said: Sequence[float], chosen: int, allies: Sequence[int]) -> float:
    """By how much what is said of hypotheses is more for one than for any rival, within +-10.

    0 stands for a hypothesis that nobody was asked about.
    """
    if not said[chosen]:
        return 0.0
    own = {chosen, *allies}
    best = max(number for place, number in enumerate(said) if number and place in own)
    rivals = [number for place, number in enumerate(said) if number and place not in own]
    return min(max(best - max(rivals, default=-math.inf), -_WIDEST_LEAD), _WIDEST_LEAD)


def removed(search: Search, chosen: int) -> float:
    """The log-probability that the search passed over for a finished hypothesis, at least 0 and at most 6."""
    return min(max(-sum(search.finished[chosen].kept), 0.0), _MOST_REMOVED)


def unused_words(question: str, candidates: Iterable[Candidate], explained: Sequence[Span]) -> int:
    """The words of the longest value that stands in the question and touches nothing that is `explained`; 0 without any.

    "How many unpaid invoices are there?", answered for all invoices: 'unpaid' is a value of the database, and no literal,
    table or column of the query is read from it. Values are those of a dictionary or of the schema that the question says
    as they are. Long ones count for more: one word may be a value by chance, as "blood" is one of specimens.
    """
    spans = {one.span for one in candidates if one.columns and not one.distance}
    return max(
        (len(split_words(question[slice(*span)])) for span in spans if not _meets(span, explained)), default=0
    )


def _meets(span: Span, others: Iterable[Span]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in others)


def _log_sum(scores: Sequence[float]) -> float:
    top = max(scores)
    return top + math.log(sum(math.exp(score - top) for score in scores))


def _log_odds(log_probability: float) -> float:
    """Logarithm of P / (1 - P), within +-10: float32 scores say no more."""
    against = -math.expm1(min(log_probability, 0.0))
    odds = log_probability - math.log(against) if against > 0 else _WIDEST_ODDS
    return min(max(odds, -_WIDEST_ODDS), _WIDEST_ODDS)
