"""Random expressions over literals, written without the parentheses that would make their reading plain."""

from __future__ import annotations

import random
from collections.abc import Callable

_NUMBERS = ["0", "1", "2", "3", "7", "10", "2.5", ".5", "1.", "1e2", "007", "9223372036854775807", "NULL"]
_TEXTS = [
    "'a'",
    "'B'",
    "'a''b'",
    "''",
    "'a\\b'",
    "'\\'",
    "'%'",
    "'a_c'",
    "'2'",
    "'1.5'",
    "' x '",
    "NULL",
    "'é'",
    "'--'",
    "'/*'",
]
_TIMES = ("'2100-01-31'", "'2100-02-28 12:30:45'", "'2000-12-31 23:59:59'")
_PATTERNS = ["'a%'", "'%B'", "'a\\%'", "'a_c'", "'%''%'", "'\\_'", "''", "'%\\'"]
_TYPES = {
    "sqlite": (
        "INTEGER|INT|REAL|FLOAT|DOUBLE|TEXT|NUMERIC|DECIMAL|DECIMAL(4,1)|VARCHAR(3)|CHAR|BOOLEAN"
        "|BIGINT|DATE|TIMESTAMP|TIME"
    ),
    "postgres": (
        "INTEGER|INT|REAL|FLOAT|DOUBLE PRECISION|TEXT|NUMERIC|DECIMAL(4,1)|VARCHAR(3)|CHAR(2)"
        "|CHAR|BOOLEAN|BIGINT|SMALLINT|DATE|TIMESTAMP|TIME|TIMESTAMPTZ|INTERVAL"
    ),
    "duckdb": (
        "INTEGER|INT|REAL|FLOAT|DOUBLE|TEXT|NUMERIC|DECIMAL(4,1)|VARCHAR(3)|VARCHAR|CHAR|BOOLEAN"
        "|BIGINT|SMALLINT|DATE|TIMESTAMP|TIME"
    ),
}
_FUNCTIONS = {
    "sqlite": (
        "ABS({n})|ROUND({n})|ROUND({n}, {n})|LENGTH({t})|LOWER({t})|UPPER({t})|TRIM({t})"
        "|COALESCE({a}, {a})|NULLIF({a}, {a})|SUBSTR({t}, {n})|SUBSTR({t}, {n}, {n})"
        "|SUBSTRING({t}, 1, 2)|IFNULL({a}, {a})|IIF({c}, {a}, {a})|DATE({d})|TIME({d})"
        "|DATETIME({d})|JULIANDAY({d})|STRFTIME('{f}', {d})|DATE({d}, '-1 day')"
        "|DATETIME({d}, 'start of month', '+1 month')|STRFTIME('{f}', {d}, '+1 year')|MAX({a})"
        "|MIN({a})|COUNT(*)|SUM({n})|AVG({n})|COUNT(DISTINCT {a})"
        "|ROW_NUMBER() OVER (ORDER BY {a})|RANK() OVER (PARTITION BY {a} ORDER BY {a} DESC)"
    ),
    "postgres": (
        "ABS({n})|ROUND({n})|ROUND({n}, {n})|LENGTH({t})|LOWER({t})|UPPER({t})|TRIM({t})"
        "|COALESCE({a}, {a})|NULLIF({a}, {a})|SUBSTR({t}, {n})|SUBSTR({t}, {n}, {n})"
        "|SUBSTRING({t} FROM 1 FOR 2)|SUBSTRING({t}, 1, 2)|RIGHT({t}, {n})|DIV({n}, {n})"
        "|TRUNC({n})|GREATEST({n}, {n})|LEAST({n}, {n})|EXTRACT(YEAR FROM {ts})"
        "|EXTRACT(EPOCH FROM {ts})|EXTRACT(month FROM {ts})|DATE_TRUNC('month', {ts})"
        "|DATE_TRUNC('YEAR', {ts})|TO_CHAR({ts}, '{pf}')|REGEXP_REPLACE({t}, 'a', 'x\\1')"
        "|REGEXP_REPLACE({t}, '([ab])', '\\1\\1', 'g')|{ts} + INTERVAL '1 day'"
        "|{ts} - INTERVAL '1 day 2 hours'|{ts} - INTERVAL '1' MONTH|{ts} - {ts}|MAX({n})|COUNT(*)"
        "|SUM({n})|AVG({n})|COUNT(DISTINCT {a})|(ARRAY_AGG({n}))[1]"
        "|(ARRAY_AGG({n} ORDER BY {n}))[1]|ROW_NUMBER() OVER (ORDER BY {n})|{n}::text"
        "|{n}::numeric::int|DATE {d}|TIMESTAMP {d}|{t} ILIKE {p}|{t} NOT ILIKE {p}"
        "|INTERVAL '90 minutes'|INTERVAL '-3' HOUR|PERCENT_RANK() OVER (ORDER BY {n})"
        "|CURRENT_DATE > DATE {d}|CURRENT_TIME IS NULL"
    ),
    "duckdb": (
        "ABS({n})|ROUND({n})|ROUND({n}, 1)|LENGTH({t})|LOWER({t})|UPPER({t})|TRIM({t})"
        "|COALESCE({a}, {a})|NULLIF({a}, {a})|SUBSTR({t}, 1)|SUBSTR({t}, 1, 2)"
        "|SUBSTRING({t} FROM 1 FOR 2)|SUBSTRING({t}, 1, 2)|RIGHT({t}, 2)|TRUNC({n})"
        "|GREATEST({n}, {n})|LEAST({n}, {n})|EXTRACT(YEAR FROM {ts})|EXTRACT(EPOCH FROM {ts})"
        "|EXTRACT(month FROM {ts})|DATE_TRUNC('month', {ts})|DATE_TRUNC('YEAR', {ts})"
        "|STRFTIME({ts}, '{f}')|REGEXP_REPLACE({t}, 'a', 'x')"
        "|REGEXP_REPLACE({t}, '([ab])', '\\1\\1', 'g')|{ts} + INTERVAL '1 day'"
        "|{ts} - INTERVAL '1 day 2 hours'|{ts} - INTERVAL '1' MONTH|{ts} - {ts}|MAX({n})|COUNT(*)"
        "|SUM({n})|AVG({n})|COUNT(DISTINCT {a})|COUNT(DISTINCT {a}, {a})|FIRST({n})"
        "|TRY_CAST({t} AS INT)|TO_SECONDS({n})|ROW_NUMBER() OVER (ORDER BY {n})|{n}::text"
        "|{n}::numeric::int|DATE {d}|TIMESTAMP {d}|{t} ILIKE {p}|{t} NOT ILIKE {p}"
        "|PERCENT_RANK() OVER (ORDER BY {n})|CURRENT_DATE > DATE {d}|CURRENT_TIME IS NULL"
        "|{n} // {n}|ARG_MAX_NULL({n}, {n})"
    ),
}
_FORMATS = [
    "%Y",
    "%m",
    "%d",
    "%H:%M",
    "%Y-%m-%d %H:%M:%S",
    "%j",
    "%W",
    "%w",
    "%s",
    "%f",
    "%Y %% %m",
    "%-d",
    "%B",
    "%b",
    "%a",
    "%p",
    "%I",
    "%y",
]
_PG_FORMATS = [
    "YYYY",
    "MM",
    "DD",
    "HH24:MI:SS",
    "YYYY-MM-DD",
    "Day",
    "FMMonth",
    "Mon",
    "Q",
    "J",
    "D",
    "ID",
    "IW",
    "WW",
    "IYYY",
    "HH12 AM",
    "%Y",
    "DDD",
    "YY",
    "MS",
    "US",
    "DD.MM.YYYY",
    "TMMonth",
    "MONTH",
    "HH",
    "W",
]


