"""Questions written by hand over the demo hospital's tables, MIMIC-IV's: what anybody asks first, and conversations."""

from __future__ import annotations

import hashlib
import tempfile
from importlib.resources import files
from pathlib import Path

from fastsql.datasets import Example
from fastsql.demo import create_hospital
from fastsql.execution import open_executor
from fastsql.schema import Schema
from fastsql.synthesis.carried import CarriedSet, conversation
from fastsql.synthesis.designs.written import Written, read_written
from fastsql.synthesis.many import excerpt

_FILE = "everyday"
HOSPITAL = "demo_hospital"
"""What the demo hospital is called where questions over it stand."""


def everyday_questions() -> Written:
    """The questions that come with the package, in English, over the names of the demo hospital."""
    return read_written(_FILE, (files(__package__) / f"{_FILE}.questions").read_text(encoding="utf-8"))


def everyday_set(databases: Path | None = None) -> CarriedSet:
    """All of them as a data set over the demo hospital, under names that last while questions are added.

    The hospital is left in `databases` where that is given.
    """
    written = everyday_questions()
    with tempfile.TemporaryDirectory() as folder:
        path = (databases or Path(folder)) / f"{HOSPITAL}.sqlite"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)
        create_hospital(path)
        schema = Schema.from_sqlite(path)
        with open_executor(path) as executor:
            values = {schema.name: excerpt(schema, executor)}
    asked: list[tuple[str, str | None]] = [(one.question, one.sql) for one in written.single]
    asked += [(question, None) for question in written.unanswerable]
    pairs = [Example(_name("", question), schema.name, question, sql) for question, sql in asked]
    turns = [
        turn
        for talk in written.talks
        for turn in conversation(schema.name, _name("talk-", *(one.question for one in talk)), talk)
    ]
    return CarriedSet(tuple(pairs), tuple(turns), (schema,), values)


def _name(kind: str, *questions: str) -> str:
    digest = hashlib.sha256("\n".join(questions).encode()).hexdigest()
    return f"everyday-{kind}{digest[:12]}"
