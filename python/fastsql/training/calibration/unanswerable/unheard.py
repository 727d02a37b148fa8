"""Questions about names that the database does not hold: answerable ones in which a name gives way to an invented one.

To such a question a query can be written, and its answer is empty, whether the name is misspelled, of another hospital, or
nothing at all: whoever asks is better served by being told so.
"""

from __future__ import annotations

import random
import re
from collections import defaultdict
from collections.abc import Callable, Collection, Sequence

from fastsql.training.calibration.unanswerable.made import Refusal

UNHEARD = "unheard"
_CONTEXT = 2
"""Characters that decide on the next one of an invented name."""
_SHORTEST, _LONGEST = 5, 24
_DRAWS = 50


def name_unheard(
    asked: Sequence[tuple[str, Sequence[str]]],
    known: Collection[str],
    count: int,
    rng: random.Random,
    is_held: Callable[[str], bool] = lambda _: False,
) -> tuple[Refusal, ...]:
    """`count` questions at most, each with one of its names exchanged for an invented one.

    Args:
        asked: answerable questions, each with the names that it mentions.
        known: names of the database. Invented ones are none of these, nor parts of them, but put together as they are.
        count: how many are wanted.
        rng: draws questions and names.
        is_held: whether the database holds a name all the same.
    """
    following = _following(known)
    folded = {name.casefold() for name in known}
    found: list[Refusal] = []
    for question, names in rng.sample(list(asked), len(asked)):
        if len(found) == count:
            break
        mentioned = [
            name for name in names if name.casefold() in question.casefold() and len(name) >= _SHORTEST
        ]
        invented = _invent(following, folded, is_held, rng) if mentioned else None
        if invented is not None:
            text = _exchange(question, max(mentioned, key=len), invented)
            found.append(Refusal(text, UNHEARD, f"{UNHEARD} {len(found)}"))
    return tuple(found)


def _exchange(question: str, name: str, other: str) -> str:
    return re.sub(re.escape(name), lambda _: other, question, flags=re.IGNORECASE)


def _following(names: Collection[str]) -> dict[str, list[str]]:
    """What comes behind every few characters of names; the empty string where a name ends."""
    following: dict[str, list[str]] = defaultdict(list)
    for name in sorted(names):
        padded = " " * _CONTEXT + name.casefold()
        for place in range(_CONTEXT, len(padded) + 1):
            following[padded[place - _CONTEXT : place]].append(padded[place : place + 1])
    return following


def _invent(
    following: dict[str, list[str]],
    known: Collection[str],
    is_held: Callable[[str], bool],
    rng: random.Random,
) -> str | None:
    """A name that is held nowhere, and no part of a known one; None where too few are known to make up another."""
    for _ in range(_DRAWS):
        name = ""
        while len(name) <= _LONGEST:
            choices = following.get((" " * _CONTEXT + name)[-_CONTEXT:])
            character = rng.choice(choices) if choices else ""
            if not character:
                break
            name += character
        is_new = not any(name in one for one in known) and not is_held(name)
        if _SHORTEST <= len(name) <= _LONGEST and is_new:
            return name
    return None
