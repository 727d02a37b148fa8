"""What the columns of a schema are filled with, told by its profile: kinds, units, and the words of names."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence

from fastsql.profile.kind_words import MONEY, PERSONS, PERSONS_CHINESE
from fastsql.profile.model import ColumnProfile, Profile
from fastsql.schema import Schema
from fastsql.schema.model import Column
from fastsql.synthesis.contents.fillings import (
    Ages,
    Choice,
    Drawn,
    Each,
    Filling,
    Mixed,
    Moments,
    Nothing,
    Numbers,
    Patterns,
    Persons,
    Serial,
    codes,
)
from fastsql.synthesis.contents.pools import (
    ADJECTIVES,
    CATEGORIES,
    CITIES,
    CLINICAL,
    ELSEWHERE,
    NAMES,
    PLAIN,
    REMARKS,
    SENTENCES,
    STREETS,
    THINGS,
    Pool,
)

_ROLES = (
    ("birth", "birth dob birthday birthdate born 出生"),
    ("death", "death dod died deceased 死亡"),
    ("due", "due expiry expires expiration next planned valid 到期 有效"),
    (
        "end",
        "end stop discharge closed finished completed departure checkout resolved until to out disch 结束 出院 停",
    ),
    ("next", "received reported verified approved updated result performed paid 报告 审核"),
)
"""Words of names that tell what a date is (`fillings.ROLES`); the first that fits. All others begin something."""


def _entries(text: str) -> list[tuple[str, str]]:
    """What stands behind each word of `words=what; ...`."""
    entries = (entry.strip().partition("=") for entry in " ".join(text.split()).split(";"))
    return [(word, what) for words, _, what in entries for word in words.split()]


RANGES = {
    word: (float(low), float(high), int(digits))
    for word, limits in _entries(
        """
        grams=600..4600..0;
        weight 体重=42..118..1; height 身高=148..196..0; temperature 体温=35.8..40.2..1; percent percentage ratio share 比例
        率=0..100..1; score 得分 分数=0..100..0; dose dosage 剂量=5..500..0; heart=52..128..0; pulse=52..128..0;
        systolic=95..175..0; diastolic=55..105..0; saturation=86..100..0; bmi=17..39..1; glucose=3.6..14.5..1;
        creatinine=45..210..0; latitude=-60..65..4; longitude=-150..150..4; rating=1..5..0; capacity=20..900..0;
        beds=4..60..0; hours=1..48..0; minutes=5..240..0; days 天数=1..60..0; stay=1..30..0; salary
        工资=22000..98000..0; population=4000..900000..0; budget=10000..900000..0; number count quantity 数量 次数
        人数=1..40..0; rank position pick 名次 排名=1..20..0; sequence order line round lap version 轮次 轮数 届数=1..9..0;
        week=1..52..0; episode season chapter 赛季=1..24..0; act scene level stage grade=1..5..0; decile=1..10..0;
        percentile=1..99..0;
        runtime duration time=20..200..0; lane=1..8..0; chromosome=1..23..0;
        attendance crowd=300..48000..0; page floor 楼层=1..12..0
        """
    )
    for low, high, digits in [limits.split("..")]
}
"""By a word of a name: the least number, the largest, and how many digits follow the point."""
PATTERNS = dict(
    _entries(
        """
        phone telephone mobile fax 电话=5##-####; ssn=###-##-####; zip postcode postal 邮编=####0; icd=@##.#;
        icd10=@##.#; icd9=###.#; loinc=####-#; snomed=########; ndc=####-###-##; cpt=9####; drg=###; atc=@0#@@0#;
        iata=@@@; url uri website 网址=https://example.org/####; username=user####; barcode=############;
        isbn=978-#########; 身份证号=##################; passport=@#######
        """
    )
)
"""By a word of a name, what an identifier or a code looks like (`spelled_pattern`)."""
_IDEOGRAPH = re.compile("[\u3400-\u9fff]")
_WORD = re.compile(r"[a-z]+\d*|[^\x00-\x7f]+")
_WORDS_OF_TIME = re.compile("hour|minute|second|stamp|time|datetime")
_EMPTY = 0.12
"""The share of cells of a column that may be empty which are."""


def suggest(schema: Schema, profile: Profile | None = None, seed: str = "1") -> tuple[Filling, ...]:
    """By column what fills it; keys are given theirs by `make_rows`, which passes these over."""
    profile = profile or schema.profile
    keys = {table.primary_key for table in schema.tables} | {key.references for key in schema.foreign_keys}
    single = {columns[0] for columns in keys if len(columns) == 1}
    parts = {column for columns in keys if len(columns) > 1 for column in columns} - single
    lists = _lists(schema, profile)
    clinical = is_clinical(profile)
    found = []
    for index, column in enumerate(schema.columns):
        rng = random.Random(f"{seed}/{index}")
        filling = _filling(schema, profile, index, rng, is_key=index in single, clinical=clinical)
        if index in parts and column.type == "number" and profile.columns[index].kind != "date":
            filling = Filling(Numbers(1, 6, falling=True))
        elif (
            column.table in lists
            and not column.values
            and isinstance(filling.drawn, Choice)
            and profile.columns[index].kind == "name"
        ):
            filling = Filling(Each(tuple(rng.sample(filling.drawn.values, len(filling.drawn.values)))))
        found.append(filling)
    return tuple(found)


def is_person(schema: Schema, profile: Profile, table: int) -> bool:
    """Whether a row of a table is a person, or about one."""
    name = f"{profile.tables[table].called} {schema.tables[table].name}".lower()
    return bool(PERSONS & set(name.split())) or any(word in name for word in PERSONS_CHINESE)


def is_clinical(profile: Profile) -> bool:
    """Whether a name of a schema's tables or columns is one of medicine."""
    names = [f"{table.called} {table.words}" for table in profile.tables]
    names += [f"{column.called} {column.words}" for column in profile.columns]
    return any(CLINICAL & set(_WORD.findall(name.lower())) for name in names)


