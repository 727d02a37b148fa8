"""Attacks as data: a JSON object a line.

`sql` is the statement; ``{folder}`` in it stands for a folder with a file in it that must not be read. `tries` says what it
is after, `source` where such an attack is published. `alone` says what the database's walls do without the verifier:
"refused" (the default); "harmless": some of them let it run, and it changes nothing and reads no file; "unbounded": nothing
but the verifier stops it. `needs_names` marks what only a schema can tell from a plain query.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

FOLDER = Path(__file__).parent
DIALECTS = ("sqlite", "postgres", "duckdb")


@dataclass(frozen=True)
class Attack:
    """One hostile statement."""

    sql: str
    tries: str
    alone: str = "refused"
    needs_names: bool = False
    source: str = ""

    def in_folder(self, folder: Path) -> str:
        """The statement, after a folder's files."""
        return self.sql.replace("{folder}", str(folder))


def read_attacks(name: str) -> list[Attack]:
    """The attacks of one file."""
    lines = (FOLDER / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    return [Attack(**json.loads(line)) for line in lines]


def attacks_on(dialect: str) -> list[Attack]:
    """The attacks on a dialect, those on any dialect among them."""
    return read_attacks("any") + read_attacks(dialect)


def label(attack: Attack) -> str:
    """A name for a test: what an attack tries, and the beginning of it."""
    return f"{attack.tries}: {attack.sql[:40]!a}"
