"""What finished SQL must keep to, checked on sqlglot's tree alone: nothing is shared with what wrote the SQL."""

from __future__ import annotations

import re

from sqlglot import exp

from fastsql.grammar import ActionSpace, Literal, Production, Program
from fastsql.grammar.program import SMALL
from fastsql.schema import Schema

_CALENDAR = re.compile(r"start of (year|month|day)|(%[YmdHMSJws][-: ]?)+|now|[-+]\d+ (year|month|day|hour)s?")
_FIXED = {"weekday 0", "-6 days", "-", " months", " "}
"""Pieces of the first day of a week and of a quarter, and what stands between joined texts."""
_ARITHMETIC = {24, 365, 12, 3, *SMALL.values()}
_LONGER = (1, 3, 7)
"""How many months or days the units are that are counted in these."""


def check_names(query: exp.Expr, schema: Schema, around: dict[str, set[str]] | None = None) -> set[str]:
    """Asserts that every column is qualified by a source of its own query; returns the output names.

    A query whose rows are asked for (EXISTS) may name the sources `around` it, too.
    """
    while isinstance(query, exp.Subquery):
        query = query.this
    if isinstance(query, exp.SetOperation):
        check_names(query.expression, schema)
        return check_names(query.this, schema)
    assert isinstance(query, exp.Select)
    origin = query.args.get("from_")
    entries = [origin.this, *(join.this for join in query.args.get("joins") or ())] if origin else []
    sources: dict[str, set[str]] = {}
    for entry in entries:
        assert entry.alias_or_name not in sources, "two sources of one name"
        sources[entry.alias_or_name] = _columns(entry, schema)
    inner: list[tuple[exp.Expr, bool]] = []

    def visit(node: exp.Expr) -> None:
        if isinstance(node, exp.Column):
            assert node.name in ((around or {}) | sources)[node.table], "a column that its source lacks"
        for child in node.iter_expressions():
            if isinstance(child, (exp.Select, exp.SetOperation)):
                inner.append((child, isinstance(node, exp.Exists)))
            elif not any(child is entry for entry in entries):
                visit(child)

    visit(query)
    for one, exists in inner:
        check_names(one, schema, sources if exists else None)
    names = [item.alias_or_name for item in query.expressions]
    return set(names)


def _columns(entry: exp.Expr, schema: Schema) -> set[str]:
    if not isinstance(entry, exp.Table):
        return check_names(entry, schema)
    table = next(table for table in schema.tables if table.name == entry.name)
    return {schema.columns[column].name for column in table.columns}


def check_provenance(literal: Literal, space: ActionSpace) -> None:
    """Asserts that a literal of a program is what its provenance says."""
    if literal.provenance == "span":
        assert literal.span is not None
        assert literal.value == space.text[slice(*literal.span)] != ""
    elif literal.provenance == "constant":
        assert any(c.name == literal.name and c.value == literal.value for c in space.schema.constants)
    elif literal.provenance == "schema" and literal.span is None:
        assert any(literal.value in column.values for column in space.schema.columns)
    else:
        found = [c for c in space.candidates if c.source == literal.provenance and c.span == literal.span]
        assert any((c.value, c.format) == (literal.value, literal.format) for c in found)


def check_written_literals(tree: exp.Expr, program: Program) -> None:
    """Asserts that the SQL holds no literal but the program's, and what calendar arithmetic and the closed set write."""
    values = [item.value for item in program if isinstance(item, Literal)]
    texts = {value for value in values if isinstance(value, str)}
    patterns = {"\\"}
    for text in map(_escaped, map(str, values)):
        patterns |= {text, f"{text}%", f"%{text}", f"%{text}%"}
    numbers = {abs(float(value)) for value in values if not isinstance(value, str)} | _ARITHMETIC
    closed = {item.name for item in program if isinstance(item, Production)} & SMALL.keys()
    counted = [*(value for value in values if isinstance(value, int)), *(SMALL[name] for name in closed)]
    counts = {str(value) for value in values} | {str(times * value) for value in counted for times in _LONGER}
    for literal in tree.find_all(exp.Literal):
        text = literal.name
        if not literal.is_string:
            assert float(text) in numbers
        elif text not in texts | patterns:
            assert text in _FIXED or _CALENDAR.fullmatch(text)
            count = re.search(r"\d+", text)
            assert text in _FIXED or count is None or count[0] in counts


def _escaped(text: str) -> str:
    return re.sub(r"([\\%_])", r"\\\1", text)
