"""Other versions of a schema: without tables and columns that a batch does not need, and under other labels.

A parser that has seen one version of each schema learns the schema; one that has seen many learns to read schemas. The
model sees no order among tables and columns, so there is nothing to shuffle.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from fastsql.grammar.program import ColumnRef, Production, Program, TableRef, Terminal
from fastsql.linking.candidate import Candidate
from fastsql.linking.relations import SchemaLinks
from fastsql.linking.selection import reduced
from fastsql.linking.word_match import name_words
from fastsql.model.schema_inputs import SchemaInputs
from fastsql.model.tokenizer import Tokenizer
from fastsql.schema import Column, Schema, Table
from fastsql.training.config import AugmentSettings

Item = TypeVar("Item", Table, Column)

ALL_COLUMNS = Production("all_columns")
"""`SELECT *`: it means other columns when some are gone."""


@dataclass(frozen=True, eq=False)
class SchemaView:
    """A version of a schema, ready for linking and for the model.

    `tables` and `columns` give the places here of the whole schema's tables and columns; None where nothing has moved.
    `domains` is False where columns are shown without the values that they hold.
    """

    schema: Schema
    links: SchemaLinks
    inputs: SchemaInputs
    tables: dict[int, int] | None = None
    columns: dict[int, int] | None = None
    domains: bool = True

    @classmethod
    def whole(cls, schema: Schema, tokenizer: Tokenizer) -> SchemaView:
        """The schema with all its tables and columns."""
        links = SchemaLinks(schema)
        return cls(schema, links, SchemaInputs.build(links, tokenizer))

    def program(self, program: Program) -> Program:
        """The same program over this version, which has all that it names."""
        tables, columns = self.tables, self.columns
        if tables is None or columns is None:
            return program

        def move(item: Terminal) -> Terminal:
            if isinstance(item, TableRef):
                return TableRef(tables[item.table])
            if isinstance(item, ColumnRef):
                return replace(item, column=columns[item.column])
            return item

        return tuple(move(item) for item in program)

    def candidates(self, candidates: Iterable[Candidate]) -> tuple[Candidate, ...]:
        """Those of the whole schema; a value that only columns of the rest hold is not known here."""
        columns = self.columns
        if columns is None:
            return tuple(candidates)
        moved = [
            (
                item,
                replace(item, columns=tuple(columns[column] for column in item.columns if column in columns)),
            )
            for item in candidates
            if self.domains or item.source != "schema"
        ]
        return tuple(here for item, here in moved if here.columns or not item.columns)


def draw_view(
    schema: Schema,
    programs: Sequence[Program],
    settings: AugmentSettings,
    tokenizer: Tokenizer,
    rng: random.Random,
) -> SchemaView | None:
    """A version of `schema` on which all `programs` can be asked; None if it is to be shown as it is."""
    drops, renames, forgets = (
        rng.random() < share for share in (settings.schema, settings.labels, settings.no_domains)
    )
    kept = _draw_columns(schema, programs, rng) if drops else None
    if kept is None and not renames and not forgets:
        return None
    part = reduced(schema, range(len(schema.columns)) if kept is None else kept)
    version = relabelled(part.schema, rng.random() / 2, rng) if renames else part.schema
    if forgets:
        version = replace(version, columns=tuple(replace(column, values=()) for column in version.columns))
    return replace(
        SchemaView.whole(version, tokenizer),
        tables={old: new for new, old in enumerate(part.tables)},
        columns={old: new for new, old in enumerate(part.columns)},
        domains=not forgets,
    )


def _draw_columns(schema: Schema, programs: Sequence[Program], rng: random.Random) -> set[int] | None:
    """What the programs use, and a share of all else, which differs from time to time."""
    used = {item.column for program in programs for item in program if isinstance(item, ColumnRef)}
    tables = {item.table for program in programs for item in program if isinstance(item, TableRef)}
    if any(ALL_COLUMNS in program for program in programs):
        return None
    keep_table, keep_column = rng.random(), 0.3 + 0.7 * rng.random()
    kept = set(used)
    for number, table in enumerate(schema.tables):
        if number in tables or rng.random() < keep_table:
            here = [column for column in table.columns if column in used or rng.random() < keep_column]
            # A table that is counted may have no column in any program.
            kept.update(here or [rng.choice(table.columns)])
    return kept


def relabelled(schema: Schema, share: float, rng: random.Random) -> Schema:
    """The schema with about `share` of its labels exchanged for another way of naming the same thing."""

    def draw(item: Item, owner: str) -> Item:
        choices = other_labels(item, owner)
        return replace(item, label=rng.choice(choices)) if choices and rng.random() < share else item

    return replace(
        schema,
        tables=tuple(draw(table, "") for table in schema.tables),
        columns=tuple(draw(column, schema.tables[column.table].label) for column in schema.columns),
    )


def other_labels(item: Table | Column, owner: str) -> list[str]:
    """Labels that people might have given instead: synonyms, the name itself, with or without the table's label."""
    label = item.label or item.name
    found = [*item.synonyms, _spoken(item.name)]
    if owner and label.isascii() and owner.isascii():
        longer, shorter = f"{owner} {label}", label.removeprefix(f"{owner} ")
        found += [longer] if shorter == label else [shorter]
    return [text for text in dict.fromkeys(found) if text and text != label]


def _spoken(name: str) -> str:
    """``StuID`` as "stu id"; a name that is not in Latin letters is a label already."""
    return " ".join(name_words(name)) if name.isascii() else ""
