"""Does the same program give the same rows in every dialect?

    python benchmarks/dialects.py                              gold of ehrsql2024 valid, PostgreSQL and DuckDB
    python benchmarks/dialects.py --every 10 --dialect duckdb --json dialects.json

FASTSQL_DATA names the folder of the data sets. No model takes part: gold SQL becomes a program, the program SQL for SQLite
and for another dialect, and both run on the same data. There times lie in columns of type TIMESTAMP, numbers in BIGINT,
DOUBLE or DECIMAL, text in TEXT, by the types that the SQLite file declares.

Rows are compared as a multiset, all of them. Numbers are rounded to three decimals, TRUE is 1, times are their ISO text;
the order of rows does not count, since that of equal keys is free. What differs is listed with its example.

PostgreSQL is a private server of its own (see `tests/databases.py`), which needs its programs installed, and psycopg.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

from fastsql.cli.console import Console
from fastsql.datasets import DatabaseFiles, Example, read_examples, read_schemas
from fastsql.errors import DialectError, FastSQLError
from fastsql.grammar import ConversionError, Program, render, sql_to_program
from fastsql.schema import Schema

sys.path.insert(0, str(Path(__file__).parent))
from engines import DIALECTS, ENGINES, DatabaseMissingError, EngineError, Row, Run
from record import save

NOW = "2100-12-31 23:59:00"


@dataclass
class Tally:
    """What was counted for one dialect."""

    queries: int = 0
    same: int = 0
    differences: dict[str, list[str]] = field(default_factory=dict)
    render_ms: float = 0.0
    run_ms: float = 0.0

    def differ(self, reason: str, example: str) -> None:
        """Counts a query that gives other rows, or none."""
        self.differences.setdefault(reason, []).append(example)

    def report(self) -> dict[str, Any]:
        """The figures; times are means a query."""
        count = max(self.queries, 1)
        return {
            "queries": self.queries,
            "same": self.same,
            "same_percent": round(100 * self.same / count, 2),
            "ms": {"render": round(self.render_ms / count, 2), "run": round(self.run_ms / count, 1)},
            "differences": self.differences,
        }


def main(arguments: Sequence[str] | None = None) -> int:
    """Print a table and what differs; write the same as JSON where asked."""
    options = _options().parse_args(arguments)
    console = Console()
    folder = options.data / options.set
    if not (folder / f"{options.split}.json").is_file():
        print(f"no {options.split}.json in {folder}; set FASTSQL_DATA or give --data", file=sys.stderr)
        return 1
    examples = [e for e in read_examples(folder / f"{options.split}.json") if e.answerable and e.runs]
    examples = examples[:: options.every]
    schemas = read_schemas(folder / "schemas.json", databases={e.db_id for e in examples})
    tallies = {dialect: Tally() for dialect in options.dialect}
    unconverted: Counter[str] = Counter()
    with DatabaseFiles(options.databases or folder, list(schemas)) as files:
        for db_id, published in schemas.items():
            path = files.path(db_id)
            if path is None:
                print(f"no database of {db_id} in {folder}; give --databases", file=sys.stderr)
                return 1
            schema = Schema.from_sqlite(path, max_values=0).with_constants(published.constants)
            asked = list(_programs([e for e in examples if e.db_id == db_id], schema, unconverted))
            with ENGINES["sqlite"](schema, path) as run:
                expected = [
                    _rows(run, render(program, schema, now=options.now))
                    for _, program in console.track(asked, "sqlite", len(asked))
                ]
            for dialect, tally in tallies.items():
                with ENGINES[dialect](schema, path) as run:
                    for (example, program), rows in console.track(
                        list(zip(asked, expected, strict=True)), dialect, len(asked)
                    ):
                        compare(example, program, rows, schema, dialect, run, options.now, tally)
    reports = {dialect: tally.report() for dialect, tally in tallies.items()}
    _print(console, reports, unconverted)
    content = {"set": options.set, "split": options.split, "now": options.now, "every": options.every}
    content |= {"unconverted": dict(unconverted), "dialects": reports}
    save(options.json, content, __file__, arguments)
    return 0


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--set", default="ehrsql2024", help="name of the data set's folder")
    parser.add_argument("--split", default="valid", help="file without .json")
    parser.add_argument("--dialect", nargs="+", choices=DIALECTS, default=DIALECTS)
    parser.add_argument("--every", type=int, default=1, help="take every so manieth query")
    parser.add_argument("--data", type=Path, default=Path(os.environ.get("FASTSQL_DATA", ".")))
    parser.add_argument("--databases", type=Path, help="SQLite files; those of the set's folder")
    parser.add_argument("--now", default=NOW, help='the time that "now" means')
    parser.add_argument("--json", type=Path)
    return parser


def _programs(
    examples: Sequence[Example], schema: Schema, unconverted: Counter[str]
) -> Iterator[tuple[Example, Program]]:
    for example in examples:
        program = _program(example, schema, unconverted)
        if program is not None:
            yield example, program


def _program(example: Example, schema: Schema, unconverted: Counter[str]) -> Program | None:
    try:
        return sql_to_program(example.sql or "", schema)
    except ConversionError as error:
        unconverted[error.construct] += 1
        return None


def _rows(run: Run, sql: str) -> Counter[Row] | None:
    """The rows of a query, comparable; None where it does not run."""
    try:
        return comparable(run(sql))
    except EngineError:
        return None


def compare(
    example: Example,
    program: Program,
    expected: Counter[Row] | None,
    schema: Schema,
    dialect: str,
    run: Run,
    now: str,
    tally: Tally,
) -> None:
    """Render and run one program, and count what came of it."""
    if expected is None:
        return
    tally.queries += 1
    clock = time.perf_counter()
    try:
        sql = render(program, schema, dialect=dialect, now=now)
    except DialectError as error:
        tally.differ(error.what, example.id)
        return
    tally.render_ms += 1000 * (time.perf_counter() - clock)
    clock = time.perf_counter()
    try:
        rows = comparable(run(sql))
    except EngineError as error:
        tally.differ(f"does not run: {error}", example.id)
        return
    tally.run_ms += 1000 * (time.perf_counter() - clock)
    if rows == expected:
        tally.same += 1
    elif rows.total() == expected.total():
        tally.differ("as many rows, others", example.id)
    else:
        tally.differ("fewer rows" if rows.total() < expected.total() else "more rows", example.id)


def comparable(rows: Iterator[Row] | Sequence[Row]) -> Counter[Row]:
    """Rows as a multiset of cells that are the same in every database."""
    return Counter(tuple(_cell(cell) for cell in row) for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, bool | int | float | Decimal):
        return round(float(value), 3) + 0.0  # no -0.0
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, date):
        return value.isoformat()
    if isinstance(value, timedelta):
        return value.total_seconds()
    return value


def _print(console: Console, reports: dict[str, dict[str, Any]], unconverted: Counter[str]) -> None:
    rows = [
        [name, r["queries"], r["same"], r["same_percent"], r["ms"]["render"], r["ms"]["run"]]
        for name, r in reports.items()
    ]
    console.table(["dialect", "queries", "same rows", "%", "render ms", "run ms"], rows)
    if unconverted:
        console.line(f"\nnot converted: {unconverted.total()}")
    for name, report in reports.items():
        for reason, examples in report["differences"].items():
            console.line(f"\n{name}, {reason}: {len(examples)}")
            console.line(f"  {' '.join(examples)}")


if __name__ == "__main__":
    try:
        sys.exit(main())
    except (FastSQLError, DatabaseMissingError) as failure:
        sys.exit(f"dialects: {failure}")
