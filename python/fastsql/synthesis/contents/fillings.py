"""What a column of a made-up table is filled with."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Protocol
from uuid import NAMESPACE_OID, uuid5

from fastsql.schema.model import Value
from fastsql.synthesis.contents.pools import FAMILY_NAMES, FIRST_NAMES

Cell = str | int | float | None

FIRST_DAY, LAST_DAY = datetime(2019, 1, 1), datetime(2023, 6, 30)  # noqa: DTZ001 - clocks of a hospital, as SQLite stores them
"""When things happen. Births are before, deaths and what is due may be after."""
_FIRST_BIRTH, _LAST_BIRTH = datetime(1931, 1, 1), datetime(2018, 12, 31)  # noqa: DTZ001
_LAST_DEATH = datetime(2024, 12, 31)  # noqa: DTZ001

ROLES = ("birth", "begin", "next", "end", "due", "death")
"""What a date is of the thing that its row is about, in the order in which dates of one row are drawn:

birth  of a person, before everything else
begin  when it begins, or simply when it is
next   something on its way, after the one before
end    when it is over
due    ahead of it
death  of a person, after everything else
"""


@dataclass
class Row:
    """A row in the making: what its cells must agree on."""

    rng: random.Random
    number: int
    """Its place in its table."""
    begin: datetime | None = None
    """When what the row belongs to begins; None where it belongs to nothing that has a time."""
    end: datetime | None = None
    chinese: bool = False
    birth: datetime | None = None
    started: datetime | None = None
    """When it begins itself."""
    ended: datetime | None = None
    latest: datetime | None = None
    """The last moment on its way that was drawn."""
    first_name: str = ""
    family_name: str = ""

    def moment(self, role: str) -> datetime:
        """A moment of a role, after those drawn before it."""
        rng = self.rng
        if role == "birth":
            self.birth = self.birth or _between(rng, _FIRST_BIRTH, _LAST_BIRTH)
            return self.birth
        if role == "death":
            return _between(rng, LAST_DAY + timedelta(days=30), _LAST_DEATH)
        if self.latest is None:
            self.latest = self.started = self._first()
        elif role in ("begin", "next"):
            self.latest += timedelta(hours=rng.choice((1, 2, 4, 12, 30)) * rng.uniform(0.3, 1.5))
        elif role == "end":
            self.latest += timedelta(days=rng.choice((0.5, 1, 3, 8, 20)) * rng.uniform(0.3, 1.2))
            self.ended = self.latest
        if role == "due":
            return self.latest + timedelta(days=rng.choice((7, 30, 90, 365)) * rng.uniform(0.8, 1.2))
        return self.latest

    def _first(self) -> datetime:
        if self.begin is None:
            return _between(self.rng, FIRST_DAY, LAST_DAY)
        if self.end is not None and self.end > self.begin:
            return _between(self.rng, self.begin, self.end)
        return self.begin + timedelta(days=abs(self.rng.gauss(0, 20)))

    def person(self) -> tuple[str, str]:
        """First and family name of the person whom the row is about."""
        if not self.first_name:
            self.first_name = self.rng.choice(FIRST_NAMES[self.chinese])
            self.family_name = self.rng.choice(FAMILY_NAMES[self.chinese])
        return self.first_name, self.family_name


class Drawn(Protocol):
    """A way to draw cells of a column."""

    def cell(self, row: Row) -> Cell:
        """One cell."""


@dataclass(frozen=True)
class Filling:
    """How a column is filled; `nulls`: the share of its cells that are empty."""

    drawn: Drawn
    nulls: float = 0.0

    @property
    def place(self) -> int:
        """When a row's cell is drawn: dates in the order of their roles."""
        match self.drawn:
            case Moments(role=role):
                return ROLES.index(role)
            case Ages():
                return len(ROLES)
        return 0

    def cell(self, row: Row) -> Cell:
        """A cell, or None."""
        cell = self.drawn.cell(row)
        return None if self.nulls and row.rng.random() < self.nulls else cell


@dataclass(frozen=True)
class Identifier:
    """Each row its own UUID (RFC 9562); other ones for another `salt`."""

    salt: str

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        return str(uuid5(NAMESPACE_OID, f"{self.salt} {row.number}"))


