"""Written questions over many variants of their designs, as a data set: pairs, conversations, and questions to refuse."""

from __future__ import annotations

import random
import shutil
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, count, islice
from pathlib import Path

from fastsql.datasets import Example, with_known_values
from fastsql.errors import ExecutionError
from fastsql.execution.executor import check_alive
from fastsql.schema import Schema
from fastsql.synthesis.contents import MadeDatabase
from fastsql.synthesis.designs import designs, draw_variant
from fastsql.synthesis.designs.carry import CannotCarryError, Carrier, Origin
from fastsql.synthesis.designs.written import Asked, written_over
from fastsql.synthesis.generate import Report
from fastsql.synthesis.many import Excerpt, MadeSet, excerpt, write_set
from fastsql.synthesis.schema.words import ENGLISH
from fastsql.synthesis.source import SynthesisError
from fastsql.synthesis.write import write_pairs

SINGLE, TALKS = 14, 3
"""Questions, and conversations, that one variant is asked."""
VARIANTS = 3
"""Over how many variants of a design its questions are asked where all of them are."""
_NOTES = 10

Talk = tuple[Asked, ...]


@dataclass(frozen=True)
class CarriedSet:
    """A data set of written questions; `pairs` hold those to refuse, too, `turns` the conversations."""

    pairs: tuple[Example, ...]
    turns: tuple[Example, ...]
    schemas: tuple[Schema, ...]
    values: dict[str, Excerpt]


def carry_over(
    pairs: int, seed: int, report: Report, *, language: str = ENGLISH, without: Collection[str] = ()
) -> CarriedSet:
    """About `pairs` single questions over variants of all designs that have written ones but `without`, with conversations.

    Every question comes about as often as any other of its design. The same arguments give the same.
    Raises SynthesisError where no design has questions.
    """
    asked: list[tuple[Origin, Iterator[Talk], Iterator[Talk]]] = []
    for design in designs(language):
        written = written_over(design.name, language)
        if written.single and design.name not in without:
            single = _over_and_over([(one,) for one in written.single], seed)
            asked.append((Origin(design), single, _over_and_over(written.talks, seed)))
    if not asked:
        raise SynthesisError("no design has written questions", where=f"language {language!r}")
    found = _Found(report)
    noted = 0
    for number in count():
        for origin, single, talks in asked:
            if len(found.pairs) >= pairs:
                return found.whole()
            chosen = chain(islice(single, SINGLE), islice(talks, TALKS))
            found.ask(origin, f"{seed}_asked_{number}", list(chosen))
            if len(found.pairs) * _NOTES // pairs > noted:
                noted = len(found.pairs) * _NOTES // pairs
                report(f"{len(found.pairs)} written questions carried over to {len(found.schemas)} schemas")
    raise AssertionError


def carry_held_out(
    names: Sequence[str], variants: int, report: Report, databases: Path, *, language: str = ENGLISH
) -> CarriedSet:
    """All questions over the designs that are called so, each over one of a few variants that has what it is about, and
    those that are to be refused.

    The databases are left in `databases`. What variants are called does not depend on a seed (`held_out_names`).
    Raises SynthesisError where there is no such design.
    """
    known = {design.name: design for design in designs(language)}
    found = _Found(report)
    for missing in sorted(set(names) - set(known)):
        raise SynthesisError(f"there is no design {missing!r}", remedy=f"There are: {', '.join(known)}.")
    for design in map(known.__getitem__, names):
        written, origin = written_over(design.name, language), Origin(design)
        talks: list[Talk] = [*((single,) for single in written.single), *written.talks]
        left: list[Talk] = []
        for number in range(variants):
            refused = written.unanswerable[number::variants]
            asked = [*left, *talks[number::variants]]
            left = found.ask(origin, _held(number), asked, refused, databases)
    return found.whole()


def held_out_names(designs: Sequence[str], variants: int) -> frozenset[str]:
    """What the databases of designs are called that `carry_held_out` asks."""
    return frozenset(f"{design}_{_held(number)}" for design in designs for number in range(variants))


def _held(number: int) -> str:
    return f"held_{number}"


def conversation(db_id: str, interaction: str, talk: Sequence[Asked]) -> list[Example]:
    """The turns of a conversation as examples, as data sets have them."""
    return [
        Example(
            f"{interaction}/{turn}",
            db_id,
            one.question,
            one.sql,
            extra={"interaction": interaction, "turn": turn},
        )
        for turn, one in enumerate(talk)
    ]


def turns_file(folder: Path, name: str = "") -> Path:
    """The file of a set's conversations."""
    return folder / (f"{name}.turns.json.gz" if name else "turns.json.gz")


def write_carried(found: CarriedSet, folder: Path, name: str = "") -> tuple[Path, ...]:
    """Writes conversations, schemas, values and, last, single questions: where they are the others are, too."""
    folder.mkdir(parents=True, exist_ok=True)
    write_pairs(found.turns, turns_file(folder, name))
    files = write_set(MadeSet(found.pairs, found.schemas, found.values), folder, name)
    return *files, turns_file(folder, name)


class _Found:
    """What was carried over so far."""

    def __init__(self, report: Report) -> None:
        self.pairs: list[Example] = []
        self.turns: list[Example] = []
        self.schemas: list[Schema] = []
        self._values: dict[str, Excerpt] = {}
        self._left_out: Counter[str] = Counter()
        self._report = report

    def ask(
        self,
        origin: Origin,
        seed: str,
        talks: Sequence[Talk],
        refused: Sequence[str] = (),
        databases: Path | None = None,
    ) -> list[Talk]:
        """Asks talks over the variant of a seed; gives back those that cannot be carried over to it."""
        left: list[Talk] = []
        variant = draw_variant(origin.design, seed)
        name = variant.schema.name
        with MadeDatabase(
            variant.schema,
            seed,
            fillings=variant.fillings,
            profile=variant.profile,
            constraints=variant.constraints,
        ) as made:
            carrier = Carrier(origin, variant, made.rows, with_known_values(variant.schema, made.path, None))
            for number, talk in enumerate(talks):
                try:
                    carried = carrier.carry(talk, f"{name}/{talk[0].question}")
                    for one in carried:
                        made.executor.run(one.sql)
                except CannotCarryError as error:
                    why = str(error)
                except ExecutionError as error:
                    check_alive(made.executor)
                    why = error.what
                else:
                    self._keep(name, f"{name}-{number}", carried)
                    continue
                self._left_out[why] += 1
                left.append(talk)
            self.pairs += [
                Example(f"{name}-refused-{number}", name, question, None)
                for number, question in enumerate(refused)
            ]
            self._values[name] = excerpt(variant.schema, made.executor)
            if databases is not None:
                databases.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(made.path, databases / f"{name}.sqlite")
        self.schemas.append(variant.schema)
        return left

    def _keep(self, name: str, number: str, talk: Sequence[Asked]) -> None:
        if len(talk) == 1:
            self.pairs.append(Example(number, name, talk[0].question, talk[0].sql))
            return
        self.turns += conversation(name, number, talk)

    def whole(self) -> CarriedSet:
        """All of it; how often a question was left out is told."""
        for why, number in self._left_out.most_common():
            self._report(f"{number} times not over a variant: {why}")
        return CarriedSet(tuple(self.pairs), tuple(self.turns), tuple(self.schemas), self._values)


def _over_and_over(talks: Sequence[Talk], seed: int) -> Iterator[Talk]:
    """All of them in a random order, then in another, without an end; nothing of nothing."""
    for number in count():
        if not talks:
            return
        yield from random.Random(f"{seed}/{number}").sample(list(talks), len(talks))
