"""Designs out of text: a line a table, a line a column.

table ward | unit                       its names, in English or Chinese; `table?` is one that some hospitals do without
ward number | unit id: key              names: what it holds -- a description
head: ->? nurse                         a reference, which may be empty
kind: one of G=general *3, S=surgical   values, what they are called, how often they come
ward name: each north ward, day ward    a row each; `each code` for what is a code
beds: 4..60                             a number; "0.5..9.9 kg falling" has digits, a unit, and is mostly low
opened: begin day                       a date: birth, begin, next, end, due or death; a day or a time
phone: pattern 5##-####                 another for each row; `codes @##` are shared
notes: text quiet; full                 free text; `mix a, b + c, d` a name of two parts; `pool drugs` a list of words
head of staff: person                   or first name, family name, email, age, other person
closed: flag ?                          yes or no; a last ? leaves some cells empty
"""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from functools import lru_cache
from importlib.resources import files

from fastsql.profile.model import Kind
from fastsql.schema.model import Value
from fastsql.synthesis.contents import pools
from fastsql.synthesis.contents.fillings import (
    ROLES,
    Ages,
    Choice,
    Each,
    Mixed,
    Moments,
    Numbers,
    Others,
    Patterns,
    Persons,
    codes,
)
from fastsql.synthesis.contents.pools import Pool
from fastsql.synthesis.designs.model import (
    Design,
    DesignColumn,
    DesignError,
    DesignTable,
    Held,
    Key,
    Reference,
)
from fastsql.synthesis.schema.words import ENGLISH, LANGUAGES

_EMPTY = 0.2
MONEY = ("EUR", "USD", "元")
_RANGE = re.compile(r"(-?\d+(?:\.(\d+))?)\.\.(-?\d+(?:\.(\d+))?)(?: ([^ ]+))??( falling)?")
_NUMBERS: Mapping[str, Kind] = {"grade": "category", "year": "date", "id": "identifier"}
_PERSONS: Mapping[str, Held] = {
    "person": Held(Persons(), "name", "text"),
    "first name": Held(Persons("first"), "name", "text"),
    "family name": Held(Persons("family"), "name", "text"),
    "email": Held(Persons("email"), "identifier", "text"),
    "other person": Held(Others(), "name", "text"),
    "age": Held(Ages(), "measure", "integer", unit="years"),
    "flag": Held(Choice((0, 1)), "category", "flag"),
}
_POOLS: Mapping[str, Pool] = {
    name.lower(): pool for name, pool in vars(pools).items() if name.isupper() and isinstance(pool, tuple)
}


@lru_cache(maxsize=len(LANGUAGES))
def designs(language: str = ENGLISH) -> tuple[Design, ...]:
    """The designs of a language that come with the package, by name."""
    folder = files(__package__) / "files" / language
    found = [one for one in folder.iterdir() if one.name.endswith(".design")]
    return tuple(
        read_design(one.name.removesuffix(".design"), one.read_text(encoding="utf-8"))
        for one in sorted(found, key=lambda one: one.name)
    )


def read_design(name: str, text: str) -> Design:
    """The design of a text. Raises DesignError, whose `where` names the line."""
    tables: list[DesignTable] = []
    heads: list[tuple[str, bool, list[DesignColumn]]] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line, where = raw.strip(), f"{name}.design, line {number}"
        if not line or line.startswith("#"):
            continue
        if line.startswith(("table ", "table? ")):
            heads.append((line.partition(" ")[2], line.startswith("table?"), []))
        elif heads:
            heads[-1][2].append(_column(line, where))
        else:
            raise DesignError("a column stands before any table", where=where)
    tables = [DesignTable(_names(names), tuple(columns), optional) for names, optional, columns in heads]
    known = {table.names[0] for table in tables}
    for table in tables:
        for missing in sorted(table.references - known):
            raise DesignError(
                f"there is no table {missing!r}", where=f"{name}.design, table {table.names[0]}"
            )
    return Design(name, tuple(tables))


def _column(line: str, where: str) -> DesignColumn:
    line, _, description = line.partition(" -- ")
    names, colon, spec = line.partition(":")
    if not colon or not names.strip():
        raise DesignError(
            "it is neither a table nor a column", where=where, remedy="Write `name: what it holds`."
        )
    return DesignColumn(_names(names), _holds(spec.strip(), where), description.strip())


def _names(text: str) -> tuple[str, ...]:
    return tuple(name.strip() for name in text.split("|") if name.strip())


def _holds(spec: str, where: str) -> Key | Reference | Held:
    bare = spec.removesuffix("?").rstrip()
    word, _, rest = bare.partition(" ")
    if word == "key":
        return Key(rest)
    if word in ("->", "->?"):
        return Reference(rest, optional=word == "->?")
    held = _held(bare, word, rest)
    if held is None:
        raise DesignError(f"what it holds is not understood: {spec!r}", where=where)
    empty = _EMPTY if bare != spec else 0.0
    if isinstance(held.drawn, Moments):
        empty = {"death": 0.85}.get(held.drawn.role, empty)
    return Held(held.drawn, held.kind, held.type, held.unit, empty, held.spoken)


def _held(bare: str, word: str, rest: str) -> Held | None:
    if bare in _PERSONS:
        return _PERSONS[bare]
    if word in ROLES and rest in ("day", "time"):
        form = "%Y-%m-%d" if rest == "day" else "%Y-%m-%d %H:%M:%S"
        return Held(Moments(word, form), "date", rest)
    match word:
        case "one":
            return _choice(rest.removeprefix("of "))
        case "each":
            values = tuple(map(_value, _split(rest.removeprefix("code "))))
            kind = "integer" if all(isinstance(value, int) for value in values) else "text"
            return Held(Each(values), "code" if rest.startswith("code ") else "name", kind)
        case "pattern":
            return Held(Patterns(rest), "identifier", "text")
        case "codes":
            return Held(codes(rest, 14, random.Random(rest)), "code", "text")
        case "text":
            return Held(Choice(_split(rest, ";"), skew=0.4), "text", "text")
        case "mix":
            return Held(Mixed(tuple(_split(part) for part in rest.split("+"))), "name", "text")
        case "pool" if rest in _POOLS:
            return Held(Choice(_POOLS[rest][False]), "name", "text")
    known = _NUMBERS.get(word)
    found = _RANGE.fullmatch(rest if known else bare)
    return None if found is None else _number(found, known)


def _number(found: re.Match[str], known: Kind | None) -> Held:
    digits = len(found[2] or found[4] or "")
    unit = found[5] or ""
    drawn = Numbers(float(found[1]), float(found[3]), digits, falling=bool(found[6]))
    kind = known or ("amount" if unit in MONEY or not (digits or unit) else "measure")
    return Held(drawn, kind, "real" if digits else "integer", unit)


def _choice(text: str) -> Held:
    values: list[Value] = []
    weights: list[float] = []
    spoken: dict[Value, str] = {}
    for entry in _split(text):
        said, _, weight = entry.partition(" *")
        value, _, called = said.partition("=")
        values.append(_value(value))
        weights.append(float(weight or 1))
        if called:
            spoken[values[-1]] = called
    kind = "integer" if all(isinstance(value, int) for value in values) else "text"
    return Held(Choice(tuple(values), tuple(weights)), "category", kind, spoken=spoken)


def _value(text: str) -> Value:
    return int(text) if text.isascii() and text.isdigit() and (text == "0" or text[0] != "0") else text


def _split(text: str, mark: str = ",") -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(mark) if part.strip())
