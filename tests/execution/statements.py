"""Random SELECTs over a world, visible names and hidden ones, and mutations of such.

With `reach` 0 they use visible names alone; aliases take any name, those of what is hidden before all others.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable
from dataclasses import dataclass

from fastsql.schema.names import quote

from ..worlds.database import literal
from ..worlds.partly_known import COLUMN_NAMES, NUMBER, SYSTEM_NAMES, TABLE_NAMES, TEXT, World

_PLAIN_NAME = re.compile(r"[^\W\d]\w*\Z")
_KEYWORDS = frozenset(("select", "order", "user", "all", "current_date", "default"))
_TOKEN = re.compile(r"'(?:[^']|'')*'|\"(?:[^\"]|\"\")*\"|\w+|\s+|[^\w\s]")
_DEEPEST = 3
_TEXTS = ("F", "M", "Ada", "a", "", "F%", "%a%")


@dataclass(frozen=True)
class _Source:
    """What a name of a FROM clause offers: names and kinds of its columns."""

    alias: str
    columns: tuple[tuple[str, str], ...]


_Scope = tuple[_Source, ...]


class Writer:
    """Writes statements from one source of chance.

    Args:
        reach: how often a name is a hidden one where a visible one should stand.
    """

    def __init__(self, world: World, rng: random.Random, reach: float) -> None:
        self._world = world
        self._rng = rng
        self._reach = reach
        self._hidden = world.hidden_names()
        self._all = [*COLUMN_NAMES.split("|"), *TABLE_NAMES.split("|"), *SYSTEM_NAMES.split("|")]
        self._ctes: list[_Source] = []

    def statement(self) -> str:
        """A whole statement."""
        self._ctes = []
        return self._query(0, (), self._rng.randint(1, 3), whole=True)[0]

    # ---------------------------------------------------------------- names

    def _chance(self, share: float) -> bool:
        return self._rng.random() < share

    def _name(self, name: str, declared: bool = False) -> str:
        """A name as somebody would write it: quoted, bare, or in another case. One that is declared is often plain."""
        rng = self._rng
        bare = _PLAIN_NAME.match(name) and name.isascii() and name.lower() not in _KEYWORDS
        if self._world.dialect == "postgres":
            if bare and name == name.lower() and self._chance(0.6):
                return rng.choice((name, name, name.upper(), name.title()))
            return quote(name)
        written = name
        if not declared and name.isascii() and self._chance(0.3):
            written = rng.choice((name.upper(), name.lower()))
        return written if bare and self._chance(0.6) else quote(written)

    def _declared(self, name: str) -> str:
        """An alias where it is given. Bare, PostgreSQL folds it."""
        return self._name(name, declared=True) if self._chance(0.3) else quote(name)

    def _alias(self) -> str:
        return self._rng.choice(self._hidden if self._chance(0.6) else self._all)

    def _fresh_aliases(self, count: int) -> list[str]:
        """Aliases that no two of the database's rules take for one."""
        found: dict[str, str] = {}
        while len(found) < count:
            alias = self._alias()
            found.setdefault(alias.lower(), alias)
        return list(found.values())

    def _column(self, scopes: tuple[_Scope, ...], kind: str) -> str:
        """A column of a kind that is in scope, or a literal."""
        rng = self._rng
        if self._chance(self._reach):
            name = self._name(rng.choice(self._hidden if self._chance(0.7) else self._all))
            inner = scopes[0] if scopes else ()
            return f"{self._name(rng.choice(inner).alias)}.{name}" if inner and self._chance(0.5) else name
        scope = scopes[0] if len(scopes) < 2 or self._chance(0.6) else rng.choice(scopes[1:])
        found = [(s, column) for s in scope for column, its in s.columns if its == kind]
        if not found:
            return self._literal(kind)
        source, column = rng.choice(found)
        clear = len(scope) == 1 and scope is scopes[0]
        return self._name(column) if clear and self._chance(0.6) else self._qualified(source, column)

    def _qualified(self, source: _Source, column: str) -> str:
        return f"{self._name(source.alias)}.{self._name(column)}"

    def _literal(self, kind: str) -> str:
        rng = self._rng
        return literal(rng.choice(_TEXTS)) if kind == TEXT else str(rng.choice((0, 1, 2, 5)))

    # ---------------------------------------------------------------- expressions

    def _value(self, scopes: tuple[_Scope, ...], kind: str, depth: int) -> str:
        rng = self._rng
        if depth >= _DEEPEST or self._chance(0.55):
            return self._column(scopes, kind) if self._chance(0.85) else self._literal(kind)
        again: Callable[[str], str] = lambda its: self._value(scopes, its, depth + 1)  # noqa: E731 - short
        forms: list[Callable[[], str]] = [
            lambda: f"({again(kind)})",
            lambda: f"COALESCE({again(kind)}, {again(kind)})",
            lambda: (
                f"CASE WHEN {self._condition(scopes, depth + 1)} THEN {again(kind)} ELSE {again(kind)} END"
            ),
            lambda: f"NULLIF({again(kind)}, {again(kind)})",
            lambda: f"({self._query(depth + 1, scopes, 1, kinds=(kind,), one=True)[0]})",
        ]
        if kind == TEXT:
            forms += [
                lambda: f"CAST({again(rng.choice((TEXT, NUMBER)))} AS TEXT)",
                lambda: f"{rng.choice(('UPPER', 'lower'))}({again(TEXT)})",
                lambda: f"({again(TEXT)} || {again(TEXT)})",
            ]
        else:
            forms += [
                lambda: f"({again(NUMBER)} {rng.choice('+-*')} {again(NUMBER)})",
                lambda: f"ABS({again(NUMBER)})",
                lambda: f"LENGTH({again(TEXT)})",
            ]
        return rng.choice(forms)()

    def _condition(self, scopes: tuple[_Scope, ...], depth: int) -> str:
        rng = self._rng
        kind = rng.choice((TEXT, TEXT, NUMBER))
        value: Callable[[str], str] = lambda its: self._value(scopes, its, depth + 1)  # noqa: E731 - short
        forms: list[Callable[[], str]] = [
            lambda: f"{value(kind)} {rng.choice(('=', '<>', '<', '>='))} {value(kind)}",
            lambda: f"{value(TEXT)} {rng.choice(('', 'NOT '))}LIKE {literal(rng.choice(_TEXTS))}",
            lambda: f"{value(kind)} IS {rng.choice(('', 'NOT '))}NULL",
            lambda: f"{value(NUMBER)} BETWEEN {value(NUMBER)} AND {value(NUMBER)}",
            lambda: f"{value(kind)} {rng.choice(('', 'NOT '))}IN ({value(kind)}, {value(kind)})",
        ]
        if depth < _DEEPEST:
            forms += [
                lambda: f"NOT ({self._condition(scopes, depth + 1)})",
                lambda: (
                    f"({self._condition(scopes, depth + 1)} {rng.choice(('AND', 'OR'))} "
                    f"{self._condition(scopes, depth + 1)})"
                ),
                lambda: f"EXISTS ({self._query(depth + 1, scopes, 1)[0]})",
                lambda: f"{value(kind)} IN ({self._query(depth + 1, scopes, 1, kinds=(kind,))[0]})",
            ]
        return rng.choice(forms)()

    # ---------------------------------------------------------------- queries

    def _query(
        self,
        depth: int,
        outer: tuple[_Scope, ...],
        width: int,
        *,
        kinds: tuple[str, ...] = (),
        one: bool = False,
        whole: bool = False,
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        """A query with the names and kinds of its columns; with `one` it gives one row at most."""
        kinds = kinds or tuple(self._rng.choice((TEXT, NUMBER)) for _ in range(width))
        before = list(self._ctes)
        head = ""
        if depth < 2 and self._chance(0.25):
            head = "WITH " + ", ".join(self._cte(depth) for _ in range(self._rng.randint(1, 2))) + " "
        if depth < 2 and not one and self._chance(0.15):
            left, columns = self._select(depth + 1, outer, kinds, ordered=False)
            right, _ = self._select(depth + 1, outer, kinds, ordered=False)
            operator = self._rng.choice(("UNION", "UNION ALL", "INTERSECT", "EXCEPT"))
            text = f"{left} {operator} {right}"
            # Whole rows in order: the order of what a set operation gives is nobody's promise.
            text += " ORDER BY " + ", ".join(str(number + 1) for number in range(len(columns)))
            if columns and self._chance(self._reach):
                text += f" LIMIT ({self._query(depth + 1, (), 1, kinds=(NUMBER,), one=True)[0]})"
        else:
            text, columns = self._select(
                depth + 1, outer, kinds, ordered=whole or (not one and self._chance(0.2)), one=one
            )
        self._ctes = before
        return head + text, columns

    def _cte(self, depth: int) -> str:
        text, columns = self._query(depth + 1, (), self._rng.randint(1, 2))
        alias = self._alias()
        listed = ""
        if self._chance(0.4):
            names = self._fresh_aliases(len(columns))
            columns = tuple((name, kind) for name, (_, kind) in zip(names, columns, strict=True))
            listed = f"({', '.join(quote(name) for name in names)})"
        self._ctes.append(_Source(alias, columns))
        return f"{quote(alias)}{listed} AS ({text})"

    def _source(self, depth: int) -> tuple[str, _Source]:
        rng = self._rng
        alias = self._alias()
        if depth < _DEEPEST and self._chance(0.2):
            text, columns = self._query(depth + 1, (), rng.randint(1, 2))
            listed = ""
            if self._chance(0.3) and self._world.dialect != "sqlite":
                names = self._fresh_aliases(len(columns))
                columns = tuple((name, kind) for name, (_, kind) in zip(names, columns, strict=True))
                listed = f"({', '.join(quote(name) for name in names)})"
            return f"({text}) AS {quote(alias)}{listed}", _Source(alias, columns)
        if self._ctes and self._chance(0.5):
            cte = rng.choice(self._ctes)
            return f"{self._name(cte.alias)} AS {quote(alias)}", _Source(alias, cte.columns)
        table = rng.choice(self._world.tables if self._chance(self._reach) else self._world.visible)
        seen = table.columns if self._chance(self._reach) else table.visible
        columns = tuple((column.name, column.kind) for column in seen)
        if self._chance(0.3):
            return self._name(table.name), _Source(table.name, columns)
        text = f"{self._name(table.name)} AS {quote(alias)}"
        if self._chance(self._reach * 0.3):
            names = self._fresh_aliases(rng.randint(1, 4))
            text = rng.choice(("({})({})", "{}({})")).format(text, ", ".join(map(quote, names)))
        return text, _Source(alias, columns)

    def _from(self, depth: int, outer: tuple[_Scope, ...]) -> tuple[str, _Scope]:
        text, first = self._source(depth)
        sources = [first]
        while len(sources) < 3 and self._chance(0.3):
            more, source = self._source(depth)
            if any(source.alias.lower() == other.alias.lower() for other in sources):
                break
            sources.append(source)
            condition = f" ON {self._condition((tuple(sources), *outer), _DEEPEST)}"
            shared = [c for c, _ in source.columns if any(c == other for other, _ in first.columns)]
            kinds = [("CROSS JOIN", ""), ("JOIN", condition), ("LEFT JOIN", condition)]
            if shared and len(sources) == 2:
                kinds += [
                    (kind, f" USING ({quote(self._rng.choice(shared))})") for kind in ("JOIN", "LEFT JOIN")
                ]
            if self._chance(0.2):
                kinds = [(",", "")]
            kind, end = self._rng.choice(kinds)
            text = f"{text} {kind} {more}{end}"
        return text, tuple(sources)

    def _select(
        self,
        depth: int,
        outer: tuple[_Scope, ...],
        kinds: tuple[str, ...],
        *,
        ordered: bool,
        one: bool = False,
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        rng = self._rng
        text, sources = self._from(depth, outer)
        scopes = (sources, *outer)
        grouped = self._chance(0.25)
        if grouped or (one and self._chance(0.6)):
            return self._aggregate(text, scopes, kinds, depth, one=one)
        names = self._fresh_aliases(len(kinds))
        items, columns = [], []
        for kind, name in zip(kinds, names, strict=True):
            value = self._value(scopes, kind, depth)
            if depth == 1 and columns and self._chance(0.2):
                items.append(value)  # a name that the database gives
            else:
                items.append(f"{value} AS {self._declared(name)}")
                columns.append((name, kind))
        if depth == 1 and ordered and self._chance(0.25):
            star = rng.choice(("*", "*", f"{self._name(rng.choice(sources).alias)}.*", "COUNT(*) OVER ()"))
            items.insert(0, "(*)" if self._chance(self._reach * 0.2) else star)
        sql = f"SELECT {'DISTINCT ' if self._chance(0.15) else ''}{', '.join(items)} FROM {text}"
        if self._chance(0.5):
            sql += f" WHERE {self._where(scopes, columns, depth)}"
        if ordered and "DISTINCT" not in sql:
            sql += f" ORDER BY {self._keys(scopes, columns)}"
        if one:
            sql += " ORDER BY 1 LIMIT 1"
        return sql, tuple(columns)

    def _where(self, scopes: tuple[_Scope, ...], columns: list[tuple[str, str]], depth: int) -> str:
        condition = self._condition(scopes, depth)
        if self._world.dialect == "postgres" or not self._chance(0.3):
            return condition
        # An alias in a condition: some databases have that, others take it for a column.
        name, kind = self._rng.choice(columns)
        return f"{quote(name)} {self._rng.choice(('<>', '>='))} {self._literal(kind)} AND {condition}"

    def _keys(self, scopes: tuple[_Scope, ...], columns: list[tuple[str, str]]) -> str:
        rng = self._rng
        name, kind = rng.choice(columns)
        forms = [
            self._name(name, declared=True),
            quote(name),
            "1",
            self._value(scopes, kind, _DEEPEST - 1),
            f"({quote(name)})",
            f"COALESCE({quote(name)}, {self._literal(kind)})",
        ]
        if self._chance(self._reach * 0.3):
            forms = ["*", "(*)", f"{quote(rng.choice(self._hidden))}", "ctid", "rowid"]
        key = rng.choice(forms)
        return f"{key}{rng.choice(('', '', ' DESC'))}"

    def _aggregate(
        self, text: str, scopes: tuple[_Scope, ...], kinds: tuple[str, ...], depth: int, *, one: bool
    ) -> tuple[str, tuple[tuple[str, str], ...]]:
        rng = self._rng
        names = self._fresh_aliases(len(kinds))
        items, columns = [], []
        key = None
        for place, (kind, name) in enumerate(zip(kinds, names, strict=True)):
            if place == 0 and not one and self._chance(0.6):
                key = self._column(scopes[:1], kind)
                value = key
            elif kind == NUMBER and self._chance(0.4):
                value = "COUNT(*)"
            else:
                value = f"{rng.choice(('MIN', 'MAX'))}({self._value(scopes, kind, max(depth, _DEEPEST - 1))})"
            items.append(f"{value} AS {quote(name)}")
            columns.append((name, kind))
        sql = f"SELECT {', '.join(items)} FROM {text}"
        if self._chance(0.4):
            sql += f" WHERE {self._condition(scopes, max(depth, _DEEPEST - 1))}"
        if key is not None:
            sql += f" GROUP BY {rng.choice((key, key, '1', quote(names[0])))}"
            if self._chance(0.3):
                sql += " HAVING COUNT(*) >= 1"
            if self._chance(0.3):
                sql += f" ORDER BY {rng.choice((quote(names[0]), 'COUNT(*)', '1'))}"
        return sql, tuple(columns)


def mutate(sql: str, world: World, rng: random.Random) -> str:
    """The statement with one to three words of it changed."""
    names = [*world.hidden_names(), *(table.name for table in world.tables), *SYSTEM_NAMES.split("|")]
    tokens = _TOKEN.findall(sql)
    for _ in range(rng.randint(1, 3)):
        place = rng.randrange(len(tokens))
        token = tokens[place] or " "
        name = rng.choice(names)
        plain = bool(_PLAIN_NAME.match(token)) and token.upper() != token
        if token[0] == '"' or plain:
            bare = token.strip('"')
            tokens[place] = rng.choice(
                (
                    quote(name),
                    name,
                    bare,
                    quote(bare),
                    bare.upper(),
                    quote(bare.swapcase()),
                    f"{token}.{quote(name)}",
                )
            )
        elif token == "*":
            tokens[place] = rng.choice(("(*)", "* AS x", f"{quote(name)}.*", quote(name)))
        elif token.isspace():
            tokens[place] = rng.choice((" ", f" AS {quote(name)} ", f" {quote(name)} ", " NOT ", ", "))
        elif token.isdigit() or token[0] == "'":
            tokens[place] = rng.choice((quote(name), f"({quote(name)})", "*", f"(SELECT MAX({quote(name)}))"))
        elif token in "()":
            tokens[place] = rng.choice((token * 2, "", f"{token} "))
        else:
            tokens[place] = rng.choice(("=", ".", ",", "||", token))
    return "".join(tokens)
