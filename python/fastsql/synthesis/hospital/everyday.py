"""Questions written by hand over the demo hospital's tables, MIMIC-IV's: what anybody asks first, and conversations."""

from __future__ import annotations

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


def everyday_questions() -> Written:
    """The questions that come with the package, in English, over the names of the demo hospital."""
    return read_written(_FILE, (files(__package__) / f"{_FILE}.questions").read_text(encoding="utf-8"))


def everyday_set() -> CarriedSet:
    """All of them as a data set over the demo hospital."""
    written = everyday_questions()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "demo_hospital.sqlite"
        create_hospital(path)
        schema = Schema.from_sqlite(path)
        with open_executor(path) as executor:
            values = {schema.name: excerpt(schema, executor)}
    asked: list[tuple[str, str | None]] = [(one.question, one.sql) for one in written.single]
    asked += [(question, None) for question in written.unanswerable]
    pairs = [
        Example(f"everyday-{number}", schema.name, question, sql)
        for number, (question, sql) in enumerate(asked)
    ]
    turns = [
        turn
        for number, talk in enumerate(written.talks)
        for turn in conversation(schema.name, f"everyday-talk-{number}", talk)
    ]
    return CarriedSet(tuple(pairs), tuple(turns), (schema,), values)
