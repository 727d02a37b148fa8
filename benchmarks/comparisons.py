"""Is a comparison read as it is said: "at least 80", ">= 80", "80 or more", "no less than 80"?

    python benchmarks/comparisons.py                       some three hundred questions over two databases, half a minute
    python benchmarks/comparisons.py --show --json comparisons.json

Two small databases that nothing was trained on, a care home's and a water authority's, are asked how many rows meet one
condition, in many words for each comparison: of amounts, dates, years and texts. Values stand in the rows, so that each
comparison has a result of its own. Most of the words are lists' that parsing and training know
(`fastsql.linking.vocabulary.english`); "seldom" are words that training does not write.

right        first hypotheses that return what gold's SQL does, in percent
as decoded   the same with the comparisons that the model chose, before those take their place that the question plainly says
             (`fastsql.parser.as_said`)
given        answers at penalty 10; of these, those that are right
"""

from __future__ import annotations

import argparse
import random
import sqlite3
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path

import fastsql
from fastsql import Result, Schema
from fastsql.cli.console import Console
from fastsql.grammar import read_path, render

sys.path.insert(0, str(Path(__file__).parent))
from record import machine, save

PENALTY = 10.0
TABLES = """
CREATE TABLE wards (ward_id INTEGER PRIMARY KEY, ward_name TEXT, floor INTEGER);
CREATE TABLE residents (
  resident_id INTEGER PRIMARY KEY, full_name TEXT, blood_type TEXT, weight REAL, moved_in DATE,
  ward_id INTEGER REFERENCES wards (ward_id)
);
CREATE TABLE stations (station_id INTEGER PRIMARY KEY, river TEXT, altitude INTEGER);
CREATE TABLE samples (
  sample_id INTEGER PRIMARY KEY, method TEXT, nitrate REAL, taken_on DATE,
  station_id INTEGER REFERENCES stations (station_id)
);
"""
ROWS = 300

BEFORE = {
    ">": ("above", "over", "more than", "greater than", "higher than", "larger than", "in excess of"),
    ">=": ("at least", "no less than", "not less than", "not below", "greater than or equal to"),
    "<": ("below", "under", "less than", "lower than", "smaller than"),
    "<=": ("at most", "no more than", "not more than", "not above", "up to", "less than or equal to"),
    "=": ("exactly", "equal to"),
    "<>": ("other than", "different from", "different than", "not equal to"),
}
SYMBOLS = {">": (">",), ">=": (">=", "≥"), "<": ("<",), "<=": ("<=", "≤"), "=": ("=",), "<>": ("!=", "<>")}
VERBS = {
    ">": ("exceeds",),
    "<=": ("does not exceed",),
    "=": ("equals",),
    "<>": ("differs from", "is not", "isn't", "does not equal"),
}
BEHIND = {
    ">=": ("or more", "or higher", "or above", "and above", "or over"),
    "<=": ("or less", "or lower", "or below", "and below", "or under"),
}
DAYS = {
    ">": ("after", "later than", "past"),
    ">=": ("since", "on or after", "starting from", "not before", "no earlier than"),
    "<": ("before", "prior to", "earlier than"),
    "<=": ("until", "up to", "on or before", "no later than", "not after"),
    "=": ("on",),
    "<>": ("not on",),
}
YEARS = {
    ">": ("after", "later than"),
    ">=": ("since", "not before", "no earlier than"),
    "<": ("before", "prior to", "earlier than"),
    "<=": ("until", "up to", "no later than", "not after"),
    "=": ("in",),
    "<>": ("not in",),
}
TEXTS = {"=": ("equal to",), "<>": ("not", "other than", "different from", "different than", "not equal to")}
SELDOM = {
    ">": ("exceeding", "beyond", "bigger than"),
    ">=": ("no lower than", "no smaller than"),
    "<": ("inferior to",),
    "<=": ("no higher than", "no greater than", "not exceeding", "not higher than"),
    "<>": ("unequal to",),
}
"""Words for amounts that training does not write."""


