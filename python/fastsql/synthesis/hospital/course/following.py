"""What of kind `then` came after an event; with `nth`, when; with `whether`, was there any (of `then.item`)?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import conditions_of, follows, names_of, nth_order, where
from fastsql.synthesis.hospital.drawing import event_of, relation_of, scope_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.phrases import nth_word, relation_phrase
from fastsql.synthesis.hospital.scope import Event, Nth, Relation, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

_RELATIONS = (
    Relation("visit"),
    Relation("day"),
    Relation("month"),
    Relation("day", 2),
    Relation("month", 2),
)


@dataclass(frozen=True)
class Following:
    first: Event
    then: Event
    relation: Relation
    scope: Scope
    nth: Nth | None = None
    whether: bool = False

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Following:
        first = event_of(
            rng.choice(("diagnosis", "procedure", "procedure", "drug", "lab", "specimen")), values
        )
        draw = rng.random()
        scope = scope_of("drug", rng, values, current=False)
        relation = relation_of(_RELATIONS, rng, values)
        if draw < 0.5:
            kind = rng.choice(("drug", "drug", "diagnosis", "procedure", "lab", "specimen", "culture"))
            return cls(first, Event(kind), relation, scope)
        if draw < 0.65:
            kind = rng.choice(("drug", "diagnosis", "procedure", "lab", "specimen"))
            return cls(first, Event(kind), relation, scope, whether=True)
        then = event_of(rng.choice(("drug", "diagnosis", "procedure", "lab", "specimen")), values)
        if draw < 0.85:
            return cls(first, then, relation, scope, whether=True)
        return cls(first, then, relation, scope, nth=Nth(rng.random() < 0.5))

    def sql(self) -> str:
        """What came after an event of the same patient: names, a time, or whether anything did."""
        then = KINDS[self.then.kind]
        first = KINDS[self.first.kind]
        visit = ", {table}.hadm_id" if self.relation.unit == "visit" else ""
        name = f", {then.what}" if self.nth is None and not self.whether else ""
        one = f"SELECT {first.column('subject_id')}, {first.when}{visit.format(table=first.table)} FROM {first.table}"
        two = f"SELECT {then.column('subject_id')}{name}, {then.when}{visit.format(table=then.table)} FROM {then.table}"
        joined = (
            f"FROM ( {one}{where(*conditions_of(self.first, self.scope))} ) AS T1 "
            f"JOIN ( {two}{where(*conditions_of(self.then, self.scope))} ) AS T2 "
            f"ON T1.subject_id = T2.subject_id WHERE {follows(self.relation, first.time, then.time)}"
        )
        if self.whether:
            return f"SELECT COUNT(*)>0 {joined}"
        if self.nth is not None:
            return f"SELECT T2.{then.time} {joined}{nth_order(f'T2.{then.time}', self.nth)}"
        return names_of(then, f"SELECT T2.{then.key} {joined}")

    def words(self, rng: random.Random) -> str:
        """What came after an event, when, or did anything? ``{y}`` is the first event's item."""
        then, item = FRAMES[self.then.kind], self.then.item
        whether = """
            Has {p} <been> {s} after <after>{when}?
            Did {p} <base> {s} after <after>{when}?
            """
        time = """
            When did {p} <base> for the {n} time {s} after <after>{when}?
            When was the {n} time [that|] {p} <did> {s} after <after>{when}?
            """
        which = """
            [What was|Tell me|What is] [the name of|] the <one> [that|] {p} <past> {s} after <after>{when}?
            [What were|Tell me|Can you tell me|List] the <many> [that|] {p} <past> {s} after <after>{when}?
            """
        text = choose(
            whether if self.whether else which if self.nth is None else time,
            rng,
            been=then.been if item is not None else then.any_been,
            base=then.base if item is not None else then.any_base,
            did=then.did,
            one=then.one,
            many=then.many,
            past=FRAMES[self.then.kind].past,
            # "they" would be the patient.
            after=FRAMES[self.first.kind]
            .after.replace("{x}", "{y}")
            .replace("they were", "being")
            .replace("|they [", "|having ["),
        ).replace("having underwent", "having undergone")
        nth = "" if self.nth is None else nth_word(self.nth)
        soon = relation_phrase(self.relation, rng)
        return put(
            text, p=f"patient {self.scope.patient}", s=soon, n=nth, x=item or "", y=self.first.item or ""
        )