class Expressions:
    """Writes expressions of one dialect from one source of chance."""

    def __init__(self, dialect: str, rng: random.Random) -> None:
        self._dialect = dialect
        self._rng = rng

    def any(self, depth: int) -> str:
        """An expression of any kind."""
        return self._rng.choice((self.number, self.text, self.condition))(depth)

    def number(self, depth: int) -> str:
        """An expression whose value is probably a number."""
        rng = self._rng
        if depth <= 0 or rng.random() < 0.15:
            number = rng.choice(_NUMBERS)
            # As a text, DuckDB writes .5 as it was given.
            return "0.5" if number == ".5" and self._dialect == "duckdb" else number
        left, right = (self.number(depth - 1) for _ in range(2))
        return rng.choice(
            (
                f"{left} {rng.choice('+-*/%')} {right}",
                f"{left}{rng.choice('+*/')}{right}",
                f"- {left}",
                f"+{left}",
                f"-({left})",
                f"({left})",
                f"CAST({self.any(depth - 1)} AS {self._type()})",
                f"CASE WHEN {self.condition(depth - 1)} THEN {left} END",
                f"CASE {left} WHEN {right} THEN {right} ELSE {left} END",
                self._function(depth),
                f"(SELECT {left})",
            )
        )

    def text(self, depth: int) -> str:
        """An expression whose value is probably a text."""
        rng = self._rng
        if depth <= 0 or rng.random() < 0.2:
            return rng.choice(_TEXTS)
        left, right = (rng.choice((self.text, self.text, self.number))(depth - 1) for _ in range(2))
        return rng.choice((f"{left} || {right}", f"({left})", f"CAST({left} AS TEXT)", self._function(depth)))

    def condition(self, depth: int) -> str:
        """An expression whose value is probably a truth value."""
        rng = self._rng
        if depth <= 0:
            return rng.choice(
                ("1 = 1", "NULL IS NULL", "1 = 2", "'a' LIKE 'a%'", "TRUE", "FALSE", "NULL = 1")
            )
        left, right, third = (self.any(depth - 1) for _ in range(3))
        condition = self.condition(depth - 1)
        no = rng.choice(("", "NOT "))
        forms: tuple[Callable[[], str], ...] = (
            lambda: f"{left} {rng.choice(('=', '<>', '!=', '<', '<=', '>', '>='))} {right}",
            lambda: f"{left} {no}LIKE {rng.choice(_PATTERNS)}",
            lambda: (
                f"{left} {no}LIKE {rng.choice(_PATTERNS)} ESCAPE {rng.choice((chr(39) + chr(92) + chr(39), repr('x')))}"
            ),
            lambda: f"{left} {no}BETWEEN {right} AND {third}",
            lambda: f"{left} {no}IN ({right}, {third})",
            lambda: f"{left} {no}IN (SELECT {right})",
            lambda: f"{left} IS {no}NULL",
            lambda: f"{left} IS {no}{rng.choice(('TRUE', 'FALSE', '1'))}",
            lambda: f"NOT {condition}",
            lambda: f"NOT {left}",
            lambda: f"{condition} {rng.choice(('AND', 'OR'))} {self.condition(depth - 1)}",
            lambda: f"({condition})",
            lambda: f"{condition} = {right}",
            lambda: f"{left} = {condition}",
            lambda: f"{no}EXISTS (SELECT {left})",
        )
        return rng.choice(forms)()

    def _type(self) -> str:
        return self._rng.choice(_TYPES[self._dialect].split("|"))

    def _function(self, depth: int) -> str:
        rng = self._rng
        form = rng.choice(_FUNCTIONS[self._dialect].split("|"))
        day = rng.choice(_TIMES)
        return form.format(
            n=self.number(depth - 1),
            t=self.text(depth - 1),
            a=self.any(depth - 1),
            c=self.condition(depth - 1),
            d=day,
            ts=f"CAST({day} AS TIMESTAMP)",
            f=rng.choice(_FORMATS),
            pf=rng.choice(_PG_FORMATS),
            p=rng.choice(_PATTERNS),
        )
