"""Conversations in the uniform form: one record a turn, with `interaction` and `turn` (from 0)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from fastsql.datasets.examples import DatasetError, Example, read_examples


@dataclass(frozen=True)
class Interaction:
    """A conversation over one database, its turns in the order in which they were asked.

    A turn's `extra["program"]` is its query with references to earlier turns, where the file has it (`read_program_rows`).
    """

    id: str
    db_id: str
    turns: tuple[Example, ...]


def is_conversational(examples: Sequence[Example]) -> bool:
    """Whether examples are turns of conversations."""
    return bool(examples) and all("interaction" in one.extra for one in examples)


def read_interactions(path: str | Path) -> tuple[Interaction, ...]:
    """The conversations of a file, in the order of their first turns.

    Raises DatasetError, which names the interaction and the turn, where the file has not the uniform form.
    """
    return as_interactions(read_examples(path), str(path))


def as_interactions(examples: Sequence[Example], where: str) -> tuple[Interaction, ...]:
    """Examples as conversations. Raises DatasetError where they are not; `where`: what its message names."""
    known: dict[str, list[Example]] = {}
    for example in examples:
        name, turn = example.extra.get("interaction"), example.extra.get("turn")
        if not isinstance(name, str | int) or not isinstance(turn, int):
            raise DatasetError(
                "a record names no interaction and turn",
                where=f"{where}, example {example.id!r}",
                remedy="Give one record a turn, with `interaction` and `turn` (from 0).",
            )
        turns = known.setdefault(str(name), [])
        if turns and (turns[-1].extra["turn"] >= turn or turns[-1].db_id != example.db_id):
            raise DatasetError(
                "is not behind the turn before it, or asks another database",
                where=f"{where}, interaction {name!r}, turn {turn}",
                remedy="Give the turns of an interaction in order, over one database.",
            )
        turns.append(example)
    if not known:
        raise DatasetError("holds no conversation", where=where, remedy="Give one record a turn.")
    return tuple(Interaction(name, turns[0].db_id, tuple(turns)) for name, turns in known.items())


def require_whole(chosen: Sequence[Example], examples: Sequence[Example], where: str) -> None:
    """Raises DatasetError where of a conversation among `examples` only some turns were chosen; `where`: what it names."""
    names = {str(one.extra.get("interaction")) for one in chosen}
    kept = {one.id for one in chosen}
    for one in examples:
        if str(one.extra.get("interaction")) in names and one.id not in kept:
            raise DatasetError(
                f"lists some turns of interaction {one.extra['interaction']!r}, but not {one.id!r}",
                where=where,
                remedy="List all turns of a conversation, or none: later ones stand on earlier ones.",
            )
