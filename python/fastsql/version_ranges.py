"""Which versions of other packages this fastsql declares: read from its own metadata, so that they stand in one place.

Versions are compared by their release numbers alone, which is all that the declared ranges use; `packaging`, which knows the
rest of the standard, is no dependency of fastsql.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from itertools import zip_longest
from operator import eq, ge, gt, le, lt, ne

_REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(?:\[[^\]]*\])?\s*\(?([^;)]*)")
_CLAUSE = re.compile(r"(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)")
_RELEASE = re.compile(r"v?(?:\d+!)?(\d+(?:\.\d+)*)")
_COMPARISONS: Mapping[str, Callable[[int, int], bool]] = {
    ">=": ge,
    "<=": le,
    "==": eq,
    "!=": ne,
    "<": lt,
    ">": gt,
}


def declared_ranges(distribution: str = "fastsql") -> dict[str, str]:
    """What an installed distribution declares of others, such as ``{"sqlglot": "<31,>=30.24"}``; its extras included.

    Empty where it is not installed but runs from a source tree.
    """
    from importlib import metadata  # imports an e-mail parser

    try:
        requirements = metadata.requires(distribution) or []
    except metadata.PackageNotFoundError:
        return {}
    clauses: dict[str, dict[str, None]] = {}
    for requirement in requirements:
        if found := _REQUIREMENT.match(requirement):
            known = clauses.setdefault(normalised(found[1]), {})
            known.update(dict.fromkeys(clause.strip() for clause in found[2].split(",") if clause.strip()))
    return {name: ",".join(sorted(known)) for name, known in clauses.items()}


def normalised(name: str) -> str:
    """A distribution's name as the index compares it."""
    return re.sub(r"[-_.]+", "-", name).lower()


def is_within(version: str, wanted: str) -> bool:
    """Whether a version lies in a range of clauses such as ``"<31,>=30.24"``; every version does in ``""``.

    Raises ValueError for a clause of another form.
    """
    return all(_holds(version, clause) for clause in wanted.split(",") if clause)


def _holds(version: str, clause: str) -> bool:
    found = _CLAUSE.fullmatch(clause.strip())
    if found is None:
        raise ValueError(f"the clause {clause!r} is not one that is understood here")
    release = _RELEASE.match(version.strip())
    if release is None:
        return False
    pairs = zip_longest(_numbers(release[1]), _numbers(found[2]), fillvalue=0)
    difference = next((one - other for one, other in pairs if one != other), 0)
    return _COMPARISONS[found[1]](difference, 0)


def _numbers(release: str) -> list[int]:
    return [int(number) for number in release.split(".")]
