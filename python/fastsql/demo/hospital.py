"""The generator of the demo hospital: patients, stays and events that hang together, from a seed and nothing else."""

from __future__ import annotations

import random
import sqlite3
from collections import defaultdict
from collections.abc import Sequence
from datetime import datetime, timedelta
from pathlib import Path

from fastsql.demo import terminology as terms
from fastsql.demo.tables import HOSPITAL_DDL

NOW = "2100-12-31 23:59:00"
"""The present of the hospital: everything that has happened there lies before it, in the year 2100."""

_FIRST_PATIENT = 71_021_000
"""Numbers of patients, admissions and stays lie where MIMIC-IV has none."""
_PRICES = {
    "diagnoses_icd": (4.0, 9.0),
    "procedures_icd": (40.0, 160.0),
    "prescriptions": (3.0, 35.0),
    "labevents": (3.0, 18.0),
}
_END = datetime(2100, 12, 31, 23, 59)  # noqa: DTZ001 - a hospital's clock, as SQLite stores it
_START = datetime(2100, 1, 3)  # noqa: DTZ001


def create_hospital(path: str | Path, *, patients: int = 60, seed: int = 1) -> None:
    """Write the demo hospital to a new SQLite file. The same `patients` and `seed` give the same rows everywhere.

    Raises:
        FileExistsError: there is such a file already.
    """
    path = Path(path)
    path.touch(exist_ok=False)
    hospital = _Hospital(random.Random(seed))
    hospital.fill(patients)
    connection = sqlite3.connect(path)
    try:
        with connection:
            # All tables at once: each alone would wait for the disk.
            connection.executescript(f"BEGIN;{HOSPITAL_DDL}")
            for table, rows in hospital.rows.items():
                marks = ", ".join("?" * len(rows[0]))
                connection.executemany(f"INSERT INTO {table} VALUES ({marks})", rows)  # noqa: S608 - names of our own
    finally:
        connection.close()


