"""Values of a schema that a Chinese question says in part, for short or by another name.

People say 白细胞 for 白细胞计数, 静滴 for 静脉滴注 and 骨科 for 骨伤科. A part is taken for a value where it is one of no
other value that the schema knows, and of no label: then nothing else can be meant.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import combinations

from fastsql.linking.candidate import IN_PART, Candidate
from fastsql.linking.vocabulary import chinese
from fastsql.schema import Schema
from fastsql.schema.model import Value

SHORTEST, LONGEST = 2, 12
"""Letters of a part, and of a value of which there are parts."""
LONGEST_FOR_SHORT = 6
"""Letters of a value that is said for short, by some of its letters."""
_HAN = re.compile("[\u4e00-\u9fff]+")
_SHORT_OF_DEPARTMENTS = 3
_NAMES = re.compile(chinese.NAMES_OF_PERSONS)

_Forms = dict[str, tuple[str, tuple[int, ...]]]


def said_in_part(text: str, schema: Schema, settled: Sequence[tuple[int, int]]) -> Iterator[Candidate]:
    """Candidates for values that `text` (folded) says so, outside what is `settled`; of two overlapping ones the longer."""
    forms = _forms(_without_persons(schema), schema.texts)
    if not forms:
        return
    reached = 0
    for start in range(len(text)):
        if start < reached:
            continue
        for end in range(min(len(text), start + LONGEST), start + SHORTEST - 1, -1):
            found = forms.get(text[start:end])
            if found is None or any(start < until and begun < end for begun, until in settled):
                continue
            value, columns = found
            if not _stands_apart(text, start, end, value):
                continue
            yield Candidate(value, "text", (start, end), "schema", columns, distance=IN_PART)
            reached = end
            break


def _stands_apart(text: str, start: int, end: int, value: str) -> bool:
    """Whether the words around a part of a value are no more of the same word: 前列腺 of 前列腺癌 is no 前列腺增生."""
    part, before, behind = text[start:end], text[start - 1 : start], text[end : end + 1]
    if part in chinese.CALLED.get(value, ()):
        return True
    ends = not value.endswith(part)
    begins = not value.startswith(part[0])
    return not (
        (ends and _HAN.match(behind) and behind not in chinese.AFTER_WORDS)
        or (begins and _HAN.match(before) and before not in chinese.BEFORE_WORDS)
    )


def _without_persons(schema: Schema) -> tuple[tuple[Value, ...], ...]:
    """The known values by column; none of columns of names, as 建国 is no short form of one person's name among others."""
    return tuple(
        () if _NAMES.search(column.label) else values
        for column, values in zip(schema.columns, schema.domains, strict=True)
    )


@lru_cache(maxsize=64)
def _forms(domains: tuple[tuple[Value, ...], ...], texts: tuple[str, ...]) -> _Forms:
    """What values are called in part, with the one value that is meant and the columns that hold it."""
    holders: dict[str, list[int]] = {}
    for column, values in enumerate(domains):
        for value in values:
            if isinstance(value, str) and len(value) <= LONGEST and _HAN.search(value):
                holders.setdefault(value, []).append(column)
    meant: dict[str, set[str]] = {}
    for value in holders:
        for form in _parts(value):
            meant.setdefault(form, set()).add(value)
    general = (*chinese.NO_VALUE, *chinese.GENERAL)
    return {
        form: (value, tuple(holders[value]))
        for form, (value, *others) in ((form, tuple(found)) for form, found in meant.items())
        if not others
        and form not in holders
        and form not in general
        and not any(form in text for text in texts)
    }


def _parts(value: str) -> set[str]:
    """What a value may be called: how it begins and ends, what is short for it, and other names of it."""
    size = len(value)
    found = {value[:end] for end in range(SHORTEST, size)} | {value[start:] for start in range(1, size - 1)}
    if _HAN.fullmatch(value) and size <= LONGEST_FOR_SHORT:
        least = max(SHORTEST, (size + 1) // 2)
        if size > _SHORT_OF_DEPARTMENTS or value.endswith(chinese.DEPARTMENT):
            for count in range(least, size):
                found |= {value[0] + "".join(rest) for rest in combinations(value[1:], count - 1)}
    return {form for form in found if _HAN.search(form)} | set(chinese.CALLED.get(value, ()))