def _lists(schema: Schema, profile: Profile) -> set[int]:
    """Tables of things that are referred to and refer to nothing: of each name they have a row."""
    referring = {schema.columns[key.columns[0]].table for key in schema.foreign_keys}
    referred = {schema.columns[key.references[0]].table for key in schema.foreign_keys} - referring
    return {table for table in referred if not is_person(schema, profile, table)}


def _filling(
    schema: Schema, profile: Profile, index: int, rng: random.Random, *, is_key: bool, clinical: bool
) -> Filling:
    column, known = schema.columns[index], profile.columns[index]
    words = _WORD.findall(f"{known.words} {known.label}".lower())
    chinese = _IDEOGRAPH.search(known.label or known.words) is not None
    if is_key and known.kind not in ("date", "category", "name"):
        return Filling(_key(column, rng))
    table = _WORD.findall(profile.tables[column.table].called.lower())
    person = is_person(schema, profile, column.table)
    drawn = _Suggestion(column, known, words, table, chinese, person, clinical or chinese, rng)
    role = drawn.role() if known.kind == "date" else ""
    empty = {"death": 0.85, "end": 0.2, "due": 0.2}.get(role, _EMPTY if rng.random() < 0.35 else 0.0)
    always = known.kind == "name" or role in ("birth", "begin")
    return Filling(drawn.drawn(), 0.0 if always or is_key else empty)


def _key(column: Column, rng: random.Random) -> Drawn:
    if column.type == "text":
        return Serial(rng.choice((1, 101, 1001)), f"{column.name[:1].upper()}#####")
    return Serial(rng.choice((1, 1, 101, 1001, 50001)))


