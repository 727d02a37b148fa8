"""Write Riverside's database, and its schema as `fastsql eval` reads it.

Riverside is a hospital that is made up, with 60 everyday questions and 15 that it cannot answer (questions.json; now is
2024-12-31 12:00:00). They were written by somebody who saw nothing but its schema and rows, to judge models that were
trained on neither.

    python benchmarks/riverside/make.py riverside
    fastsql eval benchmarks/riverside/questions.json --schemas riverside/schemas.json \
        --databases riverside/riverside.sqlite --now "2024-12-31 12:00:00"
"""

from __future__ import annotations

import argparse
import json
import sqlite3
from contextlib import closing
from pathlib import Path

from fastsql import Schema

HERE = Path(__file__).parent


def make(folder: Path) -> Path:
    """The database's path. Raises FileExistsError where there is one."""
    folder.mkdir(parents=True, exist_ok=True)
    database = folder / "riverside.sqlite"
    database.touch(exist_ok=False)
    with closing(sqlite3.connect(database)) as connection:
        for script in ("schema.sql", "rows.sql"):
            connection.executescript((HERE / script).read_text(encoding="utf-8"))
    entry = {**Schema.from_sqlite(database).to_dict(), "db_id": "riverside"}
    (folder / "schemas.json").write_text(json.dumps([entry], indent=1), encoding="utf-8")
    return database


if __name__ == "__main__":
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path, help="where riverside.sqlite and schemas.json are written")
    print(make(parser.parse_args().folder))
