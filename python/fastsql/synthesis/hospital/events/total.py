"""A function (MAX, MIN, AVG, SUM) of the numbers of events; `per` day, month or year if not empty."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import GRAIN, conditions_of, where
from fastsql.synthesis.hospital.drawing import LONG_WINDOWS, OPEN_WINDOWS, scope_of
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.measures import FUNCTIONS, measure, measured
from fastsql.synthesis.hospital.phrases import PER
from fastsql.synthesis.hospital.scope import Event, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, expand, put


@dataclass(frozen=True)
class Total:
    event: Event
    scope: Scope
    function: str
    per: str = ""

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Total:
        event = measure(rng, values, ("lab", "vital", "weight", "input", "output", "input", "output", "drug"))
        if event.kind in ("input", "output") and rng.random() < 0.3:
            event = Event(event.kind)
        additive = event.kind in ("input", "output", "drug")
        if event.kind == "drug" or (additive and event.item is None):
            function = "SUM"
        else:
            function = rng.choice(("SUM", "SUM", "MAX", "MIN", "AVG") if additive else ("MAX", "MIN", "AVG"))
        per = rng.choice(("day", "month", "year")) if rng.random() < 0.35 and event.item is not None else ""
        if function != "SUM" and additive and not per:
            per = rng.choice(("day", "month", "year"))
        if event.kind == "drug":
            per = ""
        scope = scope_of(event.kind, rng, values)
        if per and scope.window is not None:
            # A filter that lies within one period of the grouping would make the grouping pointless.
            scope = Scope(
                scope.patient,
                window=values.window(rng.choice(LONG_WINDOWS if per != "year" else OPEN_WINDOWS)),
            )
        return cls(event, scope, function, per)

    def sql(self) -> str:
        """A function of the numbers, per period where one is asked for."""
        kind = KINDS[self.event.kind]
        clauses = where(*conditions_of(self.event, self.scope))
        group = f" GROUP BY strftime('{GRAIN[self.per]}',{kind.when})" if self.per else ""
        return f"SELECT {self.function}({kind.column(kind.number)}) FROM {kind.table}{clauses}{group}"

    def words(self, rng: random.Random) -> str:
        told, named = _nouns(self.event.kind, self.event.item)
        text = choose(
            """
            <what> the {f} <told>{when}?
            <what> {p}'s {f} <named>{when}?
            <what> the {f} <named> [of|for] {p}{when}?
            <calculate> {p}'s {f} <named>{when}.
            """,
            rng,
            told=told,
            named=named,
        )
        thing = "" if self.event.item is None else measured(self.event, rng)
        function = expand(FUNCTIONS[self.function], rng)
        if self.per:
            function = f"{PER[self.per]} {function}"
        return put(text, p=f"patient {self.scope.patient}", x=thing, f=function)


def _nouns(kind: str, item: str | None) -> tuple[str, str]:
    """What is summed up: with a verb that tells its kind, and so that the noun tells it."""
    if kind == "drug":
        told = "[[dose|dosage|amount] of {x}|{x} dose] [that|] {p} [was|has been] prescribed"
        return told, "[dose|dosage] of prescribed {x}|prescribed {x} dose"
    if kind == "input" and item is not None:
        named = "{x} [input|intake]|[amount|volume] of {x} input"
        return f"[{named}|[dose|amount|volume] of {{x}}] [that|] {{p}} [received|was given]", named
    if kind == "input":
        return (
            "[input|[amount|volume] of input] [that|] {p} [received|was given]",
            "input|intake|[amount|volume] of input",
        )
    if kind == "output":
        named = (
            "output|[amount|volume] of output" if item is None else "{x} output|[amount|volume] of {x} output"
        )
    elif item == "daily weight":
        named = "weight|value of weight"
    else:
        named = "{x}|{x} value|value of {x}" + ("|{x} level" if kind == "lab" else "|{x} reading")
    return f"[{named}] [that|] {{p}} had", named
