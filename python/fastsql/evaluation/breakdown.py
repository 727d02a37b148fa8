"""The scores of parts of a data set: by database, hardness, difficulty, template."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from fastsql.evaluation.hardness import LEVELS
from fastsql.evaluation.judged import Judged
from fastsql.evaluation.scores import exact_match, execution_accuracy
from fastsql.evaluation.shares import Share

Key: TypeAlias = Callable[[Judged], "str | None"]

_NO_TEMPLATE = "-"


def _extra(name: str) -> Key:
    def key(item: Judged) -> str | None:
        value = item.example.extra.get(name)
        return str(value) if isinstance(value, str | int) and not isinstance(value, bool) else None

    return key


def _template(item: Judged) -> str | None:
    return item.example.template if item.example.template != _NO_TEMPLATE else None


KINDS: Mapping[str, Key] = {
    "db_id": lambda item: item.example.db_id,
    "hardness": lambda item: item.verdict.hardness,
    "level": _extra("level"),
    "difficulty": _extra("difficulty"),
}
"""Parts that are few: the database, Spider's hardness, and the difficulty that css and bird state."""

TEMPLATES: Mapping[str, Key] = {
    "skeleton": lambda item: item.skeleton,
    "template": _template,
    "q_tag": _extra("q_tag"),
    "template_id": _extra("template_id"),
}
"""What counts as a template: the SQL skeleton always, and what the data set states."""


@dataclass(frozen=True)
class Part:
    """The scores of the answerable questions of one name; `wrong` counts wrong best hypotheses, refused or not."""

    name: str
    n: int
    ex: Share
    em: Share
    em_values: Share
    wrong: int

    @property
    def shares(self) -> Mapping[str, Share]:
        """The shares by name."""
        return {"ex": self.ex, "em": self.em, "em_values": self.em_values}

    def to_json(self) -> dict[str, Any]:
        """Counts, shares in percent, and Wilson's 95 % intervals of these; without the name."""
        return {
            "n": self.n,
            **{name: share.percent for name, share in self.shares.items()},
            "wrong": self.wrong,
            "intervals": {name: share.interval() for name, share in self.shares.items()},
        }


def parts_of(judged: Iterable[Judged], key: Key) -> tuple[Part, ...]:
    """The parts that `key` makes of the answerable questions: hardness in its order, others by size."""
    members: dict[str, list[Judged]] = {}
    for item in judged:
        name = key(item)
        if item.answerable and name is not None:
            members.setdefault(name, []).append(item)
    found = [
        Part(
            name,
            len(items),
            execution_accuracy(items),
            exact_match(items, values=False),
            exact_match(items, values=True),
            sum(not item.right for item in items),
        )
        for name, items in members.items()
    ]
    if all(part.name in LEVELS for part in found):
        return tuple(sorted(found, key=lambda part: LEVELS.index(part.name)))
    return tuple(sorted(found, key=lambda part: (-part.n, part.name)))


def spread(parts: Sequence[Part]) -> dict[str, int | float | None]:
    """How questions spread over templates, and the scores if every template counts once."""
    return {
        "distinct": len(parts),
        "singletons": sum(part.n == 1 for part in parts),
        "largest": max((part.n for part in parts), default=0),
        "all_right": sum(part.wrong == 0 for part in parts),
        "macro_ex": _mean(part.ex for part in parts),
        "macro_em": _mean(part.em for part in parts),
        "macro_em_values": _mean(part.em_values for part in parts),
    }


def _mean(shares: Iterable[Share]) -> float | None:
    known = [share.percent for share in shares if share.percent is not None]
    return round(sum(known) / len(known), 4) if known else None
