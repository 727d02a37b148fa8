"""One schema of a design: some tables and columns left out, others merged, all of them named in one manner."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastsql.profile.derive import derive
from fastsql.profile.english import word_set
from fastsql.profile.model import NUMBERS, ColumnProfile, Profile
from fastsql.schema import Schema, Value
from fastsql.schema.names import fold
from fastsql.synthesis.contents.fillings import Choice, Constraints, Filling, Identifier, Serial
from fastsql.synthesis.designs.model import (
    Design,
    DesignColumn,
    DesignError,
    DesignTable,
    Held,
    Key,
    Reference,
)
from fastsql.synthesis.designs.naming import (
    PLAIN_CHINESE,
    PLAIN_ENGLISH,
    Style,
    draw_chinese_style,
    draw_style,
)
from fastsql.synthesis.designs.reading import MONEY
from fastsql.synthesis.designs.reported import overlap
from fastsql.synthesis.designs.shapes import shaped
from fastsql.synthesis.schema.chinese.nouns import is_chinese
from fastsql.synthesis.schema.words import plural

MOST_SHARED = 0.2
"""The share of names of columns that no variant may have in common with a schema that is kept for reporting."""
_UUIDS = 0.12
"""Share of variants whose keys are UUIDs."""
_DRAWS = 30
_NO_NOUNS = word_set(
    "on at by with until from in to into out for before after since cd num hour done given drawn sent held taken seen"
)
"""How names end, beside "-ed", that are no things: a questioner says "arrival time", not "came at"."""
_DECLARED = (1.0, 1.0, 1.0, 0.5, 0.0)
"""Shares of the foreign keys that variants declare."""
Flags = tuple[Value, Value]
_FLAGS: Sequence[Flags] = ((0, 1), ("N", "Y"))
_CHINESE_FLAGS: Sequence[Flags] = ((0, 1), ("否", "是"), ("否", "是"))
_TYPES: Mapping[str, Sequence[str]] = {
    "integer": ("INTEGER", "INT", "BIGINT"),
    "real": ("REAL", "DOUBLE PRECISION", "NUMERIC(10,2)", "FLOAT"),
    "text": ("TEXT", "VARCHAR(80)", "VARCHAR(255)"),
    "day": ("DATE",),
    "time": ("TIMESTAMP", "DATETIME"),
}


@dataclass(frozen=True)
class Variant:
    """A schema, as the parser is given it."""

    schema: Schema
    profile: Profile
    """What its things are called by people, whether the schema tells or not."""
    fillings: tuple[Filling, ...]
    """What its columns hold."""
    constraints: Constraints
    """Which keys are never empty."""
    designed: tuple[tuple[DesignTable, DesignColumn], ...]
    """By column of the schema, the table and the column of the shaped design that it stands for."""
    flags: Flags
    """What no and yes are."""


@dataclass(frozen=True)
class _Named:
    """A column with its name."""

    name: str
    words: str
    spoken: str
    column: DesignColumn


@dataclass(frozen=True)
class _Part:
    """A table with its name, and what people call it."""

    table: DesignTable
    name: str
    words: str
    columns: tuple[_Named, ...]

    @property
    def key(self) -> _Named:
        """Its primary key, which every design has first."""
        return self.columns[0]


def draw_variant(design: Design, seed: str) -> Variant:
    """A variant that keeps clear of what is reported on; the same seed draws the same.

    Raises DesignError where none of many does.
    """
    for attempt in range(_DRAWS):
        variant = _draw(design, f"{design.name}_{seed}", random.Random(f"{design.name}/{seed}/{attempt}"))
        if shared_names(variant) < MOST_SHARED:
            return variant
    raise DesignError("its names are those of a schema that is reported on", where=f"design {design.name}")


def as_designed(design: Design, *, flags: Flags | None = None) -> Variant:
    """The design as it stands: all of its tables and columns under their usual names; `flags`: drawn without."""
    tables = tuple(
        replace(
            table,
            names=table.names[:1],
            columns=tuple(replace(column, names=column.names[:1]) for column in table.columns),
        )
        for table in design.tables
    )
    style = PLAIN_CHINESE if design.is_chinese else PLAIN_ENGLISH
    return _named(design, design.name, tables, style, random.Random(design.name), flags)


def shared_names(variant: Variant) -> float:
    """The largest share of the names of columns that a set that is reported on has, as they are or spelled out."""
    spelled = [column.words for column in variant.schema.profile.columns]
    return max(*overlap(column.name for column in variant.schema.columns), *overlap(spelled))


def _draw(design: Design, name: str, rng: random.Random) -> Variant:
    style = draw_chinese_style(rng) if design.is_chinese else draw_style(rng)
    return _named(design, name, shaped(design, rng), style, rng)


def _named(
    design: Design,
    name: str,
    tables: Sequence[DesignTable],
    style: Style,
    rng: random.Random,
    flags: Flags | None = None,
) -> Variant:
    names = {table.names[0]: _chosen(table.names, rng) for table in tables}
    taken: dict[str, None] = {}
    for table in tables:
        table_name = style.table(names[table.names[0]])
        while fold(table_name) in map(fold, taken):
            table_name += "2"
        taken[table_name] = None
    parts = [
        _Part(table, sql_name, names[table.names[0]], _columns(table, names, style, rng))
        for table, sql_name in zip(tables, taken, strict=True)
    ]
    told = rng.random() < (0.6 if style.cryptic else 0.25)
    known = (flags,) if flags else _CHINESE_FLAGS if design.is_chinese else _FLAGS
    entries = _Entries(parts, rng, known, told=told)
    schema = Schema.from_dict(
        {"db_id": name, "tables": entries.tables(), "foreign_keys": entries.keys(rng.choice(_DECLARED))}
    )
    fillings = tuple(entries.filling(one.column) for part in parts for one in part.columns)
    designed = tuple((part.table, one.column) for part in parts for one in part.columns)
    required = {
        place
        for place, (_, column) in enumerate(designed)
        if isinstance(column.holds, Reference) and not column.holds.optional
    }
    constraints = Constraints(frozenset(required))
    return Variant(schema, _profile(schema, parts), fillings, constraints, designed, entries.flags)


def _columns(
    table: DesignTable, names: Mapping[str, str], style: Style, rng: random.Random
) -> tuple[_Named, ...]:
    """The columns of a table under names that differ."""
    found: dict[str, _Named] = {}
    own = names[table.names[0]]
    for column in table.columns:
        words = _chosen(column.names, rng)
        match column.holds:
            case Key():
                words = style.key_words(words, own)
                spoken = _in_full(f"{own} {words}" if words in ("id", "ID") else words)
            case Reference(table=target):
                words = names[target] if words == target else words
                called = words if _is_noun(words) else names[target]
                spoken = _in_full(f"{called} {style.key_word}")
                words = f"{words} {style.key_word}"
            case Held(type=kind):
                spoken = _spoken(words, column.names, rng, is_flag=kind == "flag")
        for name in dict.fromkeys((words, *column.names)):
            said = style.column(name, own)
            if fold(said) not in found:
                if spoken in {one.spoken for one in found.values()}:
                    spoken = name
                found[fold(said)] = _Named(said, name, spoken, column)
                break
    return tuple(found.values())


def _spoken(words: str, names: Sequence[str], rng: random.Random, *, is_flag: bool) -> str:
    """What people call a column whose name is made of `words`: "arrival time", where the database says "came at"."""
    if is_chinese(words):
        return words
    if is_flag:
        return words if words.startswith(("is ", "has ", "was ")) else f"is {words}"
    nouns = [name for name in names if _is_noun(name)] or list(names)
    singular = [
        name for name in nouns if plural(name) != name and not {"of", "for"} & set(name.split())
    ] or nouns
    return words if words in singular and rng.random() < 0.6 else rng.choice(singular)


def _in_full(words: str) -> str:
    if is_chinese(words):
        return words.replace(" ", "")
    return f"{words.removesuffix(' no')} number" if words.endswith(" no") else words


def _is_noun(name: str) -> bool:
    last = name.split()[-1]
    return last not in _NO_NOUNS and not last.endswith("ed")


def _chosen(names: Sequence[str], rng: random.Random) -> str:
    return names[0] if rng.random() < 0.5 else rng.choice(names)


class _Entries:
    """Tables and keys as `Schema.from_dict` reads them; `told`: with labels, synonyms, descriptions and what codes mean."""

    def __init__(
        self, parts: Sequence[_Part], rng: random.Random, flags: Sequence[Flags], *, told: bool
    ) -> None:
        self._parts = {part.table.names[0]: part for part in parts}
        self._rng = rng
        self._told = told
        self._types = {kind: rng.choice(types) for kind, types in _TYPES.items()}
        self.flags = rng.choice(flags)
        self._unique_everywhere = rng.random() < _UUIDS

    def tables(self) -> list[dict[str, Any]]:
        return [
            {
                "name": part.name,
                "columns": [self._column(one) for one in part.columns],
                **({"label": part.words, "synonyms": list(part.table.names)} if self._told else {}),
            }
            for part in self._parts.values()
        ]

    def keys(self, declared: float) -> list[dict[str, Any]]:
        """About a share of the foreign keys."""
        return [
            {
                "table": part.name,
                "columns": [one.name],
                "parent": self._parts[one.column.holds.table].name,
                "references": [self._parts[one.column.holds.table].key.name],
            }
            for part in self._parts.values()
            for one in part.columns
            if isinstance(one.column.holds, Reference) and self._rng.random() < declared
        ]

    def filling(self, column: DesignColumn) -> Filling:
        match column.holds:
            case Key() if self._unique_everywhere:
                return Filling(Identifier(f"{self._rng.random()}"))
            case Key(pattern=pattern):
                return Filling(Serial(self._rng.choice((1, 101, 4001)), pattern))
            case Held(drawn=drawn, type=kind, empty=empty):
                return Filling(Choice(self.flags) if kind == "flag" else drawn, empty)
        return Filling(Serial())  # of a reference, which rows are given

    def _key_type(self, holds: object) -> str:
        is_text = self._unique_everywhere or (isinstance(holds, Key) and bool(holds.pattern))
        return self._types["text" if is_text else "integer"]

    def _column(self, one: _Named) -> dict[str, Any]:
        entry: dict[str, Any] = {"name": one.name}
        column = one.column
        match column.holds:
            case Key() as key:
                entry |= {"type": self._key_type(key), "primary_key": True}
            case Reference(table=target):
                entry["type"] = self._key_type(self._parts[target].key.column.holds)
            case Held(type=kind, spoken=spoken):
                kind = ("integer" if self.flags[1] == 1 else "text") if kind == "flag" else kind
                entry["type"] = self._types[kind]
                if self._told and spoken:
                    entry["value_synonyms"] = [[value, [called]] for value, called in spoken.items()]
        if self._told:
            entry |= {"label": one.words, "synonyms": [name for name in column.names if name != one.words]}
        if column.description and (self._told or self._rng.random() < 0.3):
            entry["description"] = column.description
        return entry


def _profile(schema: Schema, parts: Sequence[_Part]) -> Profile:
    """What a hospital knows of its schema."""
    derived = derive(schema)
    by_name = {part.table.names[0]: part for part in parts}
    columns = []
    for known, one in zip(derived.columns, (one for part in parts for one in part.columns), strict=True):
        # One word for one thing: a question that calls it by two would seem to be about two.
        said = replace(known, words=one.spoken, label="", synonyms=(), description=one.column.description)
        match one.column.holds:
            case Key():
                columns.append(replace(said, kind="identifier", aggregatable=False))
            case Reference(table=target):
                refers = f"{by_name[target].name}.{by_name[target].key.name}"
                columns.append(replace(said, kind="identifier", aggregatable=False, refers_to=refers))
            case Held() as held:
                columns.append(_told(said, held))
    tables = tuple(
        replace(known, words=part.words, label="", synonyms=())
        for known, part in zip(derived.tables, parts, strict=True)
    )
    return Profile(schema.name, tables, tuple(columns))


def _told(known: ColumnProfile, held: Held) -> ColumnProfile:
    summed = held.kind in NUMBERS and held.type in ("integer", "real")
    return replace(
        known,
        kind=held.kind,
        unit="" if held.unit in MONEY else held.unit,
        aggregatable=summed,
        group="money" if held.unit in MONEY else known.group,
        refers_to="",
        values={value: (spoken,) for value, spoken in held.spoken.items()},
    )
