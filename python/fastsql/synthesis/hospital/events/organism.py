"""Which organism was found in the nth test of a specimen; or, with `whether`, was there any?"""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import at_nth, conditions_of, where
from fastsql.synthesis.hospital.drawing import scope_of
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.phrases import nth_word
from fastsql.synthesis.hospital.scope import Event, Nth, Scope
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class Organism:
    specimen: str
    scope: Scope
    nth: Nth
    whether: bool = False

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Organism:
        scope = scope_of("specimen", rng, values)
        return cls(values.name("specimen"), scope, Nth(rng.random() < 0.5), rng.random() < 0.5)

    def sql(self) -> str:
        """The organism of the nth test of a specimen in which one was found."""
        kind = KINDS["specimen"]
        specimen, patient, time = conditions_of(Event("specimen", self.specimen), self.scope)
        conditions = (patient, specimen, "microbiologyevents.org_name IS NOT NULL", time)
        clauses = where(*conditions, at_nth(kind.when, kind.table, conditions, self.nth))
        chosen = "COUNT(*)>0" if self.whether else "DISTINCT microbiologyevents.org_name"
        return f"SELECT {chosen} FROM {kind.table}{clauses}"

    def words(self, rng: random.Random) -> str:
        whether = """
            Has there been any organism <found> in <test>{when}?
            Has any organism been <found> in <test>{when}?
            Was [an|any] organism <found> in <test>{when}?
            """
        which = """
            What was the [name of the|] organism <found> in <test>{when}?
            [What|Which] organism was <found> in <test>{when}?
            Tell me the [name of the|] organism that was <found> in <test>{when}.
            """
        text = choose(
            whether if self.whether else which,
            rng,
            found="found|detected|observed",
            test="the {n} {x} <sort> test of {p}|{p}'s {n} {x} <sort> test",
            sort="microbiology|microbiological|",
        )
        return put(text, p=f"patient {self.scope.patient}", x=self.specimen, n=nth_word(self.nth))
