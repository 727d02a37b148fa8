"""Questions that nobody would ask, drawn from a seed: text of any kind, and pieces of what a question may hold."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

MARKER = "qzxvwkjp"
"""A word that stands in most questions and in nothing else, so that wherever it turns up, the question was repeated."""

_WORDS = (
    "how many patients|which drug|count|top five|the last|of gender f|since 08/2100|between|not|average|per ward|older than"
    "|病人|有多少|诊断为|入院时间在2100年3月之后|性别为女|一百二十三|最近一次|sick|y después|über|naïve|мужчина|कितने|환자"
)
_SQL = (
    "SELECT|* FROM|; DROP TABLE patients; --|' OR '1'='1|UNION SELECT sql FROM sqlite_master|/*|*/|--|)|((((|CASE WHEN"
    "|PRAGMA x|ATTACH DATABASE '/tmp/x' AS y|\\'|\\|%|_|?1|:name|@v|$1|$$|E'\\n'|N'x'|0x1F|x'00'"
    '|`|"|[|]|{0}|%s|${HOME}|NULL|;'
)
_NUMBERS = (
    "0|-0|-1|3.14|.5|5.|1e999|1e-400|9223372036854775807|9223372036854775808|-9223372036854775809|1,000,000|1 000|NaN|inf"
    "|1/0|½|①|Ⅷ|٣٤|３５|二十|1st|second|0007|10004235|120/80|98.6°F|50%|+1|1_000|1.2.3"
)
_DATES = (
    "2100-12-05|12/05/2100|31/12/2100|2100-13-45|2100-02-30|29 Feb 2101|March 2100|08/2100|12/29/last year|yesterday"
    "|at 25:61|2100年12月5日|01年1月31日|去年|上个月|0000-00-00|9999-12-31 23:59:59|10000-01-01|2100-12-05T10:00:00Z"
    "|13:45|two months ago"
)
_MARKS = "'|\"|“|”|‘|’|「|」|《|''|'''|\"\"\"|` `|'a|b'|'it''s'|(|)|,|、|。|？|…|—|·"
_RANGES = (
    (0x00, 0x20),  # control characters, NUL among them
    (0x7F, 0xA0),
    (0xA0, 0x250),
    (0x300, 0x370),  # combining marks
    (0x590, 0x700),  # right to left
    (0x0E00, 0x0E80),
    (0x2000, 0x2070),  # blanks, joiners, directions
    (0x2100, 0x2200),
    (0x3000, 0x3100),
    (0x4E00, 0x9FFF),
    (0xAC00, 0xD7A4),
    (0xD800, 0xE000),  # surrogates, each on its own
    (0xE000, 0xF900),
    (0xFB00, 0xFE00),
    (0xFF00, 0x10000),
    (0x1D400, 0x1D800),
    (0x1F300, 0x1FA00),
    (0x20000, 0x20100),
    (0xE0000, 0xE0080),
    (0x0, 0x110000),
)


def _letters(rng: random.Random) -> str:
    start, end = rng.choice(_RANGES)
    return "".join(chr(rng.randrange(start, end)) for _ in range(rng.randint(1, 12)))


def _long_word(rng: random.Random) -> str:
    piece = rng.choice(("a", "9", "病", "e\u0301", "🏥", "x1", "'", "-", "1/", "\u200d", "('"))
    return piece * rng.choice((50, 101, 300, 600, 2_100, 4_001))


def _from(texts: str) -> Callable[[random.Random], str]:
    choices = texts.split("|")
    return lambda rng: rng.choice(choices)


_PIECES: tuple[tuple[int, Callable[[random.Random], str]], ...] = (
    (30, _from(_WORDS)),
    (10, _from(_SQL)),
    (10, _from(_NUMBERS)),
    (10, _from(_DATES)),
    (8, _from(_MARKS)),
    (14, _letters),
    (1, _long_word),
)
_BETWEEN = (" ", " ", " ", " ", "", "", "\n", "\t", "\u3000", "\u00a0", "\0", ", ", " 'and' ")


def draw_question(rng: random.Random, names: Sequence[str]) -> str:
    """A question, or what stands for one; `names` are words of the schema, which it may mention.

    It holds `MARKER` unless it is one of the few that hold no word at all.
    """
    if rng.random() < 0.03:
        return rng.choice(("", " ", "\0", "\ud800", "?", "\u202e", "🏥", " " * 5_000, "\ufeff\u200b"))
    weights = [weight for weight, _ in _PIECES]
    makers = [maker for _, maker in _PIECES]
    count = rng.choice((0, 1, 2, 4, 8, 8, 16, 30))
    pieces = [maker(rng) for maker in rng.choices(makers, weights, k=count)]
    pieces += [_mention(rng, rng.choice(names)) for _ in range(rng.randint(0, 3)) if names]
    pieces.append(
        rng.choice((MARKER, f"'{MARKER}'", f"{MARKER}'s", f'"{MARKER}', MARKER.upper(), f"{MARKER}9"))
    )
    rng.shuffle(pieces)
    return "".join(piece + rng.choice(_BETWEEN) for piece in pieces)


def _mention(rng: random.Random, name: str) -> str:
    return rng.choice(
        (name, name.lower(), name.upper(), f"{name}s", f"'{name}'", name.replace("_", " "), name[:3])
    )
