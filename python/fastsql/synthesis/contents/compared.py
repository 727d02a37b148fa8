"""Values that a data set's queries compare its columns with: for schemas that are published without rows."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.contents.fillings import Choice, Filling

LONGEST = 40
"""Characters of a value that is taken over."""
MOST = 30
"""Values of a column."""
_FEWEST = {"category": 3, "name": 8, "text": 8, "amount": 8, "measure": 8, "code": 8}
"""By kind of column, how many have to be known: a column that holds nothing but two names would look odd."""
_COMPARISON = re.compile(
    r"""(?:"([^"]+)"|`([^`]+)`|(\w+))\s*(?:=|<>|!=|<=?|>=?)\s*'((?:[^'%]|''){1,60})'""", re.IGNORECASE
)


def compared_values(queries: Iterable[tuple[str, str]]) -> Mapping[tuple[str, str], tuple[str, ...]]:
    """By group and name of a column in small letters, the texts that it is compared with, sorted.

    `queries`: SQL, each with the group in which columns of one name hold the same, such as a database.
    """
    found: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    for group, sql in queries:
        for quoted, ticked, plain, value in _COMPARISON.findall(sql):
            text = value.replace("''", "'").strip()
            if 0 < len(text) <= LONGEST:
                found[group, (quoted or ticked or plain).lower()].add(text)
    return {key: tuple(sorted(values)) for key, values in found.items()}


def with_values(
    schema: Schema,
    profile: Profile,
    fillings: Sequence[Filling],
    values: Mapping[tuple[str, str], Sequence[str]],
    group: str,
    seed: str,
) -> tuple[Filling, ...]:
    """Fillings, with known values for columns of text of which enough are known; keys stay as they are."""
    filled = []
    for number, (column, filling) in enumerate(zip(schema.columns, fillings, strict=True)):
        known = values.get((group, column.name.lower()), ())
        fewest = _FEWEST.get(profile.columns[number].kind)
        is_key = schema.key_groups[number] >= 0 or number in schema.tables[column.table].primary_key
        if column.type == "text" and not is_key and fewest is not None and len(known) >= fewest:
            rng = random.Random(f"{seed}/{number}/compared")
            filling = replace(filling, drawn=Choice(tuple(rng.sample(known, min(MOST, len(known))))))
        filled.append(filling)
    return tuple(filled)
