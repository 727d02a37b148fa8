"""A query's form: its SQL and a question for it, with a placeholder such as ``[TEXT_1]`` for each literal.

Literals are exchanged in the query's tree before anything is put into words, for stand-ins that no row holds. So a
value cannot be said in other words either: what is sent is made of the schema and of stand-ins alone.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from sqlglot import exp

from fastsql.grammar.render import write_tree
from fastsql.synthesis.schema.questions import ask
from fastsql.synthesis.schema.words import UnsayableError, Words

PLACEHOLDER = re.compile(r"\[[A-Z]+_\d+\]")
MOST = 20
"""Literals of one query."""
_SAYINGS = 20
"""How often it is put into words until no two of its columns have one name."""
_NUMBER, _TEXT = "NUMBER", "TEXT"
_PARTS = {"%Y": "YEAR", "%m": "MONTH", "%d": "DAY", "%Y-%m": "MONTH"}
_MOMENT = re.compile(r"\d{1,4}([-/:. T]\d{1,4})+")
_FORMAT = re.compile(r"(?:%[a-zA-Z][-:/ T]?)+")
_OF_THE_GRAMMAR = ("0", "1", "100", "100.0")
"""Numbers that the grammar writes: in a share, in a CASE, and of a LIMIT that means the first."""
_COMPARING = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.Between, exp.In, exp.Like)
_LETTERS = "abcdefghijklmnopqrst"
_STAND_IN = re.compile(r"(Qxq[a-t]|91700\d\d3)x*")
"""Of texts and moments, and of numbers: what no name is likely to hold."""


@dataclass(frozen=True)
class Form:
    """What may be sent of a query, and what may not.

    Attributes:
        sql: the query, with placeholders.
        question: a question for it by the grammar, with the same.
        names: what questions call the tables and columns of the query, by their names in SQL.
        literals: by placeholder, as people write them. They stay here.
    """

    sql: str
    question: str
    names: Mapping[str, str]
    literals: Mapping[str, str] = field(repr=False)

    @property
    def wanted(self) -> Counter[str]:
        """How often a wording has to have each placeholder."""
        return Counter(PLACEHOLDER.findall(self.question))

    def fill(self, wording: str) -> str:
        """A wording with the literals in place of the placeholders, all of which it must know."""
        return PLACEHOLDER.sub(lambda found: self.literals[found[0]], wording)


def form_of(tree: exp.Query, words: Words) -> Form:
    """The form of a query as the grammar renders it; the same form for queries that differ in literals alone.

    Raises UnsayableError where a literal stands where none is expected, or the grammar has no words for the form.
    """
    tree = tree.copy()
    found = _found(tree)
    literals = list(dict.fromkeys(literal for _, literal in found))
    if len(literals) > MOST:
        raise UnsayableError("too many literals")
    # Numbers keep their order: nobody asks for a range from more to less.
    numbers = sorted({float(one.said) for one in literals if one.kind == _NUMBER})
    placeholders: dict[_Literal, str] = {}
    stand_ins: dict[str, str] = {}
    for position, literal in enumerate(literals):
        if literal.kind == _NUMBER:
            stand_in = f"91700{numbers.index(float(literal.said)):02}3"
        else:
            stand_in = f"Qxq{_LETTERS[position]}"
        stand_ins[stand_in] = placeholders[literal] = f"[{literal.kind}_{position + 1}]"
        for node, one in found:
            if one == literal:
                node.replace(literal.as_node(stand_in))

    def shown(text: str) -> str:
        return _STAND_IN.sub(lambda at: stand_ins.get(at[1], at[0]), text)

    form = Form(
        shown(write_tree(tree)),
        shown(_said(tree, words)),
        dict(_names(tree, words)),
        {name: literal.said for literal, name in placeholders.items()},
    )
    if set(form.wanted) != set(form.literals):
        raise UnsayableError("a literal that no question says")
    return form


@dataclass(frozen=True)
class _Literal:
    """A literal that is not sent; `before` and `behind` are the signs of a pattern around it."""

    kind: str
    said: str
    before: str = ""
    behind: str = ""

    def as_node(self, stand_in: str) -> exp.Literal:
        """Another literal in its place. A moment is as long as it was: questions say "in" a month and "on" a day."""
        if self.kind == _NUMBER:
            return exp.Literal(this=stand_in, is_string=False)
        length = 0 if self.kind == _TEXT else len(self.said)
        return exp.Literal.string(f"{self.before}{stand_in.ljust(length, 'x')}{self.behind}")


def _found(tree: exp.Expr) -> list[tuple[exp.Expr, _Literal]]:
    """The nodes to exchange, in order. Raises UnsayableError for a literal that is neither a value nor the grammar's."""
    found: list[tuple[exp.Expr, _Literal]] = []
    for node in tree.find_all(exp.Literal, bfs=False):
        whole = node.parent if isinstance(node.parent, exp.Neg) else node
        parent, text = whole.parent, str(node.name)
        if isinstance(parent, _COMPARING) or (isinstance(parent, (exp.Limit, exp.Offset)) and text != "1"):
            found.append((whole, _literal(node, parent, negative=whole is not node)))
        elif not (_FORMAT.fullmatch(text) if node.is_string else text in _OF_THE_GRAMMAR):
            raise UnsayableError("a literal in an unexpected place")
    return found


def _literal(node: exp.Literal, parent: exp.Expr, *, negative: bool) -> _Literal:
    text = str(node.name)
    if not node.is_string:
        return _Literal(_NUMBER, f"-{text}" if negative else text)
    if isinstance(parent, exp.Like):
        bare = text.strip("%")
        if not bare:
            raise UnsayableError("a pattern of nothing")
        before, _, behind = text.partition(bare)
        return _Literal(_TEXT, bare, before, behind)
    part = next((side for side in parent.iter_expressions() if isinstance(side, exp.TimeToStr)), None)
    if part is not None:
        return _Literal(_PARTS.get(part.text("format"), "DATE"), text)
    return _Literal("DATE" if _MOMENT.fullmatch(text) else _TEXT, text)


def _said(tree: exp.Query, words: Words) -> str:
    """A question by the grammar, the same for the same tree. Raises UnsayableError."""
    rng = random.Random(write_tree(tree))
    for _ in range(_SAYINGS):
        with suppress(UnsayableError):
            return ask(tree, words, rng)
    return ask(tree, words, rng)


def _names(tree: exp.Expr, words: Words) -> Iterator[tuple[str, str]]:
    """Tables and columns by their names in SQL, and what they are called."""
    schema, called = words.schema, words.profile
    for table in tree.find_all(exp.Table, bfs=False):
        with suppress(UnsayableError, KeyError):
            number = words.source(table)
            yield schema.table_name(number), called.tables[number].called
    for column in tree.find_all(exp.Column, bfs=False):
        with suppress(UnsayableError):
            number = words.number(column)
            yield schema.qualified_name(number), called.columns[number].called
