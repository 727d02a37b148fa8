"""The fourth stage: how likely a written hypothesis is to be right, and what of the question it rests on."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.errors import DialectError
from fastsql.explanation.links import find_links
from fastsql.limits import Limits
from fastsql.parser.write import Written, runnable
from fastsql.reliability.assess import Asked, Reliability
from fastsql.reliability.evidence import Evidence
from fastsql.reliability.judges import Assessment, combined
from fastsql.result import Alternative, Link

if TYPE_CHECKING:
    from fastsql.explanation.trail import Trail
    from fastsql.refusal.contradictions import Contradiction
    from fastsql.refusal.lookups import LookUp


@dataclass(frozen=True, eq=False)
class Assessed:
    """A written hypothesis with its two probabilities.

    Attributes:
        written: the hypothesis.
        reliability: by which it was assessed.
        links: what of the question stands in the query.
        standing: by the numbers of turns, of its own part and of each turn that it stands on, those before the question's
            history together (`GONE`): p, that this part is right if those that it uses are, and u, that its question has
            no answer in this schema.
        refusal: a reason not to give it, whatever the probabilities; "" if there is none.
        note: what did not work on the way, a sentence; None where all did.
        absent: literals of it that no row of the database holds, as far as an inspector asked.
        contradictions: what it asks of reference tables in vain, as far as no answer says otherwise.
        confirmed: whether whoever asks has said that this is meant.
    """

    written: Written
    reliability: Reliability
    links: tuple[Link, ...]
    standing: Mapping[int, Assessment]
    refusal: str = ""
    note: str | None = None
    absent: tuple[LookUp, ...] = ()
    contradictions: tuple[Contradiction, ...] = ()
    confirmed: bool = False

    @property
    def confidence(self) -> float:
        """p, that all of it is right."""
        return combined(self.standing).confidence

    @property
    def unanswerable(self) -> float:
        """u, that it answers what has no answer in this schema."""
        return combined(self.standing).unanswerable

    def alternatives(self) -> tuple[Alternative, ...]:
        """The other hypotheses as SQL, each text once."""
        seen = {self.written.sql}
        found = []
        for number in self.written.others:
            try:
                other = self.written.other(number)
            except DialectError:
                continue  # what the dialect cannot say is no alternative
            if other.sql not in seen:
                seen.add(other.sql)
                found.append(Alternative(other.sql, assess(other, self.reliability).confidence))
        return tuple(found)

    def trail(self) -> Trail:
        """The reasons and decisions that led to the query."""
        from fastsql.explanation.retrace import retrace  # for those who ask

        linked, decoded = self.written.linked, self.written.decoded
        hypothesis = decoded.search.finished[self.written.number]
        remembered = self.written.remembered
        pair = remembered.number if remembered is not None and remembered.supplied else None
        return retrace(
            hypothesis, self.written.program, linked.space, linked.prepared, linked.schema.links, pair
        )


def assess(written: Written, reliability: Reliability) -> Assessed:
    """The probabilities of a hypothesis whose answer nobody has looked at."""
    evidence, links, contradictions = evidence_of(written, reliability)
    found = reliability.assess(evidence, refers=bool(written.uses))
    if not contradictions:
        found = backed(found, written)
    return Assessed(written, reliability, links, standing(written, found), contradictions=contradictions)


def assess_consistent(first: Written, reliability: Reliability, limits: Limits) -> Assessed:
    """The hypothesis to be given, `first` being the likeliest before its contradictions count.

    Only where it has one are the others looked at: nothing else tells hypotheses apart better than the search does.
    """
    assessed = assess(first, reliability)
    if first.fault or not assessed.contradictions:
        return assessed
    others = [assess(other, reliability) for n in first.others if (other := runnable(first, n, limits))]
    free = [other for other in others if not other.contradictions]
    return max((assessed, *free), key=lambda one: one.confidence)


def backed(found: Assessment, written: Written) -> Assessment:
    """The probabilities of a hypothesis, raised where a remembered pair speaks for it.

    The same question but for literals that exist has an answer in this schema; a question that is like one may have none.
    """
    remembered = written.remembered
    if remembered is None or remembered.confidence <= found.confidence:
        return found
    if remembered.same:
        return Assessment(remembered.confidence, min(found.unanswerable, 1 - remembered.confidence))
    raised = (1 - found.unanswerable) * remembered.confidence
    return Assessment(max(found.confidence, raised), found.unanswerable)


GONE = 0
"""The number that stands for all turns before those which a question is given."""


def standing(written: Written, own: Assessment) -> dict[int, Assessment]:
    """The probabilities that a hypothesis stands on: its own, and those of all turns that it uses, each once.

    Turns before those that the question is given have one together, under `GONE`: a conversation may go on for ever. Where
    several of the turns that it uses have such a one, the least counts, since they mostly mean the same turns.
    """
    found: dict[int, Assessment] = {}
    for turn in written.uses:
        gone = [one for one in (found.get(GONE), turn.standing.get(GONE)) if one is not None]
        found |= turn.standing
        if gone:
            found[GONE] = min(gone, key=lambda one: one.confidence)
    first = min((turn.number for turn in written.linked.turns or ()), default=GONE)
    before = {number: one for number, one in found.items() if number < first}
    if before:
        found = {GONE: combined(before), **{number: one for number, one in found.items() if number >= first}}
    return {**found, written.linked.number: own}


def evidence_of(
    written: Written, reliability: Reliability
) -> tuple[Evidence, tuple[Link, ...], tuple[Contradiction, ...]]:
    """What speaks for and against a hypothesis, and the links and contradictions that this rests on."""
    linked, decoded = written.linked, written.decoded
    links = find_links(written.own, linked.prepared, linked.schema.links)
    found: tuple[Contradiction, ...] = ()
    if linked.dictionary is not None:
        from fastsql.refusal.contradictions import contradictions  # for those who give values

        found = tuple(contradictions(written.program, written.schema, linked.dictionary))
    asked = Asked(linked.question, linked.prepared, linked.schema.links, decoded.state)
    evidence = reliability.evidence(
        asked, decoded.search, written.number, written.own, links, contradicted=bool(found)
    )
    return evidence, links, found