class _Hospital:
    """Rows by table, in the making. Every row starts with its own number."""

    def __init__(self, rng: random.Random) -> None:
        self.rows: defaultdict[str, list[tuple[object, ...]]] = defaultdict(list)
        self._rng = rng
        self._items: dict[str, int] = {}
        self._next_id = {"hadm": 81_000_000, "stay": 91_000_000, "transfer": 96_000_000}
        self._prices: dict[object, float] = {}

    def fill(self, patients: int) -> None:
        self._fill_terminologies()
        subjects = sorted(self._rng.sample(range(_FIRST_PATIENT, _FIRST_PATIENT + 40 * patients), patients))
        for subject in subjects:
            self._patient(subject)

    # Terminologies ----------------------------------------------------------------------------------------------

    def _fill_terminologies(self) -> None:
        for code, title in terms.DIAGNOSES.items():
            self._add("d_icd_diagnoses", code, title)
        for code, title in terms.PROCEDURES.items():
            self._add("d_icd_procedures", code, title)
        for number, lab in enumerate(terms.LABS):
            self._items[lab.label] = 50_800 + number
            self._add("d_labitems", self._items[lab.label], lab.label)
        charted = (*terms.VITAL_SIGNS, terms.WEIGHT, terms.HEIGHT)
        groups = (("chartevents", charted), ("inputevents", terms.INPUTS), ("outputevents", terms.OUTPUTS))
        for table, items in groups:
            for item in items:
                self._items[item.label] = 220_000 + len(self._items)
                self._add("d_items", self._items[item.label], item.label, item.abbreviation, table)

    # Patients ---------------------------------------------------------------------------------------------------

    def _patient(self, subject: int) -> None:
        rng = self._rng
        age = rng.randint(21, 88)
        birth = datetime(2100 - age, rng.randint(1, 12), rng.randint(1, 28))  # noqa: DTZ001
        visits = rng.choices((1, 2, 3), (6, 3, 1))[0]
        gap = (_END - _START) / visits
        starts = [_START + gap * number + gap * rng.uniform(0.05, 0.5) for number in range(visits)]
        in_hospital = rng.random() < 0.08
        dies = not in_hospital and rng.random() < 0.1
        if in_hospital:
            starts[-1] = _END - timedelta(days=rng.uniform(1, 6))
        chronic = rng.sample(sorted(terms.DIAGNOSES), rng.randint(1, 2))
        person = {
            "insurance": rng.choice(terms.INSURANCES),
            "language": rng.choices(terms.LANGUAGES, (9, 1))[0],
            "marital": rng.choice(terms.MARITAL_STATES),
        }
        end: datetime | None = None
        for number, start in enumerate(starts):
            last = number == visits - 1
            end = None if last and in_hospital else start + timedelta(days=rng.uniform(1.5, 12))
            codes = sorted({*chronic, *rng.sample(sorted(terms.DIAGNOSES), rng.randint(1, 2))})
            self._admission(subject, age, start, end, codes, person, died=last and dies)
        died = end if dies else None
        self._add("patients", subject, rng.choice("fm"), _text(birth), _text(died))

    def _admission(
        self,
        subject: int,
        age: int,
        start: datetime,
        end: datetime | None,
        codes: Sequence[str],
        person: dict[str, str],
        *,
        died: bool,
    ) -> None:
        rng = self._rng
        stay = (subject, self._new_id("hadm"))
        location = "died" if died else rng.choice(terms.DISCHARGE_LOCATIONS)
        self._add(
            "admissions",
            *stay,
            _text(start),
            _text(end),
            rng.choice(terms.ADMISSION_TYPES),
            rng.choice(terms.ADMISSION_LOCATIONS),
            None if end is None else location,
            person["insurance"],
            person["language"],
            person["marital"],
            age,
        )
        until = end or _END
        self._conditions(stay, codes, start, until)
        self._prescriptions(stay, codes, start, until)
        self._labs(stay, start, until)
        self._cultures(stay, start, until)
        intensive = self._intensive_care(stay, start, until) if rng.random() < 0.6 else None
        self._transfers(stay, start, end, intensive)

    def _conditions(
        self, stay: tuple[int, int], codes: Sequence[str], start: datetime, until: datetime
    ) -> None:
        for code in codes:
            time = _text(self._between(start, until))
            row = self._add("diagnoses_icd", *stay, code, time)
            self._charge(stay, "diagnoses_icd", row, time, code)
            for procedure in terms.PROCEDURES_FOR.get(code, ()):
                if self._rng.random() < 0.5:
                    continue
                time = _text(self._between(start, until))
                row = self._add("procedures_icd", *stay, procedure, time)
                self._charge(stay, "procedures_icd", row, time, procedure)

    def _prescriptions(
        self, stay: tuple[int, int], codes: Sequence[str], start: datetime, until: datetime
    ) -> None:
        rng = self._rng
        common = [drug for drug in terms.DRUGS if not drug.for_codes and rng.random() < 0.5]
        fitting = [drug for drug in terms.DRUGS if set(drug.for_codes) & set(codes) and rng.random() < 0.8]
        for drug in (*common, *fitting):
            for _ in range(rng.choices((1, 2), (3, 1))[0]):
                begin = self._between(start, until).replace(minute=0, second=0)
                stop = min(begin + timedelta(hours=rng.choice((12, 24, 48, 96))), until)
                dose = (drug.name, drug.dose, drug.unit, drug.route)
                row = self._add("prescriptions", *stay, _text(begin), _text(max(stop, begin)), *dose)
                self._charge(stay, "prescriptions", row, _text(begin), drug.name)

    def _labs(self, stay: tuple[int, int], start: datetime, until: datetime) -> None:
        time = start + timedelta(hours=self._rng.uniform(0.5, 3))
        while time < until:
            for lab, frequency in zip(terms.LABS, _frequencies(len(terms.LABS)), strict=True):
                # A blood count is part of every round, a rare test is not.
                if self._rng.random() < frequency:
                    row = self._add(
                        "labevents", *stay, self._items[lab.label], _text(time), *self._measure(lab)
                    )
                    self._charge(stay, "labevents", row, _text(time), lab.label)
            time += timedelta(hours=self._rng.uniform(20, 30))

    def _cultures(self, stay: tuple[int, int], start: datetime, until: datetime) -> None:
        for specimen, test, organism in terms.SPECIMENS:
            if self._rng.random() < 0.35:
                found = organism if self._rng.random() < 0.4 else None
                self._add(
                    "microbiologyevents", *stay, _text(self._between(start, until)), specimen, test, found
                )

    def _intensive_care(
        self, stay: tuple[int, int], start: datetime, until: datetime
    ) -> tuple[str, datetime, datetime]:
        """Unit, begin and end of a stay in intensive care, after its events have been charted."""
        rng = self._rng
        begin = start + timedelta(hours=rng.uniform(1, 8))
        end = min(begin + timedelta(days=rng.uniform(0.6, 3)), until - timedelta(hours=1))
        unit = rng.choice(terms.ICU_UNITS)
        here = (*stay, self._new_id("stay"))
        self._add("icustays", *here, unit, unit, _text(begin), _text(end))
        height = self._measure(terms.HEIGHT)
        self._add("chartevents", *here, self._items[terms.HEIGHT.label], _text(begin), *height)
        weight, unit_of_weight = self._measure(terms.WEIGHT)
        hour = begin
        while hour < end:
            for sign in terms.VITAL_SIGNS:
                self._add("chartevents", *here, self._items[sign.label], _text(hour), *self._measure(sign))
            if hour.hour in (6, 7, 8, 9) or hour == begin:
                weight = round(weight + rng.uniform(-0.8, 0.6), 1)
                self._add(
                    "chartevents", *here, self._items[terms.WEIGHT.label], _text(hour), weight, unit_of_weight
                )
            given, out = rng.choice(terms.INPUTS), rng.choice(terms.OUTPUTS)
            self._add("inputevents", *here, _text(hour), self._items[given.label], *self._measure(given))
            self._add("outputevents", *here, _text(hour), self._items[out.label], *self._measure(out))
            hour = (hour + timedelta(hours=4)).replace(minute=0, second=0)
        return unit, begin, end

    def _transfers(
        self,
        stay: tuple[int, int],
        start: datetime,
        end: datetime | None,
        intensive: tuple[str, datetime, datetime] | None,
    ) -> None:
        ward = self._rng.choice(terms.WARDS)
        legs: list[tuple[str, str | None, datetime, datetime | None]] = []
        if intensive is None:
            legs.append(("admit", ward, start, end))
        else:
            unit, begin, finish = intensive
            legs += [("ed", "emergency department", start, begin), ("admit", unit, begin, finish)]
            legs.append(("transfer", ward, finish, end))
        if end is not None:
            legs.append(("discharge", None, end, None))
        for kind, unit_name, begin, finish_or_none in legs:
            number = self._new_id("transfer")
            self._add("transfers", *stay, number, kind, unit_name, _text(begin), _text(finish_or_none))

    # Pieces -----------------------------------------------------------------------------------------------------

    def _add(self, table: str, *cells: object) -> int:
        row = len(self.rows[table])
        self.rows[table].append((row, *cells))
        return row

    def _charge(self, stay: tuple[int, int], table: str, row: int, time: str | None, what: str) -> None:
        """Bill an event; the same thing has the same price for everybody."""
        low, high = _PRICES[table]
        price = self._prices.setdefault((table, what), round(self._rng.uniform(low, high), 2))
        self._add("cost", *stay, table, row, time, price)

    def _measure(self, what: terms.Measurement) -> tuple[float, str]:
        value = max(self._rng.gauss(what.mean, what.deviation), what.mean * 0.2)
        if what.unit == "%":
            value = min(value, 100)
        return float(round(value, what.digits)), what.unit

    def _between(self, start: datetime, end: datetime) -> datetime:
        return start + (end - start) * self._rng.random()

    def _new_id(self, kind: str) -> int:
        self._next_id[kind] += self._rng.randint(11, 97_000)
        return self._next_id[kind]


def _frequencies(number: int) -> list[float]:
    """How often each of several tests is made: the first nearly always, the last seldom."""
    return [0.95 - 0.8 * position / number for position in range(number)]


def _text(time: datetime | None) -> str | None:
    return None if time is None else time.strftime("%Y-%m-%d %H:%M:00")
