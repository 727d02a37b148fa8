"""Names of SQL out of words, in the manner of one database or another."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType

from fastsql.profile.abbreviations import GENERAL, MEDICAL
from fastsql.synthesis.schema.words import plural

CASES: Mapping[str, float] = MappingProxyType(
    {"snake": 6, "camel": 2, "pascal": 2, "upper": 2, "flat": 1, "flat upper": 2}
)
"""How words are put together, with how often: admit_date, admitDate, AdmitDate, ADMIT_DATE, admitdate, ADMITDATE."""
_PREFIXES = ("tbl", "t", "hosp", "dwh", "m")
_KEYS = ("own", "id", "table id", "table no", "table key")
_CHINESE_KEYS = ("own", "own", "id", "ID", "table id", "table ID", "table 编号", "table 号", "table 代码")
_OF_TABLES = ("表", "信息", "信息表")
"""How Chinese tables are told from their rows."""


@dataclass(frozen=True)
class Style:
    """The manner of one database."""

    case: str = "snake"
    plural: bool = True
    """Whether tables are called by many of their rows: patients."""
    prefix: str = ""
    """What stands before the names of all tables."""
    suffix: str = ""
    """What stands behind them."""
    own: str = ""
    """What stands before the columns of each table: "" nothing, "name" the table's name, "short" its first letters."""
    key: str = "own"
    """What primary keys are called: "own" as designed, "id" or "ID", or the table's name and "id", "no", "编号" ..."""
    short: Mapping[str, str] = field(default_factory=dict)
    """Words that are cut short here."""

    @property
    def cryptic(self) -> bool:
        """Whether names have to be read twice."""
        return self.case in ("flat", "flat upper") or bool(self.short) or self.own == "short"

    def table(self, words: str) -> str:
        """The name of a table."""
        words = plural(words) if self.plural else words
        return self._joined(f"{self.prefix} {self._cut(words)} {self.suffix}".split(), whole=not self.prefix)

    def column(self, words: str, table: str) -> str:
        """The name of a column of a table."""
        if self.own == "name" and not words.startswith(table):
            words = f"{table} {words}"
        parts = self._cut(words).split()
        if self.own == "short":
            parts.insert(0, "".join(word[0] for word in table.split())[:3] if " " in table else table[:3])
        return self._joined(parts)

    @property
    def key_word(self) -> str:
        """What stands behind the name of what a foreign key refers to."""
        return "id" if self.key == "own" else self.key.rpartition(" ")[2]

    def key_words(self, words: str, table: str) -> str:
        """What a primary key is called, in words."""
        if self.key == "own":
            return words
        return f"{table} {self.key_word}" if " " in self.key else self.key

    def _cut(self, words: str) -> str:
        for phrase, short in self.short.items():
            words = f" {words} ".replace(f" {phrase} ", f" {short} ").strip()
        return words

    def _joined(self, words: list[str], *, whole: bool = True) -> str:
        words = [part for word in words for part in word.replace("'", "").replace("-", " ").split()]
        match self.case:
            case "snake":
                return "_".join(words)
            case "upper":
                return "_".join(words).upper()
            case "camel" if whole:
                return words[0] + "".join(word.capitalize() for word in words[1:])
            case "camel" | "pascal":
                return "".join(word.capitalize() for word in words)
            case "flat" | "as said":
                return "".join(words)
        return "".join(words).upper()


PLAIN_CHINESE = Style("as said", plural=False)
"""Names in Chinese just as they are said."""
PLAIN_ENGLISH = Style("snake", plural=False)
"""Names in English word by word."""


def draw_style(rng: random.Random) -> Style:
    """A style, plain ones oftener than cryptic ones."""
    (case,) = rng.choices(list(CASES), list(CASES.values()))
    return Style(
        case=case,
        plural=rng.random() < 0.5,
        prefix=rng.choice(_PREFIXES) if rng.random() < 0.2 else "",
        own=rng.choices(("", "name", "short"), (7, 1, 1))[0],
        key=rng.choice(_KEYS),
        short=_some_short(rng) if rng.random() < 0.35 else {},
    )


def draw_chinese_style(rng: random.Random) -> Style:
    """A style of names in Chinese, which are written as they are said."""
    return Style(
        case="as said",
        plural=False,
        suffix=rng.choice(_OF_TABLES) if rng.random() < 0.15 else "",
        own="name" if rng.random() < 0.1 else "",
        key=rng.choice(_CHINESE_KEYS),
    )


def _some_short(rng: random.Random) -> Mapping[str, str]:
    """An abbreviation of most words that have any; longer phrases come first."""
    share = rng.uniform(0.4, 1)
    chosen = {phrase: rng.choice(short) for phrase, short in _shortened().items() if rng.random() < share}
    return MappingProxyType(dict(sorted(chosen.items(), key=lambda item: (-len(item[0].split()), item[0]))))


@lru_cache(maxsize=1)
def _shortened() -> Mapping[str, tuple[str, ...]]:
    """The profile's abbreviations backwards."""
    found: defaultdict[str, list[str]] = defaultdict(list)
    for short, phrase in (*GENERAL.items(), *MEDICAL.items()):
        if len(short) < len(phrase.replace(" ", "")):
            found[phrase].append(short)
    return {phrase: tuple(sorted(set(short))) for phrase, short in found.items()}
