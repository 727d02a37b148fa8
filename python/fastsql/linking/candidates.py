"""Question in, value candidates out: numbers, dates, quoted text, dictionary and schema values.

Free spans, such as the name of a drug that no dictionary knows, are not listed: the decoder points at their first and last
token. Each candidate is a node of the relation graph, so the list is kept small: about five for a clinical question.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from fastsql.linking.candidate import Candidate
from fastsql.linking.dates import find_dates
from fastsql.linking.folding import fold, has_han
from fastsql.linking.numbers import find_numbers
from fastsql.linking.value_index import ValueIndex, ValueMatch

if TYPE_CHECKING:
    from types import ModuleType

    from fastsql.linking.dictionary import ValueDictionary
    from fastsql.schema import Schema, Value

__all__ = ["CANDIDATE_LIMIT", "Candidate", "find_candidates"]

CANDIDATE_LIMIT = 24
"""Candidates of one question at most. When there are more, those of the least telling kinds go first."""

_LONGEST = 200
"""Characters between quotation marks."""
_PAIRS = (('"', '"'), ("“", "”"), ("「", "」"), ("『", "』"), ("《", "》"), ("‘", "’"), ("`", "`"))
_QUOTED = re.compile(
    "|".join(
        f"{start}(?P<q{index}>[^{start[0]}{end[0]}\n]{{1,{_LONGEST}}}){end}"
        for index, (start, end) in enumerate(_PAIRS)
    )
    # An apostrophe opens a quotation only where a word could start, and closes it only where a word could end.
    + rf"|(?<![^\s(\[,:=])'(?P<single>[^\s'](?:[^\n']|'(?=\w)){{0,{_LONGEST}}})'(?![\w])"
)
_PRECEDENCE = ("quoted", "date", "number", "schema", "dictionary", "ordinal")


def find_candidates(
    question: str,
    schema: Schema,
    dictionary: ValueDictionary | None = None,
    *,
    limit: int = CANDIDATE_LIMIT,
    core: ModuleType | None = None,
) -> tuple[Candidate, ...]:
    """Literals that the question offers, sorted by span; no two have equal value, kind and format.

    Numbers and quarters of a date inside a longer find are left out: the 5 of ``dextrose 5%`` where a dictionary knows that
    drug, the 12 of ``12/05/2100``. A value that several places mention has the first one as its span.
    `core` is the native module where it is to look values up.
    Raises SchemaError when `dictionary` was made for another schema.
    """
    text = fold(question)
    values = list(_value_candidates(question, schema, dictionary, core))
    dates = find_dates(text)
    found = [*values, *_outside_values(dates, values)]
    found += _outside_values(_outside_dates(find_numbers(text), dates), values)
    found += [
        quoted for quoted in _find_quoted(question) if not any(_same(quoted, value) for value in values)
    ]
    found += _in_part(question, text, schema, found)
    if dictionary is not None:
        settled, closed = ([one.span for one in found] for found in (values, dates))
        found += [
            Candidate(near.value, "text", (start, end), "dictionary", near.columns, distance=near.distance)
            for start, end, near in dictionary.almost(question, settled, closed, core)
        ]
    distinct: dict[tuple[object, ...], Candidate] = {}
    for candidate in sorted(found, key=lambda one: (one.span, _PRECEDENCE.index(one.source))):
        distinct.setdefault(
            (type(candidate.value), candidate.value, candidate.kind, candidate.format), candidate
        )
    kept = list(distinct.values())
    if len(kept) > limit:
        kept.sort(key=lambda one: (_PRECEDENCE.index(one.source), one.span[0] - one.span[1], one.span))
        kept = sorted(kept[:limit], key=lambda one: one.span)
    return tuple(kept)


def _in_part(question: str, text: str, schema: Schema, found: Sequence[Candidate]) -> Iterator[Candidate]:
    """Values of the schema that a question says in part."""
    if not any(schema.domains):
        return iter(())
    settled = [one.span for one in found]
    if has_han(text):
        from fastsql.linking.said_in_part import said_in_part  # of either language, as most need one

        return said_in_part(text, schema, settled)
    from fastsql.linking.said_in_part_english import said_in_part as in_english

    return in_english(question, schema, settled)


def _find_quoted(question: str) -> tuple[Candidate, ...]:
    """Quoted spans of the question, without their marks and outer blanks, in the case in which they are written."""
    found = []
    for match in _QUOTED.finditer(question):
        group = match.lastgroup or ""
        inner = match[group]
        value = inner.strip()
        if not value:
            continue
        start = match.start(group) + len(inner) - len(inner.lstrip())
        found.append(Candidate(value, "text", (start, start + len(value)), "quoted"))
    return tuple(found)


def schema_value_index(schema: Schema) -> ValueIndex:
    """The text values of the schema's small domains, ready to match; built once for equal domains."""
    return _domain_index(schema.domains)


