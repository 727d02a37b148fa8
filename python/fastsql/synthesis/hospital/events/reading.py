"""The number of the nth event."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.drawing import NTHS, scope_of
from fastsql.synthesis.hospital.measures import measure, measured, reading_sql
from fastsql.synthesis.hospital.phrases import nth_word
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put

_DOSE = """
    <what> the {n} [dose|amount|dosage] of {x} [that|] {p} was prescribed{when}?
    <what> the {x} dose that was prescribed to {p} for the {n} time{when}?
    How much {x} was prescribed to {p} for the {n} time{when}?
    What was the {n} prescribed dose of {x} for {p}{when}?
    """

_AMOUNT = """
    <what> the [amount|volume] of the {n} {x} <flow> [of|for] {p}{when}?
    How much was {p}'s {n} {x} <flow>{when}?
    <what> the {n} [amount|volume] of {x} <flow> {p} had{when}?
    """

_WEIGHT = """
    <what> the {n} [measured|recorded|] weight of {p}{when}?
    How much did {p} weigh [at|in|during] the {n} [measurement|check]{when}?
    <what> {p}'s {n} weight [measurement|]{when}?
    What was {p}'s weight when measured for the {n} time{when}?
    """

_VALUE = """
    <what> the {n} <noun> of {p}'s {x}{when}?
    <what> the {n} {x} <noun> [of|for] {p}{when}?
    <what> the {n} [measured|] {x} of {p}{when}?
    <what> {p}'s {n} {x} <noun>{when}?
    What was the {x} [<noun>|] of {p} when measured for the {n} time{when}?
    """


@dataclass(frozen=True)
class Reading:
    event: Event
    scope: Scope
    nth: Nth

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Reading:
        event = measure(rng, values, ("lab", "lab", "vital", "vital", "drug", "weight", "input", "output"))
        return cls(event, scope_of(event.kind, rng, values), rng.choice(NTHS))

    def sql(self) -> str:
        """The number of the nth event."""
        return reading_sql(self.event, self.scope, self.nth)

    def words(self, rng: random.Random) -> str:
        kind = self.event.kind
        if self.event.item == "daily weight":
            text = choose(_WEIGHT, rng)
        elif kind == "drug":
            text = choose(_DOSE, rng)
        elif kind in ("input", "output"):
            text = choose(_AMOUNT, rng, flow="input|intake" if kind == "input" else "output")
        else:
            more = "|level|lab test result" if kind == "lab" else "|measurement"
            text = choose(_VALUE, rng, noun=f"value|reading|result{more}")
        return put(text, p=f"patient {self.scope.patient}", x=measured(self.event, rng), n=nth_word(self.nth))
