"""Contrasts: queries that differ from another in one thing, such as a value or the direction of an order.

A query is edited in its tree, one node at a time. The source finds out whether an edit can be said and changes the answer.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from unicodedata import east_asian_width

from sqlglot import exp

from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.kinds import KEY, ORDERED, REFERENCE
from fastsql.synthesis.schema.words import UnsayableError, Words

MOST_CHARACTERS = 32
"""Characters in which the two questions may differ, beside those of a value."""
_OPPOSITE: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.GT: exp.LT,
    exp.LT: exp.GT,
    exp.GTE: exp.LTE,
    exp.LTE: exp.GTE,
}
_NEGATED: dict[type[exp.Expr], type[exp.Expr]] = {exp.EQ: exp.NEQ, exp.NEQ: exp.EQ}
_AGGREGATES: dict[type[exp.Expr], type[exp.Expr]] = {
    exp.Max: exp.Min,
    exp.Min: exp.Max,
    exp.Avg: exp.Sum,
    exp.Sum: exp.Avg,
}
_WORD = re.compile("[A-Za-z]*")
_COMPARED: tuple[type[exp.Expr], ...] = (exp.EQ, exp.NEQ, *_OPPOSITE, exp.Like)


def edits(
    query: exp.Query, words: Words, contents: Contents, rng: random.Random
) -> Iterator[tuple[str, exp.Query]]:
    """Queries that differ in one node, each with the kind of difference; in a random order.

    value      another literal of the same column, or another number of rows
    operator   more than for less than
    negation   is not for is, without for with
    direction  the highest for the lowest
    aggregate  the average for the total
    column     another column of the same table and kind is selected or sorted by
    """
    found = [
        (kind, place, new)
        for place, node in enumerate(query.walk())
        for kind, new in _changes(node, words, contents, rng)
    ]
    rng.shuffle(found)
    kinds = sorted({kind for kind, _, _ in found})
    rng.shuffle(kinds)  # kinds in an order of their own: almost every query has something to negate
    for kind, place, new in sorted(found, key=lambda one: kinds.index(one[0])):
        edited = query.copy()
        node = next(one for position, one in enumerate(edited.walk()) if position == place)
        node.replace(new)
        yield kind, edited


def differ_in_one_phrase(one: str, other: str, values: int) -> bool:
    """Whether two questions open alike and are the same but for a few characters in a row.

    `values`: how many a literal may take.
    """
    opened = [match[0] for match in map(_WORD.match, (one, other)) if match]
    if len(set(opened)) > 1:
        return False
    shortest = min(len(one), len(other))
    start = next((place for place in range(shortest) if one[place] != other[place]), shortest)
    end = 0
    while end < shortest - start and one[-1 - end] == other[-1 - end]:
        end += 1
    differing = max((text[start : len(text) - end] for text in (one, other)), key=width)
    return one != other and width(differing) <= MOST_CHARACTERS + values


def width(text: str) -> int:
    """The characters of a text; an ideograph, which says as much as several letters, counts as two."""
    return sum(2 if east_asian_width(character) in "WF" else 1 for character in text)


def _changes(
    node: exp.Expr, words: Words, contents: Contents, rng: random.Random
) -> Iterator[tuple[str, exp.Expr]]:
    kind = type(node)
    if kind in _OPPOSITE:
        yield "operator", _OPPOSITE[kind](this=node.this.copy(), expression=node.expression.copy())
    if kind in _NEGATED and isinstance(node.expression, exp.Literal):
        yield "negation", _NEGATED[kind](this=node.this.copy(), expression=node.expression.copy())
    if isinstance(node, (exp.Like, exp.In)) and not isinstance(node.parent, exp.Not):
        yield "negation", exp.Not(this=node.copy())
    if isinstance(node, exp.Not) and isinstance(node.this, (exp.Like, exp.In, exp.Is)):
        yield "negation", node.this.copy()
    if isinstance(node, exp.Ordered):
        down = not node.args.get("desc")
        yield "direction", exp.Ordered(this=node.this.copy(), desc=down, nulls_first=not down)
    if kind in _AGGREGATES and isinstance(node.this, exp.Column):
        yield "aggregate", _AGGREGATES[kind](this=node.this.copy())
    if isinstance(node, exp.Literal):
        yield from _values(node, words, contents, rng)
    if isinstance(node, exp.Column):
        yield from _columns(node, words, rng)


def _values(
    node: exp.Literal, words: Words, contents: Contents, rng: random.Random
) -> Iterator[tuple[str, exp.Expr]]:
    above = node.parent
    if isinstance(above, exp.Limit) or (isinstance(above, _COMPARED) and isinstance(above.this, exp.Count)):
        if node.name.isdigit() and node.name != "1":
            yield "value", exp.Literal.number(int(node.name) + rng.choice((1, 2, 3)))
        return
    if not isinstance(above, _COMPARED) or not isinstance(above.this, exp.Column):
        return
    try:
        column = words.number(above.this)
    except UnsayableError:
        return
    beside = {one.name.strip("%") for one in node.root().find_all(exp.Literal)}
    others = [
        str(value)
        for value in contents.values(column)
        if str(value) not in beside and (node.is_string or not isinstance(value, str))
    ]
    if not others:
        return
    text = rng.choice(others)
    if isinstance(above, exp.Like):
        parts = text.split()
        text = node.name.replace(node.name.strip("%"), parts[0] if parts else text)
    yield "value", exp.Literal.string(text) if node.is_string else exp.Literal.number(text)


def _columns(node: exp.Column, words: Words, rng: random.Random) -> Iterator[tuple[str, exp.Expr]]:
    """Another column for one that is selected, sorted by or put together, but not grouped by or compared."""
    select = node.find_ancestor(exp.Select)
    above = node.parent
    shown = isinstance(above, (exp.Select, exp.Ordered, exp.Avg, exp.Sum, exp.Max, exp.Min))
    if select is None or not shown or node.find_ancestor(exp.Where) or isinstance(node.this, exp.Star):
        return
    if isinstance(above, exp.Select) and select.args.get("group") is not None:
        return
    try:
        number, kind = words.number(node), words.kind(node)
    except UnsayableError:
        return
    if kind in (KEY, REFERENCE) or (not isinstance(above, exp.Select) and kind not in ORDERED):
        return
    named = {column.name for column in select.find_all(exp.Column)}
    others = [one for one in words.alike(number) if words.schema.columns[one].name not in named]
    if others:
        other = node.copy()
        other.set("this", exp.to_identifier(words.schema.columns[rng.choice(others)].name, quoted=True))
        yield "column", other
