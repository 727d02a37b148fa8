"""What every synthetic pair must pass: the SQL fits the grammar and returns something; its literals can be found."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping
from types import MappingProxyType

from fastsql.augment.kinds import BODY_MEASURES, CHARGED, KINDS, VITAL_SIGNS
from fastsql.augment.meaning import Meaning
from fastsql.augment.sql import write_sql
from fastsql.augment.values import Values
from fastsql.augment.ward import Ward
from fastsql.datasets import with_normal_ranges
from fastsql.demo.tables import HOSPITAL_DDL
from fastsql.errors import ExecutionError
from fastsql.evaluation.skeleton import skeleton
from fastsql.execution.rows import Cell
from fastsql.grammar import ConversionError, render, sql_to_program
from fastsql.linking import find_candidates, gold_literals, literal_recall
from fastsql.schema import Schema

ATTEMPTS = 45
"""How many patients of the ward a query is tried with, until it returns something."""

Draw = Callable[[Values], Meaning]
"""Draws the same structure again, with other values."""

_STANDING: Mapping[tuple[str, str], tuple[str, ...]] = MappingProxyType(
    {
        ("d_items", "label"): (*VITAL_SIGNS, *BODY_MEASURES),
        ("d_items", "linksto"): ("chartevents", "inputevents", "outputevents"),
        ("cost", "event_type"): tuple(sorted(KINDS[kind].table for kind in CHARGED)),
        ("admissions", "admission_location"): ("emergency room",),
    }
)
"""Values that questions mean without writing them: people say "weight" for `daily weight`."""


def hospital_schema() -> Schema:
    """The tables of the demo hospital, which are MIMIC-IV's, with bounds of normal and the values that stand with it."""
    schema = with_normal_ranges(Schema.from_ddl(HOSPITAL_DDL))
    return schema.with_values({key: list(values) for key, values in _STANDING.items()})


class Checker:
    """Checks pairs; what depends on a query's skeleton alone is checked once a skeleton."""

    def __init__(self, ward: Ward) -> None:
        self.schema = hospital_schema()
        self._ward = ward
        self._skeletons: dict[str, str | None] = {}

    def canonical_skeleton(self, sql: str) -> str | None:
        """The skeleton of a query's canonical rendering; None where the grammar cannot express it."""
        try:
            return skeleton(render(sql_to_program(sql, self.schema), self.schema))
        except ConversionError:
            return None

    def accept_query(self, sql: str, draw: Draw, seed: str) -> str | None:
        """The canonical skeleton of a query that passes; None for one that does not.

        It must convert to a program, and for some patient of the ward its kind must return something, the same as what
        the program renders to. `seed` makes the patients reproducible.
        """
        key = skeleton(sql)
        if key not in self._skeletons:
            canonical = self.canonical_skeleton(sql)
            passes = canonical is not None and self._returns_something(draw, seed)
            self._skeletons[key] = canonical if passes else None
        return self._skeletons[key]

    def _returns_something(self, draw: Draw, seed: str) -> bool:
        for attempt in range(ATTEMPTS):
            sql = write_sql(draw(self._ward.values(random.Random(f"{seed}/{attempt}"))))
            try:
                rows = self._ward.run(sql, attempt)
                if not says_something(sql, rows):
                    continue
                rendered = render(sql_to_program(sql, self.schema), self.schema)
                return sorted(map(repr, self._ward.run(rendered, attempt))) == sorted(map(repr, rows))
            except (ExecutionError, ConversionError):
                return False
        return False

    def accept_literals(self, question: str, sql: str) -> bool:
        """Whether all that the query compares with can be found: in the question, or standing with the schema."""
        candidates = find_candidates(question, self.schema)
        literals = gold_literals(sql, self.schema)
        return not literal_recall(literals, question, candidates, self.schema).missing


def says_something(sql: str, rows: list[tuple[Cell, ...]]) -> bool:
    """Whether a result is more than empty, null, or a count of nothing."""
    cells = [cell for row in rows for cell in row if cell is not None]
    return any(cells) if sql.startswith("SELECT COUNT") else bool(cells)
