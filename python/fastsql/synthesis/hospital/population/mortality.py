"""The diagnoses, procedures or drugs after which most (or fewest) patients die within so many months."""

from __future__ import annotations

import random
from dataclasses import dataclass

from fastsql.synthesis.hospital.conditions import names_of
from fastsql.synthesis.hospital.frames import FRAMES
from fastsql.synthesis.hospital.kinds import KINDS
from fastsql.synthesis.hospital.values import Values
from fastsql.synthesis.phrases import choose, number_word, put


@dataclass(frozen=True)
class Mortality:
    kind: str
    top: int
    months: int
    fewest: bool = False

    @classmethod
    def draw(cls, rng: random.Random, values: Values) -> Mortality:
        kind = rng.choice(("diagnosis", "diagnosis", "procedure", "drug"))
        return cls(kind, values.rng.choice((2, 3, 4, 5)), rng.choice((3, 6)), fewest=rng.random() < 0.3)

    def sql(self) -> str:
        """The names by the share of patients who lived on for so many months after their first such event.

        A patient who died in time counts 0, any other 1, so the lowest average stands for the highest mortality.
        """
        kind = KINDS[self.kind]
        share = {3: "1 * 365/4", 6: "1 * 365/2"}[self.months]
        first = (
            f"SELECT admissions.subject_id, {kind.what}, {kind.when} FROM {kind.table} "
            f"JOIN admissions ON {kind.column('hadm_id')} = admissions.hadm_id "
            f"WHERE strftime('%J',current_time) - strftime('%J',{kind.when}) >= {share} "
            f"GROUP BY admissions.subject_id, {kind.what} HAVING MIN({kind.when}) = {kind.when}"
        )
        survived = (
            f"SELECT T1.{kind.key}, ( CASE WHEN strftime('%J',patients.dod) - strftime('%J',T1.{kind.time}) "
            f"< {share} THEN 0 ELSE 1 END ) AS C1 FROM ( {first} ) AS T1 "
            "JOIN patients ON T1.subject_id = patients.subject_id"
        )
        averaged = f"SELECT T2.{kind.key}, AVG(T2.C1) AS C2 FROM ( {survived} ) AS T2 GROUP BY T2.{kind.key}"
        order = "DESC" if self.fewest else "ASC"
        ranked = f"SELECT T3.{kind.key}, DENSE_RANK() OVER ( ORDER BY T3.C2 {order} ) AS C3 FROM ( {averaged} ) AS T3"
        return names_of(kind, f"SELECT T4.{kind.key} FROM ( {ranked} ) AS T4 WHERE T4.C3 <= {self.top}")

    def words(self, rng: random.Random) -> str:
        text = choose(
            """
            [What are|Tell me|Show me|Give me|Can you tell me|List|Retrieve] the top {t} <many> [with|that have] the <rate>?
            [What are|Which are] the {t} <many> [with|that have] the <rate>?
            """,
            rng,
            many=FRAMES[self.kind].many,
            rate="highest {k}-month survival rate|lowest {k}-month mortality rate"
            if self.fewest
            else "highest {k}-month mortality rate",
        )
        return put(text, t=number_word(self.top, rng), k=str(self.months))
