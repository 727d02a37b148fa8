"""Comparing a predicted query with gold by their forms: exact match, and the clauses that differ."""

from __future__ import annotations

from dataclasses import dataclass

from fastsql.errors import LimitError, VerificationError
from fastsql.evaluation.canonical import CanonicalForm, Reading, form_of, read_query
from fastsql.evaluation.clauses import clauses_of, differences
from fastsql.evaluation.hardness import BEYOND, hardness
from fastsql.schema import Schema
from fastsql.verification.verify import parse_query


@dataclass(frozen=True)
class _Formed:
    reading: Reading
    form: CanonicalForm


@dataclass(frozen=True)
class Comparison:
    """Exact match without values and with them. A query without a form matches its own text only."""

    em: bool
    em_values: bool
    _sides: tuple[_Formed, _Formed] | None = None

    def differences(self) -> tuple[str, ...] | None:
        """The clauses that differ (`fastsql.evaluation.clauses.CLAUSES`); None if a side has no form."""
        if self._sides is None:
            return None
        if self.em_values:
            return ()
        try:
            return differences(*(clauses_of(side.reading) for side in self._sides))
        except LimitError:
            return None


def compare(gold: str, predicted: str | None, schema: Schema) -> Comparison:
    """Compare two queries; no prediction matches nothing.

    A query has no form if it does not parse, does not fit the schema, or is too large for one.
    """
    if predicted is None:
        return Comparison(em=False, em_values=False)
    one, other = _formed(gold, schema), _formed(predicted, schema)
    if one is None or other is None:
        same = gold.split() == predicted.split()
        return Comparison(em=same, em_values=same)
    return Comparison(
        em=one.form.without_values == other.form.without_values,
        em_values=one.form.with_values == other.form.with_values,
        _sides=(one, other),
    )


def hardness_of(gold: str) -> str:
    """The hardness of a query as text: what does not parse is beyond Spider's grammar."""
    try:
        return hardness(parse_query(gold))
    except VerificationError:
        return BEYOND


def _formed(sql: str, schema: Schema) -> _Formed | None:
    try:
        reading = read_query(sql, schema)
        return None if reading is None else _Formed(reading, form_of(reading))
    except LimitError:
        return None
