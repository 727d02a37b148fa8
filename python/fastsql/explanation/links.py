"""The evidence of a parse: which words stand for what, and where each literal comes from."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from fastsql.grammar.program import SIGNS, SMALL, ColumnRef, Production, Program, TableRef, sql_literal
from fastsql.grammar.program import Literal as ProgramLiteral
from fastsql.linking.canonical import compared_columns
from fastsql.result import Link, Literal

if TYPE_CHECKING:
    from fastsql.linking.prepare import Prepared
    from fastsql.linking.relations import SchemaLinks
    from fastsql.schema import Schema


def find_links(program: Program, prepared: Prepared, links: SchemaLinks) -> tuple[Link, ...]:
    """Spans of the question that name a table or column of the query, or that a literal was read from."""
    schema, text = links.schema, prepared.text
    found: dict[tuple[int, int], Link] = {}
    sign = ""
    for before, terminal, column in zip((None, *program), program, compared_columns(program), strict=False):
        if isinstance(before, Production) and isinstance(terminal, ColumnRef):
            sign = SIGNS.get(before.name, "")
        if isinstance(terminal, ProgramLiteral) and terminal.span is not None:
            start, end = terminal.span
            where = f"{schema.qualified_name(column)} {sign} " if column is not None else ""
            found.setdefault(
                (start, end),
                Link(
                    (start, end),
                    text[start:end],
                    "value",
                    f"{where}{sql_literal(terminal.value)}",
                    terminal.provenance,
                ),
            )
    taken = np.zeros(len(text), dtype=bool)
    for start, end in found:
        taken[start:end] = True
    named = named_items(program, links)
    matches = links.read_matches([item for item, _, _ in named], text, prepared.offsets, prepared.relations)
    for (_, kind, name), match in zip(named, matches.T, strict=True):
        for start, end in name_spans(match == 2, prepared):
            if not taken[start:end].any():
                found.setdefault((start, end), Link((start, end), text[start:end], kind, name, "name"))
    return tuple(found[span] for span in sorted(found))


def named_items(program: Program, links: SchemaLinks) -> list[tuple[int, str, str]]:
    """The tables and columns of a query, each once: its node among those of the schema, its kind, its name."""
    schema, found = links.schema, {}
    for terminal in program:
        if isinstance(terminal, TableRef):
            found[terminal.table] = "table", schema.table_name(terminal.table)
        elif isinstance(terminal, ColumnRef):
            found[links.nodes.column(terminal.column)] = "column", schema.qualified_name(terminal.column)
    return [(item, kind, name) for item, (kind, name) in found.items()]


def name_spans(
    matched: np.ndarray[tuple[int], np.dtype[np.bool_]], prepared: Prepared
) -> list[tuple[int, int]]:
    """Characters of the question that runs of its tokens cover, `matched` being bool[Q]."""
    runs: list[tuple[int, int]] = []
    previous = -2
    for token in np.flatnonzero(matched[: prepared.question_tokens]).tolist():
        start, end = (int(c) for c in prepared.offsets[token])
        if token == previous + 1:
            start = runs.pop()[0]
        runs.append((start, end))
        previous = token
    return runs


def found_values(program: Program, schema: Schema) -> tuple[Literal, ...]:
    """The literals of a query with their provenance, each once."""
    found: dict[Literal, None] = {}
    for terminal, column in zip(program, compared_columns(program), strict=True):
        if isinstance(terminal, ProgramLiteral):
            name = schema.qualified_name(column) if column is not None else ""
            literal = Literal(
                terminal.value, terminal.provenance, terminal.span, name, terminal.format, terminal.name
            )
            found[literal] = None
        elif isinstance(terminal, Production) and terminal.name in SMALL:
            found[Literal(SMALL[terminal.name], "closed")] = None
    return tuple(found)