@lru_cache(maxsize=64)
def _domain_index(domains: tuple[tuple[Value, ...], ...]) -> ValueIndex:
    columns: dict[str, list[int]] = {}
    for column, values in enumerate(domains):
        for value in values:
            if isinstance(value, str):
                columns.setdefault(value, []).append(column)
    return ValueIndex({value: tuple(dict.fromkeys(held)) for value, held in columns.items()})


def _value_candidates(
    question: str, schema: Schema, dictionary: ValueDictionary | None, core: ModuleType | None
) -> Iterator[Candidate]:
    """Schema and dictionary matches; of two overlapping ones where one lies inside the other, the longer."""
    matches = [("schema", match) for match in schema_value_index(schema).match(question, core)]
    called: Sequence[Candidate] = ()
    if schema.value_synonyms:
        from fastsql.linking.value_synonyms import called_numbers, called_texts  # which few schemas have

        matches += [("schema", match) for match in called_texts(question, schema, core)]
        called = tuple(called_numbers(question, schema, core))
    if dictionary is not None:
        dictionary.check(schema)
        held = (*dictionary.match(question, core), *dictionary.identifiers(question))
        matches += [("dictionary", match) for match in held]
    merged: dict[tuple[int, int, str], tuple[str, set[int]]] = {}
    for source, match in _not_contained(matches):
        for value, columns in match.values:
            known = merged.setdefault((match.start, match.end, value), (source, set()))
            known[1].update(columns)
    for (start, end, value), (source, columns_of) in merged.items():
        yield Candidate(value, "text", (start, end), source, tuple(sorted(columns_of)))
    yield from called


def _not_contained(matches: list[tuple[str, ValueMatch]]) -> Iterator[tuple[str, ValueMatch]]:
    reached = previous = (-1, -1)
    for source, match in sorted(matches, key=lambda one: (one[1].start, -one[1].end, one[0] != "schema")):
        if match.end <= reached[1] and (match.start, match.end) != previous:
            continue
        previous = (match.start, match.end)
        reached = max(reached, previous, key=lambda place: place[1])
        yield source, match


def _outside_values(found: Iterable[Candidate], values: list[Candidate]) -> list[Candidate]:
    """Without those that are a part of a longer dictionary or schema value."""
    return [
        one for one in found if not any(_inside(one, value) and one.span != value.span for value in values)
    ]


def _outside_dates(numbers: Iterable[Candidate], dates: tuple[Candidate, ...]) -> list[Candidate]:
    """Without the numbers that can only be a part of a date."""
    return [
        number
        for number in numbers
        if not any(_overlap(number, date) and not _may_be_a_number(number, date) for date in dates)
    ]


def _may_be_a_number(number: Candidate, date: Candidate) -> bool:
    """A year alone, the 5th, eight digits: what is read as a date may be a number all the same."""
    if date.format == "%d":
        return number.source == "ordinal"
    return number.kind == "number" and (
        date.format == "%Y" or (date.format == "%Y-%m-%d" and number.span == date.span)
    )


def _inside(inner: Candidate, outer: Candidate) -> bool:
    return outer.span[0] <= inner.span[0] and inner.span[1] <= outer.span[1]


def _overlap(first: Candidate, second: Candidate) -> bool:
    return first.span[0] < second.span[1] and second.span[0] < first.span[1]


def _same(quoted: Candidate, value: Candidate) -> bool:
    return quoted.span == value.span and quoted.value == value.value