@dataclass(frozen=True)
class Place:
    """A table that is asked, which is its rows' noun; its columns of amounts, dates and texts, and the verb of the dates."""

    table: str
    amount: str
    date: str
    text: str
    verb: str

    def count(self, compared: str, sign: str, value: str) -> str:
        """SQL for how many rows meet a condition."""
        return f"SELECT COUNT(*) FROM {self.table} WHERE {compared} {sign} {value}"


PLACES = (
    Place("residents", "weight", "moved_in", "blood_type", "moved in"),
    Place("samples", "nitrate", "taken_on", "method", "were taken"),
)


@dataclass(frozen=True)
class Question:
    """A question of a group with the SQL that answers it."""

    group: str
    text: str
    sql: str


@dataclass(frozen=True)
class Outcome:
    """Whether a question's query is right, whether it would be with the model's own comparisons, and whether it is given."""

    question: Question
    right: bool
    decoded: bool
    given: bool


def write_database(path: Path) -> None:
    """Both databases in one SQLite file; the same each time."""
    rng = random.Random(7)
    days = [
        f"20{year}-{month:02d}-{day:02d}"
        for year in range(14, 22)
        for month in range(1, 13)
        for day in (3, 17)
    ]
    with closing(sqlite3.connect(path)) as database, database:
        database.executescript(TABLES)
        wards = [
            (number, name, number % 3) for number, name in enumerate(("Maple", "Cedar", "Willow", "Birch"), 1)
        ]
        rivers = [
            (number, name, 90 * number) for number, name in enumerate(("Arrow", "Wye", "Teme", "Lugg"), 1)
        ]
        database.executemany("INSERT INTO wards VALUES (?, ?, ?)", wards)
        database.executemany("INSERT INTO stations VALUES (?, ?, ?)", rivers)
        for number in range(1, ROWS + 1):
            place, day = rng.randint(1, 4), rng.choice(days)
            who, blood = (
                f"{rng.choice(('Ann', 'Bo', 'Cleo', 'Dan'))} Reed {number}",
                rng.choice(("A", "B", "AB", "zero")),
            )
            row = (number, who, blood, rng.randint(45, 115), day, place)
            database.execute("INSERT INTO residents VALUES (?, ?, ?, ?, ?, ?)", row)
            method = rng.choice(("grab", "composite", "probe", "strip"))
            sample = (number, method, rng.randint(5, 70), day, place)
            database.execute("INSERT INTO samples VALUES (?, ?, ?, ?, ?)", sample)


def questions(database: sqlite3.Connection) -> Iterator[Question]:
    """All questions. The values that they compare with stand in the rows, in their middle."""
    for place in PLACES:
        yield from _of_amounts(place, _median(database, place, place.amount))
        yield from _of_times(place, _median(database, place, place.date))
        yield from _of_texts(place, _median(database, place, place.text))


def _of_amounts(place: Place, value: str) -> Iterator[Question]:
    rows, amount = place.table, place.amount
    for group, words in (("amounts", BEFORE), ("amounts, seldom", SELDOM)):
        for sign, said in _each(words):
            sql = place.count(amount, sign, value)
            yield Question(group, f"How many {rows} have a {amount} {said} {value}?", sql)
            yield Question(group, f"Count the {rows} whose {amount} is {said} {value}", sql)
    for sign, said in _each(SYMBOLS):
        sql = place.count(amount, sign, value)
        yield Question("symbols", f"How many {rows} have a {amount} {said} {value}?", sql)
        yield Question("symbols", f"number of {rows} with {amount} {said}{value}", sql)
    for sign, said in _each(VERBS):
        sql = place.count(amount, sign, value)
        yield Question("verbs", f"How many {rows} are there whose {amount} {said} {value}?", sql)
    for sign, said in _each(BEHIND):
        sql = place.count(amount, sign, value)
        yield Question("behind", f"How many {rows} have a {amount} of {value} {said}?", sql)
        yield Question("behind", f"Count the {rows} whose {amount} is {value} {said}", sql)