class _Suggestion:
    """What fits one column."""

    def __init__(
        self,
        column: Column,
        known: ColumnProfile,
        words: Sequence[str],
        table: Sequence[str],
        chinese: bool,
        person: bool,
        clinical: bool,
        rng: random.Random,
    ) -> None:
        self._column = column
        self._known = known
        self._words = words
        self._table = table
        self._chinese = chinese
        self._person = person
        self._clinical = clinical
        self._rng = rng

    def drawn(self) -> Drawn:
        column = self._column
        if column.values:
            return Choice(column.values)
        if column.type == "boolean":
            return Choice((0, 1))
        match self._known.kind:
            case "date":
                return self._moments()
            case "category":
                return self._category()
            case "code" | "identifier":
                return self._code()
            case "amount" | "measure":
                return self._measure()
            case "name":
                return self._name()
            case "text":
                return self._text()
        return Nothing()

    def role(self) -> str:
        said = set(self._words)
        for role, words in _ROLES:
            if any(
                word in said or (not word.isascii() and word in self._known.called) for word in words.split()
            ):
                return role
        return "begin"

    def _moments(self) -> Drawn:
        role, last = self.role(), self._words[-1:] or [""]
        if self._column.type == "number":
            forms = {"month": "%m", "day": "%d", "quarter": "%m", "hour": "%H"}
            return Moments(role, forms.get(last[0], "%Y"), number=True)
        declared = self._column.sql_type.lower()
        if declared.startswith("time") and "stamp" not in declared:
            return Moments(role, "%H:%M:%S")
        if last[0] in ("year", "年份"):
            return Moments(role, "%Y")
        whole = "datetime" in declared or "timestamp" in declared
        by_name = not declared.startswith("date") and any(_WORDS_OF_TIME.search(word) for word in self._words)
        return Moments(role, "%Y-%m-%d %H:%M:%S" if whole or by_name else "%Y-%m-%d")

    def _category(self) -> Drawn:
        if self._words[:1] and self._words[0] in ("is", "has", "was", "can"):
            return Choice((0, 1) if self._column.type == "number" else ("N", "Y"))
        if self._column.type == "number":
            return Choice((1, 2, 3, 4, 5)[: self._rng.randint(2, 5)])
        pool = self._pool(CATEGORIES) or PLAIN
        return Choice(tuple(self._some(pool[self._chinese])))

    def _code(self) -> Drawn:
        pattern = next((PATTERNS[word] for word in reversed(self._words) if word in PATTERNS), "")
        if "email" in self._words or "邮箱" in self._known.called:
            return Persons("email")
        if self._column.type == "number":
            if self._known.kind == "identifier":
                return Numbers(10_000, 99_999)
            return Choice(tuple(self._rng.sample(range(10, 999), 12)))
        if self._known.kind == "identifier":
            return Patterns(pattern or "@#####")
        return codes(pattern or "@##", 14, self._rng)

    def _measure(self) -> Drawn:
        real = self._column.type == "number" and not re.match(r".*int", self._column.sql_type.lower())
        said = [word for word in reversed(self._words) if word in RANGES]
        said = said or [word for word in RANGES if not word.isascii() and self._known.called.endswith(word)]
        if self._known.unit == "g":
            said = ["grams"]
        if self._words[-1:] == ["age"] or self._known.called.endswith("年龄"):
            return Ages()
        is_money = set(self._words) & MONEY and said[:1] != self._words[-1:]
        if is_money or self._known.called.endswith(("费", "费用", "金额", "价", "价格", "单价")):
            return Numbers(5, 2_400, 2 if real else 0, falling=True)
        if said:
            low, high, digits = RANGES[said[0]]
            return Numbers(low, high, digits if real else 0)
        if self._column.type != "number":
            return Numbers(1, 99, 0)  # a number that is kept as a text
        if self._known.kind == "amount":
            return Numbers(0, 60, 0, falling=True)
        if not self._known.aggregatable:
            return Numbers(1, 30, 0)
        return Numbers(1, 250, 1 if real and self._rng.random() < 0.7 else 0)

    def _name(self) -> Drawn:
        said = " ".join(self._words)
        for part, endings in (
            ("first", ("first name", "given name", "forename", "first")),
            ("family", ("last name", "surname", "family name", "last")),
        ):
            if said.endswith(endings):
                return Persons(part)
        if self._words[-1:] in (["initial"], ["initials"]):
            return codes("@", 14, self._rng)
        if "address" in self._words or "street" in self._words:
            return self._address()
        pool = self._pool(NAMES, with_table=True)
        named = self._words[-1:] == ["name"] and PERSONS & set(self._words)
        persons = named or PERSONS & set(self._words[-1:]) or self._known.called.endswith("姓名")
        if said.endswith("full name") or (
            self._words[-1:] == ["name"] and (persons or (self._person and len(self._words) <= 2))
        ):
            return Persons()
        if persons or (self._person and self._chinese and self._known.called.endswith("名")):
            return Persons()
        if pool is not None:
            return Choice(pool[self._chinese])
        return Mixed((ADJECTIVES[self._chinese], THINGS[self._chinese]), "" if self._chinese else " ")

    def _text(self) -> Drawn:
        if "address" in self._words or self._known.called.endswith("地址"):
            return self._address()
        pool = self._pool(NAMES)
        return Choice((pool or (SENTENCES if self._clinical else REMARKS))[self._chinese], skew=0.4)

    def _address(self) -> Drawn:
        numbers = tuple(map(str, range(1, 90)))
        pools = (CITIES[True], STREETS[True], numbers) if self._chinese else (numbers, STREETS[False])
        return Mixed(pools, "" if self._chinese else " ")

    def _pool(self, pools: Mapping[str, Pool], *, with_table: bool = False) -> Pool | None:
        """The pool that a word of the column names, from its last one on, or one of its table's."""
        words = [
            "_".join(self._words[-2:]),
            *reversed(self._words),
            *(reversed(self._table) if with_table else ()),
        ]
        called = [self._known.called, "".join(self._table) if with_table else ""]
        for word in words:
            for form in (word, word.removesuffix("s"), word.removesuffix("es") + "is"):
                if form not in pools:
                    continue
                found = pools[form] if self._clinical else ELSEWHERE.get(form, pools[form])
                if found is not None:
                    return found
        for name in called:
            for word, pool in pools.items():
                if not word.isascii() and word in name:
                    return pool
        return None

    def _some(self, values: Sequence[str]) -> Sequence[str]:
        """Some of a pool's values, in an order of this column's own."""
        if len(values) < 4:
            return values
        return self._rng.sample(values, max(3, round(len(values) * self._rng.uniform(0.5, 1))))
