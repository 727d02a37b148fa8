"""The most frequent drugs (diagnoses, tests ...); after an event if there is a `first`."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.cohort import RELATIONS, cohort, joined, patients
from fastsql.synthesis.hospital.conditions import conditions_of, names_of, where
from fastsql.synthesis.hospital.drawing import event_of, relation_of, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.phrases import relation_phrase
from fastsql.synthesis.hospital.scope import Event, Relation, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, number_word, put

_FIRST = ("diagnosis", "diagnosis", "diagnosis", "procedure", "procedure", "drug", "lab")
_RANKED = ("drug", "diagnosis", "procedure", "lab", "specimen", "culture")


@dataclass(frozen=True)
class Ranking:
    kind: str
    top: int
    scope: Scope
    first: Event | None = None
    relation: Relation | None = None

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Ranking:
        kind = rng.choice(_RANKED)
        top = values.rng.choice((2, 3, 3, 4, 4, 5, 5, 10))
        draw = rng.random()
        if draw < 0.2:
            kind = rng.choice((*_RANKED, "input", "output", "careunit"))
            return cls(kind, top, cohort(rng, values))
        if draw < 0.4:
            return cls(kind, top, cohort(rng, values, ages=1.0))
        if draw < 0.55:
            return cls(kind, top, scope_of(kind, rng, values))
        first = event_of(rng.choice(_FIRST), values)
        kind = rng.choice(("drug", *_RANKED))
        scope = cohort(rng, values, ages=0.5 if kind == "drug" else 0.15)
        return cls(kind, top, scope, first, relation_of(RELATIONS, rng, values))

    def sql(self) -> str:
        """The names with the highest dense rank by count."""
        kind = KINDS[self.kind]
        dense = "DENSE_RANK() OVER ( ORDER BY COUNT(*) DESC ) AS C1"
        if self.first is None or self.relation is None:
            clauses = where(*conditions_of(Event(self.kind), self.scope))
            ranked = f"SELECT {kind.what}, {dense} FROM {kind.table}{clauses} GROUP BY {kind.what}"
            return names_of(kind, f"SELECT T1.{kind.key} FROM ( {ranked} ) AS T1 WHERE T1.C1 <= {self.top}")
        both = joined(self.first, Event(self.kind), self.relation, self.scope, f", {kind.what}")
        ranked = f"SELECT T2.{kind.key}, {dense} FROM {both} GROUP BY T2.{kind.key}"
        return names_of(kind, f"SELECT T3.{kind.key} FROM ( {ranked} ) AS T3 WHERE T3.C1 <= {self.top}")

    def words(self, rng: random.Random) -> str:
        frame, scope = FRAMES[self.kind], self.scope
        often = "[frequent|common] <many>"
        if frame.asked:
            often += f"|[frequently|commonly] [{frame.asked}] <many>"
        fragments = {
            "give": "What [were|are]|Tell me|Show me|List|Give me|Can you tell me|Retrieve|Get me|Which are",
            "most": f"[top {{t}} most|{{t}} most|top {{t}} most] [{often}]",
            "many": frame.many,
        }
        if self.first is not None and self.relation is not None:
            text = choose(
                """
                <give> the <most> [that|] {w} <past> {s} after <after>{when}?
                <give> the <most> [of|for] {w} {s} after <after>{when}?
                Among {w} who <were>, what [are|were] the <most> that followed {s}{when}?
                [For|Of] {w} who <were>, what [are|were] the <most> {s} [afterward|after that]{when}?
                <give> the <most> for {w} who <were> previously {s}{when}?
                """,
                rng,
                past=FRAMES[self.kind].past.replace("was ", "were "),
                after=FRAMES[self.first.kind].after,
                were=FRAMES[self.first.kind].were,
                **fragments,
            )
            soon = relation_phrase(self.relation, rng)
            return put(
                text, w=patients(scope, rng), s=soon, t=number_word(self.top, rng), x=self.first.item or ""
            )
        whole = """
            <give> the <most>{when}?
            What [are|were] the <most>{when}?
            """
        part = """
            <give> the <most> [of|for] {w}{when}?
            <give>{when} the <most> [of|for] {w}?
            For {w}{when}, what [are|were] the <most>?
            """
        if scope.patient is not None:
            part, who = part.replace("<give>{when}", "<give>"), f"patient {scope.patient}"
        else:
            who = patients(scope, rng)
        everybody = scope.patient is None and scope.ages is None
        text = choose(whole if everybody else part, rng, **fragments)
        return put(text, w=who, t=number_word(self.top, rng))