def _of_times(place: Place, day: str) -> Iterator[Question]:
    year, of_year = day[:4], f"STRFTIME('%Y', {place.date})"
    for group, words, compared, value in (("dates", DAYS, place.date, day), ("years", YEARS, of_year, year)):
        for sign, said in _each(words):
            sql = place.count(compared, sign, f"'{value}'")
            yield Question(group, f"How many {place.table} {place.verb} {said} {value}?", sql)


def _of_texts(place: Place, text: str) -> Iterator[Question]:
    spoken = place.text.replace("_", " ")
    for sign, said in _each(TEXTS):
        sql = place.count(place.text, sign, f"'{text}'")
        yield Question("texts", f"How many {place.table} are there whose {spoken} is {said} {text}?", sql)
        if said != "not":
            yield Question("texts", f"Count the {place.table} with a {spoken} {said} {text}", sql)


def _median(database: sqlite3.Connection, place: Place, column: str) -> str:
    found = database.execute(f"SELECT {column} FROM {place.table} ORDER BY {column}").fetchall()
    value = found[len(found) // 2][0]
    return f"{value:g}" if isinstance(value, float) else str(value)


def _each(words: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    yield from ((sign, one) for sign, said in words.items() for one in said)


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table; write the same as JSON where asked."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--model", default="ehr-en", help="a bundled model or a bundle's folder")
    parser.add_argument(
        "--show", action="store_true", help="show the questions that are read wrongly, with their SQL"
    )
    parser.add_argument("--json", type=Path)
    options = parser.parse_args(arguments)
    model, found = fastsql.load(options.model, suggest=False), []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "places.sqlite"
        write_database(path)
        schema = Schema.from_sqlite(path, max_values=12)
        values = fastsql.ValueDictionary.from_database(path, schema)
        with closing(sqlite3.connect(path)) as database:
            asked = list(questions(database))
            for one in Console().track(asked, "questions", len(asked)):
                result = model.parse(one.text, schema, values=values, penalty=PENALTY)
                gold = _rows(database, one.sql)
                right, decoded = (_rows(database, sql) == gold for sql in (result.best, _decoded(result)))
                found.append(Outcome(one, right, decoded, not result.abstained))
                if options.show and not right:
                    print(f"{one.text} | {result.best}")
    groups = dict.fromkeys(one.group for one in asked)
    table = [figures(group, [row for row in found if row.question.group == group]) for group in groups]
    table.append(figures("all", found))
    columns = tuple(table[0])
    print(machine())
    Console(out=sys.stdout).table(columns, [[str(row[column]) for column in columns] for row in table])
    save(options.json, {"model": options.model, "rows": table}, __file__, arguments)
    return 0


def figures(group: str, rows: Sequence[Outcome]) -> dict[str, object]:
    """How many questions there are, percentages right, how many are answered at `PENALTY`, and of these right."""
    return {
        "group": group,
        "n": len(rows),
        "right": round(100 * sum(row.right for row in rows) / len(rows), 1),
        "as decoded": round(100 * sum(row.decoded for row in rows) / len(rows), 1),
        "given": sum(row.given for row in rows),
        "of them right": sum(row.given and row.right for row in rows),
    }


def _decoded(result: Result) -> str | None:
    """The SQL of the first hypothesis with the comparisons that the model chose; the same for a refusal without one."""
    written = getattr(result.background, "written", None)
    if written is None:
        return result.best
    path = written.decoded.search.finished[written.number].path
    return render(read_path(path, written.linked.space), written.schema)


def _rows(database: sqlite3.Connection, sql: str | None) -> list[str] | None:
    return None if sql is None else sorted(map(repr, database.execute(sql).fetchall()))


if __name__ == "__main__":
    sys.exit(main())
