"""A generated hospital to try queries on, and values that occur there."""

from __future__ import annotations

import random
import sqlite3
import tempfile
from collections import defaultdict
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType

from fastsql.demo import NOW, create_hospital
from fastsql.errors import ExecutionError
from fastsql.evaluation.gold_sql import normalise_sql
from fastsql.execution import ReadOnlyExecutor
from fastsql.execution.executor import check_alive
from fastsql.execution.rows import Cell
from fastsql.synthesis.hospital.kinds import BODY_MEASURES, KINDS
from fastsql.synthesis.hospital.scope import Window
from fastsql.synthesis.hospital.values import Values, Vocabulary

_NOWS = (NOW, "2101-01-01 23:59:00", "2101-01-20 12:00:00")
"""The hospital's present, the day after, and a time of the next year: so that "yesterday" and "last year" have events."""
_INDEXED = (
    "diagnoses_icd",
    "procedures_icd",
    "labevents",
    "prescriptions",
    "cost",
    "microbiologyevents",
    "transfers",
)


@dataclass(frozen=True)
class _Happening:
    """One event of a patient: its name, time and number."""

    name: str
    time: str
    number: float | None


class Ward:
    """The demo hospital in a temporary file; patients who are still there are still in intensive care. A context manager.

    `path`: the file, which is gone after the block.
    """

    def __init__(self, patients: int = 90, seed: int = 5) -> None:
        self._folder = tempfile.TemporaryDirectory()
        self.path = Path(self._folder.name) / "ward.sqlite"
        create_hospital(self.path, patients=patients, seed=seed)
        with closing(sqlite3.connect(self.path)) as connection, connection:
            connection.execute("PRAGMA synchronous = OFF")  # the file need not outlive the machine
            connection.execute(
                "UPDATE icustays SET outtime = NULL WHERE hadm_id IN "
                "( SELECT hadm_id FROM admissions WHERE dischtime IS NULL )"
            )
            for table in _INDEXED:
                connection.execute(f"CREATE INDEX {table}_visit ON {table} (hadm_id)")
            for table in ("chartevents", "inputevents", "outputevents"):
                connection.execute(f"CREATE INDEX {table}_stay ON {table} (stay_id, itemid)")
            self._happenings = _read_happenings(connection)
            present = "SELECT DISTINCT subject_id FROM admissions WHERE dischtime IS NULL"
            self._present = sorted(row[0] for row in connection.execute(present))
        self._executor = ReadOnlyExecutor(self.path, time_limit=5.0)

    def values(self, rng: random.Random) -> WardValues:
        """Values of one patient here, now and then of one who is still in hospital."""
        patients = self._present if rng.random() < 0.45 and self._present else sorted(self._happenings)
        patient = rng.choice(patients)
        return WardValues(rng, patient, self._happenings[patient])

    def run(self, sql: str, attempt: int = 0) -> list[tuple[Cell, ...]]:
        """The rows of a query at one of three presents.

        Raises ExecutionError where it does not run, DatabaseGoneError where the ward is gone.
        """
        try:
            return list(self._executor.run(normalise_sql(sql, _NOWS[attempt % len(_NOWS)])).rows)
        except ExecutionError:
            check_alive(self._executor)
            raise

    def __enter__(self) -> Ward:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._executor.close()
        self._folder.cleanup()


class WardValues(Values):
    """Values of one patient of the ward: items that the patient had, and filters on time around the last item drawn."""

    def __init__(self, rng: random.Random, patient: int, happenings: dict[str, list[_Happening]]) -> None:
        super().__init__(Vocabulary.of_demo(), rng)
        self._patient = patient
        self._happenings = happenings
        self._anchor = rng.choice(happenings["diagnosis"])

    def patient(self) -> int:
        """The patient's number."""
        return self._patient

    def name(self, kind: str) -> str:
        """The name of something that the patient had; of anything where there is nothing of this kind."""
        known = [one for one in self._happenings.get(kind, ()) if one.name not in BODY_MEASURES]
        if not known:
            return super().name(kind)
        self._anchor = self.rng.choice(known)
        return self._anchor.name

    def names(self, kind: str, number: int) -> tuple[str, ...]:
        """Several names; every other time, of what happened at one time."""
        by_time: defaultdict[str, set[str]] = defaultdict(set)
        for one in self._happenings.get(kind, ()):
            by_time[one.time].add(one.name)
        times = sorted(time for time, names in by_time.items() if len(names) >= number)
        if not times or self.rng.random() < 0.5:
            known = sorted({one.name for one in self._happenings.get(kind, ())})
            own = self.rng.sample(known, min(number, len(known)))
            others = (Values(self.vocabulary, self.rng).name(kind) for _ in range(100 * number))
            # The patient may have had fewer than are asked for.
            return tuple(dict.fromkeys((*own, *others)))[:number]
        time = self.rng.choice(times)
        self._anchor = _Happening("", time, None)
        return tuple(self.rng.sample(sorted(by_time[time]), number))

    def number(self, kind: str, item: str) -> float:
        """A number that was measured of the item, if it was."""
        found = [
            one.number
            for one in self._happenings.get(kind, ())
            if one.name == item and one.number is not None
        ]
        return self.rng.choice(found) if found else super().number(kind, item)

    def window(self, kind: str) -> Window:
        """A filter on time with the date of the last item drawn."""
        year, month, day = (int(part) for part in self._anchor.time[:10].split("-"))
        if kind.startswith("since"):
            month = self.rng.randint(1, month)
        if kind.startswith("before"):
            year, month = year + 1, self.rng.randint(1, 12)
        if kind.startswith("until"):
            return Window(kind, count=1 if kind == "until_year" else self.rng.randint(1, 5))
        highest = {"ago_year": 3, "ago_month": 14, "ago_day": 400}.get(kind, 1)
        return Window(kind, year, month, day, self.rng.randint(max(1, highest // 2), highest))

    def moments(self, kind: str, item: str, patient: int) -> tuple[str, str]:
        """Two times at which the item was measured."""
        times = sorted({one.time for one in self._happenings.get(kind, ()) if one.name == item})
        if len(times) < 2:
            return super().moments(kind, item, patient)
        earlier = self.rng.randrange(len(times) - 1)
        return times[earlier + 1], times[earlier]


def _read_happenings(connection: sqlite3.Connection) -> dict[int, dict[str, list[_Happening]]]:
    found: dict[int, dict[str, list[_Happening]]] = defaultdict(lambda: defaultdict(list))
    for kind in KINDS.values():
        name = f"{kind.terms}.{kind.title}" if kind.terms else kind.what
        joined = f" JOIN {kind.terms} ON {kind.what} = {kind.terms}.{kind.key}" if kind.terms else ""
        number = kind.column(kind.number) if kind.number else "NULL"
        columns = f"{kind.column('subject_id')}, {name}, {kind.when}, {number}"
        named = f"WHERE {name} IS NOT NULL ORDER BY {kind.column('row_id')}"
        sql = f"SELECT {columns} FROM {kind.table}{joined} {named}"
        for patient, text, time, value in connection.execute(sql):
            found[patient][kind.name].append(_Happening(text, time, None if value is None else float(value)))
    return {patient: dict(kinds) for patient, kinds in found.items()}
