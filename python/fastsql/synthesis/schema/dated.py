"""Queries of when something was: one more condition, that a moment lies in a year, in a month or on a day.

Data sets ask of times far more seldom than people do, and templates with them. Beside a template's conditions one on a time
has its place in nearly every query over rows that happened at some time.
"""

from __future__ import annotations

import random
from collections.abc import Mapping
from types import MappingProxyType

from sqlglot import exp

from fastsql.synthesis.schema.clauses import columns_in, joins_of, limit_of, tables_of
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.kinds import TIME
from fastsql.synthesis.schema.words import UnsayableError, Words

FORMS: Mapping[str, float] = MappingProxyType({"%Y": 5, "%Y-%m": 3, "%Y-%m-%d": 2})
"""Forms of `strftime` in which times are asked for, and how often each is beside the others."""


def dated(query: exp.Query, words: Words, contents: Contents, rng: random.Random) -> exp.Query | None:
    """A query with one more condition, on a time that is known of a table in its FROM; None where it has no place for one.

    That is where several queries are put together, where rows are kept by their place in an order or though they have no
    partner, and where another time tells which rows are meant, or is asked for.
    """
    if not isinstance(query, exp.Select) or limit_of(query) or any(query.find_all(exp.Subquery)):
        return None
    if any(join.side for join in joins_of(query)):
        return None
    try:
        tables = {words.source(node): node for node in tables_of(query)}
    except UnsayableError:
        return None
    times = [
        column
        for table in tables
        for column in words.schema.tables[table].columns
        if words.kind_of(column) == TIME
    ]
    if not times or any(words.kind(column) == TIME for column in columns_in(query)):
        return None
    column = rng.choice(times)
    (form,) = rng.choices(list(FORMS), list(FORMS.values()))
    value = contents.date(column, form, rng)
    if value is None:
        return None
    node = tables[words.schema.columns[column].table]
    name = exp.column(words.schema.columns[column].name, table=node.name, db=node.args.get("db"), quoted=True)
    moment = exp.TimeToStr(this=name, format=exp.Literal.string(form))
    return query.where(moment.eq(exp.Literal.string(value)))
