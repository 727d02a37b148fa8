"""Where the values of synthetic questions come from: questions of a training set, terminologies, the demo hospital's words.

Never from patients' rows: of a database only the terminology tables (`d_*`) are read.
"""

from __future__ import annotations

import random
import re
import sqlite3
from collections.abc import Iterable, Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

from fastsql.demo import terminology
from fastsql.errors import FastSQLError
from fastsql.synthesis.hospital.kinds import VITAL_SIGNS
from fastsql.synthesis.hospital.scope import Window

_COMPARED = re.compile(r"(\w+)\.(\w+) = '((?:[^']|'')+)'(?: AND d_items\.linksto = '(\w+)')?")
_LISTED = re.compile(r"prescriptions\.drug IN \( ?('.*?') ?\)")
_USABLE = re.compile(r"[^\s\[\]{}|?'\"](?:[^{}|?'\"]*[^\s{}|?'\",;])?")
_LONGEST = 110
_SHARE_OF_TERMINOLOGY = 0.35
_COLUMNS = {
    ("d_icd_diagnoses", "long_title"): "diagnosis",
    ("d_icd_procedures", "long_title"): "procedure",
    ("prescriptions", "drug"): "drug",
    ("prescriptions", "route"): "route",
    ("d_labitems", "label"): "lab",
    ("microbiologyevents", "spec_type_desc"): "specimen",
    ("transfers", "careunit"): "careunit",
}
_ITEM_TABLES = {"inputevents": "input", "outputevents": "output"}
_USUAL = {sign.label: (sign.mean, sign.deviation) for sign in (*terminology.VITAL_SIGNS, *terminology.LABS)}


class VocabularyError(FastSQLError):
    """A vocabulary lacks a kind of names, or its source cannot be read."""


@dataclass(frozen=True)
class Vocabulary:
    """Names by kind. `seen` stand in questions of a training set, `terms` in terminologies; one of both may lack a kind."""

    seen: Mapping[str, tuple[str, ...]]
    terms: Mapping[str, tuple[str, ...]]

    @classmethod
    def of_demo(cls) -> Vocabulary:
        """The words of the demo hospital."""
        words = {
            "diagnosis": terminology.DIAGNOSES.values(),
            "procedure": terminology.PROCEDURES.values(),
            "drug": [drug.name for drug in terminology.DRUGS],
            "route": [drug.route for drug in terminology.DRUGS],
            "lab": [lab.label for lab in terminology.LABS],
            "specimen": [specimen for specimen, _, _ in terminology.SPECIMENS],
            "careunit": (*terminology.WARDS, *terminology.ICU_UNITS),
            "input": [item.label for item in terminology.INPUTS],
            "output": [item.label for item in terminology.OUTPUTS],
        }
        return cls({kind: tuple(sorted(set(names))) for kind, names in words.items()}, {})

    @classmethod
    def collect(cls, queries: Iterable[str], database: Path | None = None) -> Vocabulary:
        """The names that gold queries compare with, and those of a database's terminology tables.

        What neither has comes from the demo hospital.

        Raises:
            VocabularyError: the database has no such tables.
        """
        seen: dict[str, set[str]] = {}
        for sql in queries:
            for table, column, text, linked in _COMPARED.findall(sql):
                kind = _ITEM_TABLES.get(linked) if linked else _COLUMNS.get((table, column))
                if kind is not None:
                    seen.setdefault(kind, set()).add(text)
            for listed in _LISTED.findall(sql):
                seen.setdefault("drug", set()).update(re.findall(r"'((?:[^']|'')*)'", listed))
        for kind, names in cls.of_demo().seen.items():
            seen.setdefault(kind, set(names))
        terms = {} if database is None else _read_terms(database)
        return cls({kind: _usable(names) for kind, names in seen.items()}, terms)

    def draw(self, kind: str, rng: random.Random) -> str:
        """A name. Raises VocabularyError for a kind without names."""
        terms, seen = self.terms.get(kind, ()), self.seen.get(kind, ())
        names = terms if terms and (not seen or rng.random() < _SHARE_OF_TERMINOLOGY) else seen
        if not names:
            raise VocabularyError("has no names of this kind", where=f"vocabulary of {kind!r}")
        return rng.choice(names)


