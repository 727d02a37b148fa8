"""One schema of a design: some tables and columns left out, others merged, all of them named in one manner."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from fastsql.profile.derive import derive
from fastsql.profile.model import NUMBERS, ColumnProfile, Profile
from fastsql.schema import Schema
from fastsql.schema.names import fold
from fastsql.synthesis.contents.fillings import Choice, Each, Filling, Serial
from fastsql.synthesis.designs.model import (
    Design,
    DesignColumn,
    DesignError,
    DesignTable,
    Held,
    Key,
    Reference,
)
from fastsql.synthesis.designs.naming import Style, draw_style
from fastsql.synthesis.designs.reading import MONEY
from fastsql.synthesis.designs.reported import overlap
from fastsql.synthesis.schema.words import plural

MOST_SHARED = 0.2
"""The share of names of columns that no variant may have in common with a schema that is kept for reporting."""
_DRAWS = 30
_NO_NOUNS = frozenset("on at by until from in to into out for before after cd num".split())  # noqa: SIM905 - one line
"""How names end that are no things: a questioner says "arrival time", not "came at"."""
_DECODED = 0.6
"""The share of variants that hold what coded values are called."""
_TYPES: Mapping[str, Sequence[str]] = {
    "integer": ("INTEGER", "INT", "BIGINT"),
    "real": ("REAL", "DOUBLE PRECISION", "NUMERIC(10,2)", "FLOAT"),
    "text": ("TEXT", "VARCHAR(80)", "VARCHAR(255)"),
    "day": ("DATE",),
    "time": ("TIMESTAMP", "DATETIME"),
}


@dataclass(frozen=True)
class Variant:
    """A schema, as the parser is given it.

    `profile`: what its things are called by people, whether the schema tells or not; `fillings`: what its columns hold.
    """

    schema: Schema
    profile: Profile
    fillings: tuple[Filling, ...]


@dataclass(frozen=True)
class _Named:
    """A column with its name."""

    name: str
    words: str
    spoken: str
    column: DesignColumn


def draw_variant(design: Design, seed: str) -> Variant:
    """A variant that keeps clear of what is reported on; the same seed draws the same.

    Raises DesignError where none of many does.
    """
    for attempt in range(_DRAWS):
        variant = _draw(design, f"{design.name}_{seed}", random.Random(f"{design.name}/{seed}/{attempt}"))
        if shared_names(variant) < MOST_SHARED:
            return variant
    raise DesignError("its names are those of a schema that is reported on", where=f"design {design.name}")


def shared_names(variant: Variant) -> float:
    """The largest share of the names of columns that a set that is reported on has, as they are or spelled out."""
    spelled = [column.words for column in variant.schema.profile.columns]
    return max(*overlap(column.name for column in variant.schema.columns), *overlap(spelled))


def _draw(design: Design, name: str, rng: random.Random) -> Variant:
    style = draw_style(rng)
    tables = _shaped(_decoded(design) if rng.random() < _DECODED else design, rng)
    names = {table.names[0]: _chosen(table.names, rng) for table in tables}
    parts = {table.names[0]: _columns(table, names, style, rng) for table in tables}
    types = {kind: rng.choice(types) for kind, types in _TYPES.items()}
    flags = rng.choice(((0, 1), ("N", "Y")))
    declared = rng.random()
    told = rng.random() < (0.6 if style.cryptic else 0.25)
    entries: list[dict[str, Any]] = []
    keys: list[dict[str, Any]] = []
    taken: set[str] = set()
    for table in tables:
        table_name = style.table(names[table.names[0]])
        while fold(table_name) in taken:
            table_name += "2"
        taken.add(fold(table_name))
        entry = {
            "name": table_name,
            "columns": [
                _column_entry(one, tables, types, flags, rng, told=told) for one in parts[table.names[0]]
            ],
        }
        if told:
            entry |= {"label": names[table.names[0]], "synonyms": list(table.names)}
        entries.append(entry)
    for table, entry in zip(tables, entries, strict=True):
        for one in parts[table.names[0]]:
            match one.column.holds:
                case Reference(table=target) if declared < 0.7 or (declared < 0.85 and rng.random() < 0.5):
                    place = next(at for at, other in enumerate(tables) if other.names[0] == target)
                    keys.append(
                        {
                            "table": entry["name"],
                            "columns": [one.name],
                            "parent": entries[place]["name"],
                            "references": [parts[target][0].name],
                        }
                    )
    schema = Schema.from_dict({"db_id": name, "tables": entries, "foreign_keys": keys})
    flat = [(one, table) for table in tables for one in parts[table.names[0]]]
    profile = _profile(schema, tables, names, flat, parts, entries)
    fillings = tuple(_filling(one.column, flags, rng) for one, _ in flat)
    return Variant(schema, profile, fillings)


def _decoded(design: Design) -> Design:
    """The design with values as people say them in place of codes."""

    def plain(column: DesignColumn) -> DesignColumn:
        match column.holds:
            case Held(drawn=Choice() as choice, spoken=spoken) as held if spoken:
                values = tuple(spoken.get(value, value) for value in choice.values)
                return replace(
                    column, holds=replace(held, drawn=replace(choice, values=values), type="text", spoken={})
                )
        return column

    tables = (replace(table, columns=tuple(map(plain, table.columns))) for table in design.tables)
    return replace(design, tables=tuple(tables))


def _shaped(design: Design, rng: random.Random) -> tuple[DesignTable, ...]:
    """The tables of a variant: some left out, some lists merged into what refers to them."""
    gone = {table.names[0] for table in design.tables if table.optional and rng.random() < 0.3}
    lists = {
        table.names[0]: table
        for table in design.tables
        if not table.references and _listed(table) is not None and rng.random() < 0.25
    }
    rate = rng.choice((0.0, 0.15, 0.3))
    kept = []
    for table in design.tables:
        if table.names[0] in gone or table.names[0] in lists:
            continue
        columns = []
        for column in table.columns:
            match column.holds:
                case Reference(table=target) if target in gone:
                    continue
                case Reference(table=target) if target in lists:
                    columns.append(_merged(column, lists[target]))
                case Held(kind=kind) if kind != "name" and rng.random() < rate:
                    continue
                case _:
                    columns.append(column)
        # A table keeps something to ask for beside its key.
        kept.append(replace(table, columns=tuple(columns if len(columns) > 1 else table.columns)))
    return tuple(kept)


def _listed(table: DesignTable) -> DesignColumn | None:
    """The column that names the rows of a list."""
    named = [
        one for one in table.columns if isinstance(one.holds, Held) and isinstance(one.holds.drawn, Each)
    ]
    return next((one for one in named if isinstance(one.holds, Held) and one.holds.kind == "name"), None)


def _merged(column: DesignColumn, table: DesignTable) -> DesignColumn:
    """What stands in the place of a reference to a list: the name itself."""
    listed = _listed(table)
    assert listed is not None
    assert isinstance(listed.holds, Held)
    assert isinstance(listed.holds.drawn, Each)
    held = replace(listed.holds, drawn=Choice(listed.holds.drawn.values, skew=0.6), kind="category")
    return replace(column, holds=held)


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
                spoken = f"{own} id" if words == "id" else words.replace(" no", " number")
            case Reference(table=target):
                words = names[target] if words == target else words
                spoken = f"{words} {style.key_word}".replace(" no", " number")
                words = f"{words} {style.key_word}"
            case Held(type=kind):
                spoken = _spoken(words, column.names, rng, is_flag=kind == "flag")
        for name in dict.fromkeys((words, *column.names)):
            said = style.column(name, own)
            if fold(said) not in found:
                found[fold(said)] = _Named(said, name, spoken, column)
                break
    return tuple(found.values())


def _spoken(words: str, names: Sequence[str], rng: random.Random, *, is_flag: bool) -> str:
    """What people call a column whose name is made of `words`: "arrival time", where the database says "came at"."""
    if is_flag:
        return words if words.startswith(("is ", "has ", "was ")) else f"is {words}"
    nouns = [name for name in names if name.split()[-1] not in _NO_NOUNS] or list(names)
    singular = [name for name in nouns if plural(name) != name and " of " not in name] or nouns
    return words if words in singular and rng.random() < 0.6 else rng.choice(singular)


def _chosen(names: Sequence[str], rng: random.Random) -> str:
    return names[0] if rng.random() < 0.5 else rng.choice(names)


def _column_entry(
    one: _Named,
    tables: Sequence[DesignTable],
    types: Mapping[str, str],
    flags: tuple[Any, Any],
    rng: random.Random,
    *,
    told: bool,
) -> dict[str, Any]:
    entry: dict[str, Any] = {"name": one.name}
    match one.column.holds:
        case Key(pattern=pattern):
            entry |= {"type": types["text" if pattern else "integer"], "primary_key": True}
        case Reference(table=target):
            entry["type"] = types["text" if _key_of(target, tables).pattern else "integer"]
        case Held(type=kind) as held:
            entry["type"] = types["integer" if flags[1] == 1 else "text"] if kind == "flag" else types[kind]
            if told and held.spoken:
                entry["value_synonyms"] = [[value, [spoken]] for value, spoken in held.spoken.items()]
    if told:
        entry |= {"label": one.words, "synonyms": [name for name in one.column.names if name != one.words]}
        if one.column.description:
            entry["description"] = one.column.description
    elif one.column.description and rng.random() < 0.3:
        entry["description"] = one.column.description
    return entry


def _key_of(table: str, tables: Sequence[DesignTable]) -> Key:
    found = next(one for one in tables if one.names[0] == table)
    return next((one.holds for one in found.columns if isinstance(one.holds, Key)), Key())


def _filling(column: DesignColumn, flags: tuple[Any, Any], rng: random.Random) -> Filling:
    match column.holds:
        case Key(pattern=pattern):
            return Filling(Serial(rng.choice((1, 101, 4001)), pattern))
        case Held(drawn=drawn, type=kind, empty=empty):
            return Filling(Choice(flags) if kind == "flag" else drawn, empty)
    return Filling(Serial())  # of a reference, which rows are given


def _profile(
    schema: Schema,
    tables: Sequence[DesignTable],
    names: Mapping[str, str],
    flat: Sequence[tuple[_Named, DesignTable]],
    parts: Mapping[str, Sequence[_Named]],
    entries: Sequence[Mapping[str, Any]],
) -> Profile:
    """What a hospital knows of its schema."""
    derived = derive(schema)
    place = {table.names[0]: number for number, table in enumerate(tables)}
    columns = []
    for known, (one, _) in zip(derived.columns, flat, strict=True):
        # One word for one thing: a question that calls it by two would seem to be about two.
        said = replace(known, words=one.spoken, label="", synonyms=(), description=one.column.description)
        match one.column.holds:
            case Key():
                columns.append(replace(said, kind="identifier", aggregatable=False))
            case Reference(table=target):
                refers = f"{entries[place[target]]['name']}.{parts[target][0].name}"
                columns.append(replace(said, kind="identifier", aggregatable=False, refers_to=refers))
            case Held() as held:
                columns.append(_told(said, held))
    rows = tuple(
        replace(known, words=names[table.names[0]], label="", synonyms=())
        for known, table in zip(derived.tables, tables, strict=True)
    )
    return Profile(schema.name, rows, tuple(columns))


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
