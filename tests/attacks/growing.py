"""Statements whose levels name the ones before them more than once, and very wide ones: short to write, huge to read."""

from __future__ import annotations

from collections.abc import Iterator

from fastsql.schema import Schema

from ..worlds.wide import numbered_columns

COLUMNS = 1_500
WIDE = Schema.from_dict({"wide": numbered_columns(COLUMNS), "small": {"x": "TEXT", "y": "TEXT"}})


def aliases(levels: int, times: int) -> str:
    """Each level's alias stands for so many of the one around it."""
    inner = "".join(
        f"SELECT COALESCE({', '.join([f'a{level - 1}'] * times)}) AS a{level} FROM small WHERE EXISTS ("
        for level in range(1, levels)
    )
    return f"SELECT 'x' AS a0 FROM small WHERE EXISTS ({inner}SELECT a{levels - 1} FROM small{')' * levels}"


def stars(levels: int) -> str:
    """Each CTE has all columns of the one before it twice."""
    ctes = (f"a{level} AS (SELECT *, * FROM a{level - 1})" for level in range(1, levels))
    return f"WITH a0 AS (SELECT * FROM small), {', '.join(ctes)} SELECT 1 FROM a{levels - 1}"


def ctes(levels: int, summands: int) -> str:
    """Each CTE names the one before it twice; the first one is so long."""
    first = " + ".join(["1"] * summands)
    more = (f"a{n} AS (SELECT p.x + q.x AS x FROM a{n - 1} AS p, a{n - 1} AS q)" for n in range(1, levels))
    return f"WITH a0 AS (SELECT {first} AS x), {', '.join(more)} SELECT x FROM a{levels - 1}"


def growing() -> Iterator[str]:
    """Statements over WIDE that grow, at several sizes."""
    for levels, times in ((6, 8), (8, 8), (17, 2), (40, 2), (46, 1)):
        yield aliases(levels, times)
    for levels in (14, 20, 23, 200):
        yield stars(levels)
    for levels, summands in ((8, 10), (14, 300), (16, 1), (200, 1)):
        yield ctes(levels, summands)


def wide() -> Iterator[str]:
    """Statements over WIDE that say much of many columns or sources."""
    listed = ", ".join(f"c{number % COLUMNS} AS d{number}" for number in range(1_900))
    yield f"SELECT * FROM (SELECT {listed} FROM wide) AS z"
    yield "SELECT * FROM (SELECT * FROM (SELECT * FROM (SELECT * FROM wide) AS a) AS b) AS c"
    keys = ", ".join(f"c{number % 1_000}" for number in range(3_900))
    yield f"SELECT {', '.join(f'c{number}' for number in range(1_000))} FROM wide ORDER BY {keys}"
    many = ", ".join(f"small AS s{number}" for number in range(250))
    yield f"SELECT {', '.join(f'c{number}' for number in range(COLUMNS))} FROM wide, {many}"
    yield f"SELECT {', '.join(f's{number % 200}.x' for number in range(2_300))} FROM {many}"