def _usable(names: Iterable[str]) -> tuple[str, ...]:
    """Names that read well in a question: of one line, not too long, without signs that would end a phrase."""
    return tuple(sorted({name for name in names if len(name) <= _LONGEST and _USABLE.fullmatch(name)}))


def _read_terms(database: Path) -> dict[str, tuple[str, ...]]:
    queries = {
        "diagnosis": "SELECT long_title FROM d_icd_diagnoses",
        "procedure": "SELECT long_title FROM d_icd_procedures",
        "lab": "SELECT label FROM d_labitems",
        "input": "SELECT label FROM d_items WHERE linksto = 'inputevents'",
        "output": "SELECT label FROM d_items WHERE linksto = 'outputevents'",
    }
    try:
        with closing(sqlite3.connect(f"{database.resolve().as_uri()}?mode=ro", uri=True)) as connection:
            return {
                kind: _usable(str(row[0]).lower() for row in connection.execute(sql) if row[0])
                for kind, sql in queries.items()
            }
    except sqlite3.Error as error:
        raise VocabularyError(
            f"has no terminology tables ({type(error).__name__})",
            where=str(database),
            remedy="Give a database with the d_* tables of MIMIC-IV.",
        ) from error


class Values:
    """Draws the values of one meaning. Its randomness is its own, so that the same structure can be filled again."""

    def __init__(self, vocabulary: Vocabulary, rng: random.Random) -> None:
        self.vocabulary = vocabulary
        self.rng = rng

    def patient(self) -> int:
        """A patient's number, eight digits as in MIMIC-IV."""
        return 10_000_000 + self.rng.randrange(9_000_000)

    def other_patient(self) -> int:
        """The number of a second patient."""
        return self.patient()

    def name(self, kind: str) -> str:
        """The name of an item."""
        if kind == "vital":
            return self.rng.choice(sorted(VITAL_SIGNS))
        return self.vocabulary.draw(kind, self.rng)

    def names(self, kind: str, number: int) -> tuple[str, ...]:
        """Several different names of one kind."""
        found: dict[str, None] = {}
        for _ in range(100 * number):
            if len(found) == number:
                break
            found.setdefault(self.name(kind))
        if len(found) < number:
            raise VocabularyError(f"has fewer than {number} names", where=f"vocabulary of {kind!r}")
        return tuple(found)

    def number(self, kind: str, item: str) -> float:
        """A value that could have been measured of an item."""
        if item not in _USUAL and kind == "lab":
            return round(
                self.rng.choice((2.0, 20.0, 200.0)) * self.rng.uniform(0.2, 1.8), self.rng.choice((0, 1, 1))
            )
        mean, deviation = _USUAL.get(item, (80.0, 20.0))
        digits = 0 if mean > 45 or kind == "vital" else 1
        return float(round(abs(self.rng.gauss(mean, deviation)), digits))

    def window(self, kind: str) -> Window:
        """A filter on time of a kind, with its dates and counts."""
        year = 2100 if self.rng.random() < 0.6 else self.rng.randint(1990, 2110)
        unit = kind.partition("_")[2] if kind.startswith(("ago", "until")) else ""
        highest = {"year": 3, "month": 30, "day": 400}.get(unit, 1)
        return Window(
            kind, year, self.rng.randint(1, 12), self.rng.randint(1, 28), self.rng.randint(1, highest)
        )

    def moments(self, kind: str, item: str, patient: int) -> tuple[str, str]:
        """Two times at which an item may have been measured, the later one first."""
        del kind, item, patient
        date = f"2100-{self.rng.randint(1, 12):02d}"
        day = self.rng.randint(2, 28)
        hours = [
            f"{self.rng.randint(0, 23):02d}:{self.rng.choice((0, 0, self.rng.randint(0, 59))):02d}:00"
            for _ in "12"
        ]
        return f"{date}-{day:02d} {hours[0]}", f"{date}-{day - 1:02d} {hours[1]}"
