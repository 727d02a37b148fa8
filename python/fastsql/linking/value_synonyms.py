"""Values that a question calls by another name: "unpaid" for ``open``, as `Column.value_synonyms` say."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from fastsql.linking.candidate import Candidate
from fastsql.linking.value_index import ValueIndex, ValueMatch

if TYPE_CHECKING:
    from types import ModuleType

    from fastsql.schema import Schema, Value

Called: TypeAlias = "tuple[tuple[tuple[Value, tuple[str, ...]], ...], ...]"
"""By column, values with their synonyms."""


def called_texts(question: str, schema: Schema, core: ModuleType | None) -> Iterator[ValueMatch]:
    """Places where a question calls a text by a synonym, with the text itself."""
    for start, end, meant in _places(question, schema, core):
        texts = tuple((value, columns) for value, columns in meant.items() if isinstance(value, str))
        if texts:
            yield ValueMatch(start, end, texts)


def called_numbers(question: str, schema: Schema, core: ModuleType | None) -> Iterator[Candidate]:
    """The same of numbers, as candidates: ``1`` where a question says "male"."""
    for start, end, meant in _places(question, schema, core):
        for value, columns in meant.items():
            if not isinstance(value, str):
                yield Candidate(value, "number", (start, end), "schema", columns)


def _places(
    question: str, schema: Schema, core: ModuleType | None
) -> Iterator[tuple[int, int, dict[Value, tuple[int, ...]]]]:
    called = schema.value_synonyms
    values = _values(called)
    for match in _index(called).match(question, core):
        meant: dict[Value, tuple[int, ...]] = {}
        for synonym, _ in match.values:
            for value, column in values[synonym]:
                meant[value] = tuple(sorted({*meant.get(value, ()), column}))
        yield match.start, match.end, meant


@lru_cache(maxsize=64)
def _index(called: Called) -> ValueIndex:
    """All synonyms, ready to match; built once for equal ones."""
    holders = {synonym: sorted({column for _, column in held}) for synonym, held in _values(called).items()}
    return ValueIndex({synonym: tuple(columns) for synonym, columns in holders.items()})


@lru_cache(maxsize=64)
def _values(called: Called) -> dict[str, list[tuple[Value, int]]]:
    """By synonym, the values that it stands for and their columns."""
    found: dict[str, list[tuple[Value, int]]] = {}
    for column, values in enumerate(called):
        for value, synonyms in values:
            for synonym in synonyms:
                found.setdefault(synonym, []).append((value, column))
    return found
