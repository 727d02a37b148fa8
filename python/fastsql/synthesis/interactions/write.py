"""Interactions as a file in the uniform form: one record a turn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fastsql.datasets.programs import write_program
from fastsql.schema import Schema
from fastsql.synthesis.interactions.interaction import Interaction
from fastsql.synthesis.write import write_rows


def write_interactions(
    interactions: Iterable[Interaction], schemas: Mapping[str, Schema], path: Path
) -> None:
    """The turns as a JSON list of {id, db_id, question, sql, interaction, turn, program, kinds}; packed for a name in .gz.

    `sql` stands alone; `program` is the query with its references to earlier turns. The turn that answers
    a single question has it as `goal`. The file is there whole or not at all, and its owner's alone to read.
    """
    write_rows((row for one in interactions for row in _rows(one, schemas[one.db_id])), path)


def _rows(interaction: Interaction, schema: Schema) -> Iterable[dict[str, Any]]:
    answer = interaction.answer % len(interaction.turns)
    for number, turn in enumerate(interaction.turns):
        row: dict[str, Any] = {
            "id": f"{interaction.id}/{number}",
            "db_id": interaction.db_id,
            "question": turn.question,
            "sql": turn.sql,
            "interaction": interaction.id,
            "turn": number,
            "program": write_program(turn.program, schema),
            "kinds": list(turn.kinds),
        }
        if number == answer and interaction.goal:
            row["goal"] = interaction.goal
        yield row
