"""How a drug is taken."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import quote
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, put


@dataclass(frozen=True)
class IntakeRoute:
    drug: str

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> IntakeRoute:
        return cls(values.name("drug"))

    def sql(self) -> str:
        """The routes that a drug has been prescribed by."""
        return f"SELECT DISTINCT prescriptions.route FROM prescriptions WHERE prescriptions.drug = {quote(self.drug)}"

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            What is the [intake method|method of intake|route of administration|ingestion method] of {x}?
            How is {x} [taken|administered|consumed]?
            [Tell me|What are] the routes of administration [of|for] {x}?
            By [what|which] route is {x} [given|administered]?
            """,
            rng,
        )
        return put(text, x=self.drug)
