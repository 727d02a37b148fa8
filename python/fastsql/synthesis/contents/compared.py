"""Values that a data set's queries compare its columns with: for schemas that are published without rows."""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import replace

from fastsql.profile.kind_words import NAMES
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.contents.fillings import Choice, Filling, Mixed

LONGEST = 40
"""Characters of a value that is taken over."""
ALIKE = 3
"""Names of columns that two databases share at least, if what they call alike holds alike things."""
MOST = 30
"""Values of a column."""
_FEWEST = {"category": 3, "name": 8, "text": 8, "amount": 8, "measure": 8, "code": 8}
"""By kind of column, how many have to be known: a column that holds nothing but two names would look odd."""
_COMPARISON = re.compile(
    r"""(?:"([^"]+)"|`([^`]+)`|(\w+))\s*(?:=|<>|!=|<=?|>=?)\s*'((?:[^'%]|''){1,60})'""", re.IGNORECASE
)


def compared_values(queries: Iterable[tuple[str, str]]) -> Mapping[str, Mapping[str, frozenset[str]]]:
    """By database and name of a column in small letters, the texts that it is compared with.

    `queries`: SQL, each with its database.
    """
    found: defaultdict[str, defaultdict[str, set[str]]] = defaultdict(lambda: defaultdict(set))
    for database, sql in queries:
        for quoted, ticked, plain, value in _COMPARISON.findall(sql):
            text = value.replace("''", "'").strip()
            if 0 < len(text) <= LONGEST:
                found[database][(quoted or ticked or plain).lower()].add(text)
    return {one: {name: frozenset(texts) for name, texts in known.items()} for one, known in found.items()}


def with_those_alike(
    database: str, columns: Mapping[str, Set[str]], values: Mapping[str, Mapping[str, Set[str]]]
) -> Mapping[str, Set[str]]:
    """The values of a database's columns, and those of others that share ALIKE names of columns with it.

    `columns`: by database the names of its columns in small letters. One name alone tells little: a type is of a
    locomotive or of a contract.
    """
    found: defaultdict[str, set[str]] = defaultdict(set)
    for other, known in values.items():
        shared = columns[database] & columns.get(other, frozenset())
        if len(shared) >= ALIKE or other == database:
            for name in shared & known.keys():
                found[name] |= known[name]
    return found


def with_values(
    schema: Schema,
    profile: Profile,
    fillings: Sequence[Filling],
    values: Mapping[str, Set[str]],
    seed: str,
) -> tuple[Filling, ...]:
    """Fillings, with `values` by name of a column for columns of text of which enough are known; keys stay as they are."""
    filled = []
    for number, (column, filling) in enumerate(zip(schema.columns, fillings, strict=True)):
        known = sorted(values.get(column.name.lower(), ()))
        fewest = _FEWEST.get(profile.columns[number].kind)
        is_key = schema.key_groups[number] >= 0 or number in schema.tables[column.table].primary_key
        if column.type == "text" and not is_key and fewest is not None and len(known) >= fewest:
            rng = random.Random(f"{seed}/{number}/compared")
            filling = replace(filling, drawn=Choice(tuple(rng.sample(known, min(MOST, len(known))))))
        filled.append(filling)
    return tuple(filled)


def unknown_contents(profile: Profile, fillings: Sequence[Filling]) -> frozenset[int]:
    """Columns that names of things fill, "quiet harbour", although their own name does not say that they hold names."""
    return frozenset(
        number
        for number, (known, filling) in enumerate(zip(profile.columns, fillings, strict=True))
        if isinstance(filling.drawn, Mixed)
        and known.kind == "name"
        and not NAMES & {*known.called.lower().split()[-1:]}
    )
