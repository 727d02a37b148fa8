"""Statements that nest whatever SQL can nest, as deep as the verifier reads, alone and mixed."""

from __future__ import annotations

import random
from collections.abc import Iterator

from fastsql.verification import allowed

Frame = tuple[str, str]
"""What stands before and after the thing that is nested."""

FRAMES: tuple[Frame, ...] = (
    ("(", ")"),
    ("(SELECT ", ")"),
    ("(SELECT 1 FROM (SELECT ", ") AS a)"),
    ("1 IN (SELECT ", ")"),
    ("1 IN (", ")"),
    ("EXISTS (SELECT ", ")"),
    ("CASE WHEN ", " THEN 1 END"),
    ("CASE ", " WHEN 1 THEN 1 END"),
    ("CASE WHEN 1 THEN 1 ELSE ", " END"),
    ("CAST(", " AS INT)"),
    ("(SELECT 1 LIMIT ", ")"),
    ("(SELECT 1 LIMIT (", "))"),
    ("(SELECT 1 LIMIT 1 OFFSET (", "))"),
    ("(SELECT 1 FETCH FIRST (", ") ROWS ONLY)"),
    ("(SELECT 1 ORDER BY ", ")"),
    ("(SELECT 1 GROUP BY (", "))"),
    ("(SELECT 1 GROUP BY 1 HAVING ", ")"),
    ("(SELECT 1 WHERE ", ")"),
    ("(SELECT 1 UNION SELECT ", ")"),
    ("((SELECT 1) UNION (SELECT ", "))"),
    ("(WITH a AS (SELECT ", ") SELECT 1)"),
    ("(WITH a(b) AS (SELECT ", ") SELECT 1)"),
    ("SUM(1) OVER (ORDER BY ", ")"),
    ("SUM(1) OVER (PARTITION BY ", ")"),
    ("(SELECT 1 FROM a JOIN (SELECT ", ") AS b ON 1)"),
    ("(SELECT 1 FROM a JOIN b JOIN (SELECT ", ") AS c ON 1 ON 1)"),
    ("(SELECT 1 FROM a JOIN b ON (", "))"),
    ("(SELECT 1 FROM a JOIN b USING (", "))"),
    ("(SELECT 1 FROM a CROSS JOIN (SELECT ", ") AS b)"),
    ("(SELECT 1 FROM f(", "))"),
    ("(SELECT 1 FROM a AS b(", "))"),
    ("1 BETWEEN ", " AND 1"),
    ("1 BETWEEN 1 AND ", ""),
    ("'a' LIKE ", ""),
    ("('a' LIKE 'b' ESCAPE ", ")"),
    ("NOT ", ""),
    ("- ", ""),
    ("(", " IS NULL)"),
    ("(", ") || 1"),
    ("(1 + ", ")"),
    ("(", ")::int"),
    ("(", ")[1]"),
    ("[", "]"),
    ("(1, ", ")"),
    ("INTERVAL ", ""),
    ("COUNT(DISTINCT ", ")"),
    ("(SELECT DISTINCT (", "))"),
    ("COUNT(*) FILTER (WHERE ", ")"),
    ("TRIM(BOTH ", ")"),
    ("1 = ALL (SELECT ", ")"),
    ("TIMESTAMP ", ""),
    ("DATE ", ""),
)
_CALLS = (
    ("(", ")"),
    (" (", ")"),
    ("(1, ", ")"),
    ("(", ", 1)"),
    ("(SELECT ", ")"),
    ("(", " AS INT)"),
    ("('x' FROM ", ")"),
)
_WORDS = allowed.words(
    """
    array bigint binary blob bool decfloat enum fetch foo geometry group int interval inet json jsonb lateral limit long map
    number object offset partition real row serial short smallint string struct table text tinyint uuid values variant vector
    within xml
    """
)
"""Words that sqlglot reads in ways of their own, beside those that the verifier lets through."""
_PADS = ("", " + 1", " AND 1 = 1", ", 1", " || 'x'", " UNION SELECT 1", ", a JOIN b")


def frames(dialect: str) -> list[Frame]:
    """Every construct, and every word of a dialect's lists as a call."""
    words = allowed.NAMES[dialect] | allowed.KEYWORDS | allowed.TYPE_NAMES | _WORDS
    return [*FRAMES, *((word + before, after) for word in sorted(words) for before, after in _CALLS)]


def nest(chosen: list[Frame], middle: str = "1") -> str:
    """A statement of frames in each other."""
    before = "".join(frame[0] for frame in chosen)
    after = "".join(frame[1] for frame in reversed(chosen))
    return f"SELECT {before}{middle}{after}"


def nests(dialect: str, depths: range, mixed: int, seed: int) -> Iterator[str]:
    """Each construct at each depth, then `mixed` random ones, a third of them with thousands of tokens inside."""
    every = frames(dialect)
    for frame in every:
        for depth in depths:
            yield nest([frame] * depth)
    draw = random.Random(seed)
    for number in range(mixed):
        few = draw.sample(every, draw.randint(1, 3))
        pad = draw.choice(_PADS) * draw.randint(0, 1_500) if number % 3 == 0 else ""
        yield nest([draw.choice(few) for _ in range(draw.randint(1, 48))], f"1{pad}")