@dataclass(frozen=True)
class Serial:
    """Each row its own: numbers, or a pattern with a number in it ("LAB-#####")."""

    first: int = 1
    pattern: str = ""

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        number = self.first + row.number
        if not self.pattern:
            return number
        marks = self.pattern.count("#")
        text = f"{number:0{marks}}"
        return self.pattern.replace("#" * marks, text) if "#" * marks in self.pattern else self.pattern + text


@dataclass(frozen=True)
class Choice:
    """One of some values, the first of them oftener than the last unless `weights` say it."""

    values: tuple[Value, ...]
    weights: tuple[float, ...] = ()
    skew: float = 0.8

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        weights = self.weights or [1 / (place + 1) ** self.skew for place in range(len(self.values))]
        return row.rng.choices(self.values, weights)[0]


@dataclass(frozen=True)
class Each:
    """The values of a list in its order, a row each: a table of what the list has."""

    values: tuple[Value, ...]

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        return self.values[row.number % len(self.values)]


@dataclass(frozen=True)
class Numbers:
    """Numbers between two, mostly in the middle, or low where `falling`."""

    low: float
    high: float
    digits: int = 0
    falling: bool = False

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        if self.falling:
            value = self.low + (self.high - self.low) * row.rng.random() ** 2.5
        else:
            value = row.rng.triangular(self.low, self.high)
        return float(round(value, self.digits)) if self.digits else round(value)


@dataclass(frozen=True)
class Moments:
    """Times in a form of `strftime`, or whole numbers where it is one of a number: "%Y"."""

    role: str = "begin"
    form: str = "%Y-%m-%d %H:%M:%S"
    number: bool = False

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        text = row.moment(self.role).replace(second=0).strftime(self.form)
        return int(text) if self.number else text


@dataclass(frozen=True)
class Ages:
    """Years since the birth of the person whom a row is about, or those of anybody."""

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        return LAST_DAY.year - row.moment("birth").year


@dataclass(frozen=True)
class Persons:
    """Names of the person whom a row is about; `part`: "first", "family", "full", "email"."""

    part: str = "full"

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        first, family = row.person()
        if self.part == "email":
            return f"{'user' if row.chinese else f'{first}.{family}'.lower()}{row.number}@example.org"
        parts = {"first": first, "family": family}
        return parts.get(self.part) or (family + first if row.chinese else f"{first} {family}")


@dataclass(frozen=True)
class Others:
    """Names of persons whom a row only mentions, such as a contact."""

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        first, family = (row.rng.choice(pool[row.chinese]) for pool in (FIRST_NAMES, FAMILY_NAMES))
        return family + first if row.chinese else f"{first} {family}"


@dataclass(frozen=True)
class Mixed:
    """A word of each pool, one behind the other."""

    pools: tuple[tuple[str, ...], ...]
    between: str = " "

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        return self.between.join(row.rng.choice(pool) for pool in self.pools)


@dataclass(frozen=True)
class Patterns:
    """A text whose # are digits and whose @ are capitals, each row another."""

    pattern: str

    def cell(self, row: Row) -> Cell:
        """See `Drawn`."""
        return spelled_pattern(self.pattern, row.rng)


@dataclass(frozen=True)
class Nothing:
    """Nothing, for what cannot be made up, such as pictures."""

    def cell(self, _row: Row) -> Cell:
        """See `Drawn`."""
        return None


def spelled_pattern(pattern: str, rng: random.Random) -> str:
    """The pattern with digits and capitals in it."""
    letters = "ABCDEFGHJKLMNPRSTUVWXYZ"
    return "".join(
        rng.choice("123456789" if mark == "#" else letters) if mark in "#@" else mark for mark in pattern
    )


def codes(pattern: str, number: int, rng: random.Random) -> Choice:
    """Codes of a pattern, some of them, which rows share."""
    return Choice(tuple(dict.fromkeys(spelled_pattern(pattern, rng) for _ in range(number))))


def _between(rng: random.Random, start: datetime, end: datetime) -> datetime:
    return start + (end - start) * rng.random()


@dataclass(frozen=True)
class Constraints:
    """Of a schema what its tables and keys do not say."""

    required: frozenset[int] = frozenset()
    """Columns that are never empty."""
    unique: Sequence[tuple[int, ...]] = field(default=())
    """Columns whose values together are another in each row, beside primary keys."""
    unread: bool = False
    """Whether there may be others, which could not be read."""
