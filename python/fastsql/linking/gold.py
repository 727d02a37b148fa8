"""What a gold query is about: the tables, columns and literals that a parser has to find in the question or the schema.

Double quotes are SQLite's trap: ``"F"`` is a column where a column of that name is in scope, and a string elsewhere. Spider,
BIRD and MIMICSQL write strings so; `text_of` tells the two apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING

from fastsql.linking.numerals import plain_number

if TYPE_CHECKING:
    from sqlglot import exp

    from fastsql.schema import Schema, Value

ColumnName = tuple[str, str]
"""A table's name and a column's name, as the schema spells them."""

_MODIFIER = re.compile(r"[-+]?(?P<count>[0-9]+) (?:year|month|day|hour|minute|second)s?")
_STRUCTURAL = re.compile(r"start of (?:year|month|day)|(?:%[a-zA-Z][-: ]?)+|now|localtime|utc|weekday [0-6]")
_FORMAT = re.compile(r"^(%[a-zA-Z]([-: %]|$)|start of|[+-]?\d+ (?:year|month|day|hour|minute|second)s?$)")
_DATE = re.compile(r"^\d{1,4}([-/:. ]\d{1,4})*$")
_MOMENTS = ("strftime", "julianday")
"""Functions of SQLite that give a time as a number; in a tree that was not parsed from text, sqlglot knows them by name."""


@dataclass(frozen=True)
class GoldLiteral:
    """A literal of a gold query that the parser must be able to write. `column` is the one it meets, where that is plain."""

    value: Value
    column: int | None = None


@dataclass(frozen=True)
class GoldItems:
    """Indices of the tables and columns that a gold query names."""

    tables: frozenset[int]
    columns: frozenset[int]


@lru_cache(maxsize=256)
def parse_gold(sql: str, dialect: str = "sqlite") -> exp.Expr:
    """The query's tree, which callers must not change. Raises sqlglot's ParseError for SQL that sqlglot cannot read."""
    import sqlglot

    return sqlglot.parse_one(sql, read=dialect)


def gold_literals(sql: str, schema: Schema | None = None, dialect: str = "sqlite") -> tuple[GoldLiteral, ...]:
    """The distinct literals of a query that a parser has to find.

    Left out is what belongs to the grammar: strftime formats, "start of year", the first days of weeks and quarters, the 24
    hours of a day. A modifier such as ``'-8 month'`` asks for the number 8, and so do days written as months,
    ``1 * 365 / 4``, for 3, and the first day of the quarter before last for 2. With `schema`, a literal
    compared with a column knows it, where the query or the schema says which one that is, and double-quoted strings count.
    Raises sqlglot's ParseError for SQL that sqlglot cannot read.
    """
    return tree_literals(parse_gold(sql, dialect), schema)


def tree_literals(tree: exp.Expr, schema: Schema | None = None) -> tuple[GoldLiteral, ...]:
    """`gold_literals` of a query that has been parsed."""
    from sqlglot import exp

    found: dict[GoldLiteral, None] = {}
    of_dates = _of_dates(tree)
    for node in tree.find_all(exp.Literal, exp.Column):
        text = text_of(node, schema)
        if id(node) in of_dates:
            periods = of_dates[id(node)]
            if periods:
                found.setdefault(GoldLiteral(periods))
        elif text is not None:
            modifier = _MODIFIER.fullmatch(text)
            if modifier is not None:
                found.setdefault(GoldLiteral(int(modifier["count"])))
            elif not _STRUCTURAL.fullmatch(text):
                found.setdefault(GoldLiteral(text, _compared_column(node, schema)))
        elif isinstance(node, exp.Literal):
            number = _asked_number(node)
            if number is not None:
                found.setdefault(GoldLiteral(number))
    return tuple(found)


def column_literals(sql: str, schema: Schema) -> list[tuple[ColumnName, str]]:
    """The word literals that base columns are compared with, in order of occurrence; of a LIKE pattern what it contains.

    Columns of derived tables and columns that cannot be resolved are passed over; SQL that does not parse gives none
    (the converter reports it).
    """
    from sqlglot import exp
    from sqlglot.errors import SqlglotError

    try:
        tree = parse_gold(sql)
    except SqlglotError:
        return []
    found: list[tuple[ColumnName, str]] = []
    for node in tree.find_all(exp.EQ, exp.NEQ, exp.In, exp.Like, bfs=False):
        sides = [node.this, node.args.get("expression"), *(node.expressions or ())]
        texts = [text for side in sides if side is not None and (text := text_of(side, schema)) is not None]
        if isinstance(node, exp.Like):
            texts = [text.strip("%") for text in texts]
        texts = [text for text in texts if is_word_literal(text)]
        index = _column_of(sides, schema) if texts else None
        if index is not None:
            found.extend((_name(schema, index), text) for text in texts)
    return found


def gold_items(sql: str, schema: Schema, dialect: str = "sqlite") -> GoldItems:
    """The tables and columns of the schema that a query names; a table read without naming a column of it counts, too.

    Raises sqlglot's ParseError for SQL that sqlglot cannot read.
    """
    from sqlglot import exp

    tree = parse_gold(sql, dialect)
    named = {cte.alias_or_name.lower() for cte in tree.find_all(exp.CTE)}
    tables = {
        index
        for table in tree.find_all(exp.Table)
        if (table.db or table.name.lower() not in named)
        and (index := schema.find_table(_table_name(table))) is not None
    }
    columns = {
        index for column in tree.find_all(exp.Column) if (index := resolve_column(column, schema)) is not None
    }
    tables |= {schema.columns[column].table for column in columns}
    return GoldItems(frozenset(tables), frozenset(columns))


def is_word_literal(text: str) -> bool:
    """True for a literal that names something: no date, no format, no calendar modifier, no number."""
    return bool(text.strip()) and not _FORMAT.match(text) and not _DATE.match(text)


def text_of(node: exp.Expr, schema: Schema | None = None) -> str | None:
    """The text of a string: a literal, or, with `schema`, a double-quoted name that names no column in scope."""
    from sqlglot import exp

    if isinstance(node, exp.Literal):
        return str(node.this) if node.is_string else None
    if schema is None or not isinstance(node, exp.Column) or node.table:
        return None
    quoted = isinstance(node.this, exp.Identifier) and node.this.args.get("quoted")
    if not quoted or resolve_column(node, schema) is not None or _names_output(node):
        return None
    return node.name


def resolve_column(column: exp.Column, schema: Schema) -> int | None:
    """The column of the schema that a name means, by the innermost source in scope that has it; None for derived ones."""
    from sqlglot import exp

    select = column.find_ancestor(exp.Select)
    while select is not None:
        for source in _sources(select):
            if column.table and column.table.lower() != source.alias_or_name.lower():
                continue
            if isinstance(source, exp.Table):
                index = schema.find_column(_table_name(source), column.name)
                if index is not None:
                    return index
        select = select.find_ancestor(exp.Select)
    return None


def _table_name(table: exp.Table) -> str:
    return f"{table.db}.{table.name}" if table.db else table.name


def _sources(select: exp.Select) -> Iterator[exp.Expr]:
    clauses = [select.args.get("from") or select.args.get("from_"), *(select.args.get("joins") or [])]
    for clause in clauses:
        if clause is not None:
            yield clause.this


def _names_output(column: exp.Column) -> bool:
    """Whether a derived table in scope, or the select list, has a column of the name."""
    from sqlglot import exp

    name = column.name.lower()
    select = column.find_ancestor(exp.Select)
    while select is not None:
        outputs = [one.alias for one in select.expressions if one.alias]
        for source in _sources(select):
            if isinstance(source, exp.Subquery):
                outputs += source.named_selects
        if name in (output.lower() for output in outputs):
            return True
        select = select.find_ancestor(exp.Select)
    return False


def _asked_number(node: exp.Literal) -> int | float | None:
    """The number that a numeric literal asks for; None for one that belongs to calendar arithmetic."""
    from sqlglot import exp

    from fastsql.grammar.convert.nodes import months_in_days

    number = plain_number(node.this)
    if isinstance(node.parent, exp.Neg):
        return None if number is None else -number
    top: exp.Expr = node
    while isinstance(top.parent, exp.Mul | exp.Div | exp.Paren):
        top = top.parent
    factors = [plain_number(factor.this) for factor in top.find_all(exp.Literal) if not factor.is_string]
    months = months_in_days(top.unnest()) if 365 in factors else None
    if months is not None:
        return months if number == 365 else None
    is_day_count = any(map(_is_moment, top.find_all(exp.TimeToStr, exp.Anonymous)))
    return None if number in {24, 60, 3600, 86400} and is_day_count else number


def _of_dates(tree: exp.Expr) -> dict[int, int]:
    """The literals, by identity, of dates that are computed, and how many periods back each of these lies.

    The first day of a week or a quarter takes six days, or a third of months, of which no question speaks.
    """
    from sqlglot import exp

    from fastsql.grammar.convert.dates import Back, computed_date

    found: dict[int, int] = {}
    for node in tree.find_all(exp.Anonymous):
        computed = computed_date(node)
        if computed is not None:
            periods = computed.periods if isinstance(computed, Back) else 0
            modifiers = (literal for one in node.expressions[1:] for literal in one.find_all(exp.Literal))
            found |= {id(literal): periods for literal in modifiers}
    return found


def _is_moment(node: exp.Expr) -> bool:
    """Whether a function gives a time as a number or in a format."""
    from sqlglot import exp

    if isinstance(node, exp.Anonymous):
        return node.name.lower() in _MOMENTS
    return node.args.get("format") is not None


def _compared_column(node: exp.Expr, schema: Schema | None) -> int | None:
    from sqlglot import exp

    parent = node.parent
    if schema is None or not isinstance(parent, exp.EQ | exp.NEQ | exp.In | exp.Like):
        return None
    sides = [parent.this, parent.args.get("expression")]
    index = _column_of(sides, schema)
    if index is not None:
        return index
    # A derived table's column: the only one of that name, if the schema has no more.
    names = {side.name.lower() for side in sides if isinstance(side, exp.Column)}
    named = [number for number, one in enumerate(schema.columns) if one.name.lower() in names]
    return named[0] if len(named) == 1 else None


def _column_of(sides: list[exp.Expr | None], schema: Schema) -> int | None:
    """The first side that is a column of the schema."""
    from sqlglot import exp

    for side in sides:
        index = resolve_column(side, schema) if isinstance(side, exp.Column) else None
        if index is not None:
            return index
    return None


def _name(schema: Schema, column: int) -> ColumnName:
    return schema.tables[schema.columns[column].table].name, schema.columns[column].name
