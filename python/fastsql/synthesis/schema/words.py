"""What questions call the tables and columns of a schema."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from copy import copy
from types import MappingProxyType

from sqlglot import exp

from fastsql.profile.english import word_set
from fastsql.profile.model import ColumnProfile, Profile, TableProfile
from fastsql.schema import Schema
from fastsql.synthesis.schema.chinese import nouns
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.kinds import CODE, KEY, REFERENCE, TEXTS, TIME, YEAR, column_kinds
from fastsql.synthesis.schema.links import Links, identifying_columns

_NONE: Mapping[int, str] = MappingProxyType({})
_FLAGS = ("is ", "has ", "was ", "are ", "had ")
_AS_THEY_ARE = (
    "news",
    "series",
    "species",
    "staff",
    "equipment",
    "information",
    "data",
    "status",
    "criteria",
    "media",
    "vitals",
)
_PARTICIPLES = word_set("born drawn found given held left lost made paid seen sent taken taught won written")
"""Those that stand behind a noun, as in "year born", beside those in -ed."""
_NO_PARTICIPLES = ("hundred", "red", "shed", "sled")
_PREPOSITIONS = (
    "against",
    "at",
    "by",
    "for",
    "from",
    "in",
    "of",
    "on",
    "per",
    "since",
    "through",
    "to",
    "via",
    "with",
)
_ADJECTIVES = word_set("active alive available dead false open private public true valid visible")
_VERBS = ("ended", "entered", "left", "took", "won")
"""Those that open no name of a thing: "left office" is what somebody did."""
_DOINGS = word_set(
    """
    advise affiliate appear assign assist attend belong borrow buy compete consist contain create eat employ enrol enroll
    give have involve know lend like live manage operate own participate perform prescribe receive relate sell send serve
    sing speak supervise take teach treat undergo wear write
    """
)
"""What tables are called by what somebody does, "undergoes" and "takes": no row is one. A column's "likes" are a number."""
_WHERE = ("on", "in", "at", "by", "for", "with", "of", "via", "since")
"""What opens the name of a state, "on call"; "from city" is a city."""
_STAYS = word_set("patient date time day year")
"""Behind these, a thing: "in patients", "in date"."""
_DONE_TO = _DOINGS | word_set("apply bill come fall go lead life link play refer report run ship work")
"""Verbs before a preposition: "reports to" is no thing, a report is one."""
_NOT_SUMMED = word_set(
    """
    average avg mean median minimum maximum ratio rate share percent percentage index competitiveness rating rank %
    """
)
_PARTS_OF_NAMES = ("first", "last", "middle")
_IN_IE = word_set(
    "brownie calorie cookie genie hoodie lie movie pie prairie rookie selfie smoothie tie zombie"
)
"""Nouns whose plural ends as that of others in -y."""
_MOMENTS = {" on": " date", " at": " time"}
"""How the names of moments end, and what they are called: "admitted on" and "started at" are no things."""
_IRREGULAR = {
    "person": "people",
    "child": "children",
    "man": "men",
    "woman": "women",
    "foot": "feet",
    "diagnosis": "diagnoses",
    "analysis": "analyses",
    "midwife": "midwives",
    "alias": "aliases",
    "life": "lives",
}
_SINGULAR = {many: one for one, many in _IRREGULAR.items()}


_FEW = 3


LANGUAGES = ENGLISH, CHINESE = "en", "zh"
"""Languages of questions."""


class UnsayableError(ValueError):
    """A query for which there are no words yet. The message names the construct."""


class Words:
    """Names for the items of one schema; where there are several, one is drawn anew each time."""

    def __init__(
        self, schema: Schema, profile: Profile | None = None, contents: Contents | None = None
    ) -> None:
        """`profile`: one that people have edited; otherwise what the schema's names suggest.

        `contents`: rows that tell which keys and names do not tell them apart.
        """
        self.schema = schema
        self._profile = profile or schema.profile
        self.links = Links(schema)
        self._contents = contents
        self._identifying = identifying_columns(schema, contents)
        self._kinds = column_kinds(schema, self._profile, contents)
        self._tables = {schema.table_name(table): table for table in range(len(schema.tables))}
        names = [one.called for one in self._profile.tables] + [one.called for one in self._profile.columns]
        self.language = CHINESE if 2 * sum(map(nouns.is_chinese, names)) > len(names) else ENGLISH
        known = self._profile.columns
        self.names_of_columns = frozenset(
            name for one in known for name in (one.called, one.words, *one.synonyms)
        )
        """What any column is called."""
        self._renamed_tables: Mapping[int, str] = {}
        self._renamed_columns: Mapping[int, str] = {}
        self._columns = {
            (schema.table_name(column.table), column.name): number
            for number, column in enumerate(schema.columns)
        }

    @property
    def profile(self) -> Profile:
        """What the names are drawn from."""
        return self._profile

    def renamed(self, tables: Mapping[int, str] = _NONE, columns: Mapping[int, str] = _NONE) -> Words:
        """The same words, but for some tables and columns other ones."""
        other = copy(self)
        other._renamed_tables, other._renamed_columns = tables, columns
        return other

    def source(self, node: exp.Expr) -> int:
        """The number of a table in FROM. Raises UnsayableError for a derived table and for one under another name."""
        if not isinstance(node, exp.Table) or node.alias not in ("", node.name):
            raise UnsayableError("derived table or alias")
        return self._tables[_qualified(node.db, node.name)]

    def number(self, column: exp.Column) -> int:
        """The number of a column. Raises UnsayableError for one of a derived table."""
        table, namespace, name = (column.args.get(part) for part in ("table", "db", "this"))
        key = (table.name if table is not None else "", name.name if name is not None else "")
        number = self._columns.get(key if namespace is None else (f"{namespace.name}.{key[0]}", key[1]))
        if number is None:
            raise UnsayableError("derived table")
        return number

    def owner(self, column: exp.Column) -> int:
        """The number of a column's table."""
        return self.schema.columns[self.number(column)].table

    def is_primary(self, column: exp.Column) -> bool:
        """Whether a column is of its table's primary key, which no row lacks."""
        number = self.number(column)
        return number in self.schema.tables[self.schema.columns[number].table].primary_key

    def is_unique(self, column: exp.Column) -> bool:
        """Whether a column tells the rows of its table apart."""
        return self.number(column) in self._identifying

    def group(self, column: exp.Column) -> str:
        """What a column's amounts may be added to and compared with; empty for nothing else."""
        return self._profile.columns[self.number(column)].group

    def measured_in(self, column: exp.Column) -> tuple[str, str]:
        """The unit and the group of a column's amounts; empty where nothing is known."""
        known = self._profile.columns[self.number(column)]
        return known.unit, known.group

    def kind(self, column: exp.Column) -> str:
        """The kind of a column (`kinds.py`)."""
        return self._kinds[self.number(column)]

    def kind_of(self, column: int) -> str:
        """The kind of a column by its number."""
        return self._kinds[column]

    def is_summed(self, column: exp.Column) -> bool:
        """Whether amounts add up: those of averages, shares and indexes do not."""
        known = self._profile.columns[self.number(column)]
        if self.language == CHINESE and not nouns.is_summed(known.called):
            return False
        return known.unit != "%" and not _NOT_SUMMED & set(re.findall("[a-z]+|%", known.called.lower()))

    def is_code(self, column: int) -> bool:
        """Whether a column holds codes or identifiers, and no numbers that are kept as texts."""
        return self._kinds[column] == CODE and self._profile.columns[column].kind in ("code", "identifier")

    def is_number(self, column: int) -> bool:
        """Whether a column holds numbers, kept as such or as texts."""
        return self._profile.columns[column].kind in ("amount", "measure")

    def is_rank(self, column: exp.Column) -> bool:
        """Whether numbers tell a place or a level, of which there is no mean, as far as a Chinese name tells."""
        return self.language == CHINESE and nouns.is_rank(self._profile.columns[self.number(column)].called)

    def is_running_number(self, column: exp.Column) -> bool:
        """Whether numbers are what rows are called by, none more than another, as far as a Chinese name tells."""
        called = self._profile.columns[self.number(column)].called
        return self.language == CHINESE and nouns.is_running_number(called)

    def is_another_in_each(self, column: exp.Column) -> bool:
        """Whether no two rows of a table are known to have the same in a column."""
        return self._contents is not None and not self._contents.repeats((self.number(column),))

    def has_few(self, column: exp.Column) -> bool:
        """Whether a column is known to hold a handful of values: which sexes there are nobody asks for."""
        values = () if self._contents is None else self._contents.values(self.number(column))
        return 0 < len(values) <= _FEW

    def found_by(self, column: exp.Column, part: str) -> int:
        """How many of the values that are known of a column hold a text."""
        values = () if self._contents is None else self._contents.values(self.number(column))
        return sum(part in str(value) for value in values)

    def reference(self, table: int, other: int) -> int | None:
        """The column by which a table refers to another; None where none or several do."""
        found = [one for one in self.schema.tables[table].columns if self.links.leads(one, other)]
        return found[0] if len(found) == 1 else None

    def alike(self, column: int) -> list[int]:
        """Other columns of a column's table that are of its kind."""
        table = self.schema.tables[self.schema.columns[column].table]
        return [one for one in table.columns if one != column and self._kinds[one] == self._kinds[column]]

    def stands_for(self, column: exp.Column) -> int | None:
        """The table whose rows a key stands for: its own, or the one that it refers to.

        None for what is no key, and for one of two that refer to one table: a home and a postal address.
        """
        own, number = self.owner(column), self.number(column)
        if self.is_unique(column):
            return own
        others = [table for table in range(len(self.schema.tables)) if table != own]
        referred = [table for table in others if self.links.leads(number, table)]
        if len(referred) != 1:
            return None
        rivals = [one for one in self.schema.tables[own].columns if self.links.leads(one, referred[0])]
        return referred[0] if len(rivals) == 1 else None

    def naming(self, table: int) -> tuple[int, ...]:
        """The columns that name the rows of a table, for "which patients"; none where keys are all there is."""
        named = self._profile.tables[table].row
        columns = [one for one in self.schema.tables[table].columns if self.schema.columns[one].name in named]
        return () if any(self._kinds[one] in (KEY, REFERENCE) for one in columns) else tuple(columns)

    def is_named_once(self, table: int) -> bool:
        """Whether what names the rows of a table is another for each, as far as rows tell."""
        return self._contents is None or not self._contents.repeats(self.naming(table))

    def may_lack(self, column: int) -> bool:
        """Whether a row is known that has nothing in a column."""
        return self._contents is not None and self._contents.lacks(column)

    def is_link(self, table: int) -> bool:
        """Whether a table holds nothing but keys: it links two others."""
        return all(self._kinds[column] in (KEY, REFERENCE) for column in self.schema.tables[table].columns)

    def one(self, table: int, rng: random.Random) -> str:
        """A row of a table. Raises UnsayableError where its name is that of no thing: "taught by"."""
        if table in self._renamed_tables:
            return self._renamed_tables[table]
        if self.language == CHINESE:
            others = [one for number, one in enumerate(self._profile.tables) if number != table]
            return nouns.row(self._profile.tables[table], rng, others)
        said = singular(_said(self._profile.tables[table], rng))
        if not is_row(said):
            raise UnsayableError("no thing")
        return said

    def many(self, table: int, rng: random.Random) -> str:
        """Rows of a table."""
        one = self.one(table, rng)
        return one if self.language == CHINESE else plural(one)

    def label(self, column: int, rng: random.Random) -> str:
        """A column, without its table where its label repeats that: "name" of patients, not "patient name".

        Raises UnsayableError where what is asked for is no thing: a yes or no, such as "is official", or "taken via".
        """
        if column in self._renamed_columns:
            return self._renamed_columns[column]
        owner = self.schema.columns[column].table
        known = self._profile.columns[column]
        if self.language == CHINESE:
            return self._chinese_label(column, rng)
        names = [f" {name.lower()}" for name in (known.called, known.words, *known.synonyms)]
        if any(f" {flag}" in name for flag in _FLAGS for name in names):
            raise UnsayableError("yes or no")
        said = _said(known, rng)
        if self._kinds[column] in (TIME, YEAR) and said[-3:] in _MOMENTS:
            said = said[:-3] + _MOMENTS[said[-3:]]
        elif self._kinds[column] in (TIME, YEAR) and _is_participle(said):
            said = f"{'year' if self._kinds[column] == YEAR else 'date'} {said}"
        if not is_thing(said):
            raise UnsayableError("no thing")
        if said in _PARTS_OF_NAMES:
            said = f"{said} name"
        table = f"{singular(_said(self._profile.tables[owner], rng))} "
        short = said.removeprefix(table)
        return short if short != said and rng.random() < 0.7 and self._is_clear(short, column) else said

    def _chinese_label(self, column: int, rng: random.Random) -> str:
        owner = self.schema.columns[column].table
        known, table = self._profile.columns[column], self._profile.tables[owner]
        if any(map(nouns.is_flag, (known.called, known.words, *known.synonyms))):
            raise UnsayableError("yes or no")
        if self._contents is not None and nouns.says_yes_or_no(self._contents.values(column)):
            raise UnsayableError("yes or no")
        others = [self._profile.columns[one] for one in self.schema.tables[owner].columns if one != column]
        is_key = (column,) == self.schema.tables[owner].primary_key
        said = nouns.label(known, table, others, rng, is_key=is_key)
        if said == self.one(owner, rng) and self._kinds[column] in TEXTS:
            return "名称"  # not 病区为外一病区的病区
        return said

    def _is_clear(self, label: str, column: int) -> bool:
        """Whether no other column of a table is called that, or that and more: a location may be that of discharge, too."""
        if not any(map(str.isalpha, label)) or not is_thing(label):
            return False  # "2" of "address 2"
        table = self.schema.tables[self.schema.columns[column].table]
        others = [self._profile.columns[one] for one in table.columns if one != column]
        return not any(
            f" {label}" in f" {name.lower()}" for one in others for name in (one.called, one.words)
        )


def _qualified(namespace: str, name: str) -> str:
    return f"{namespace}.{name}" if namespace else name


def _said(item: TableProfile | ColumnProfile, rng: random.Random) -> str:
    name = item.called if rng.random() < 0.6 else rng.choice([item.called, item.words, *item.synonyms])
    return " ".join(name.lower().replace("_", " ").split())


def is_thing(noun: str) -> bool:
    """Whether a name can be asked for: no "founded" or "active" alone, no "taken via" or "reports to", no "#"."""
    if noun in (*_ADJECTIVES, *_PREPOSITIONS) or not any(map(str.isalnum, noun)):
        return False
    head, _, last = noun.rpartition(" ")
    first = noun.partition(" ")[0]
    if first in ("has", "have") or (head == first and first in _WHERE and _singular(last) not in _STAYS):
        return False
    if last in _PREPOSITIONS and _does(head.rpartition(" ")[2]) in _DONE_TO:
        return False
    if head and first in _VERBS:
        return False
    if last in _PREPOSITIONS:
        return not _is_participle(head.rpartition(" ")[2])
    return bool(head) or not (_is_participle(last) or _is_participle(last.removesuffix("by")))


def is_row(noun: str) -> bool:
    """Whether a row may be called so: a thing, and not "undergoes"."""
    return is_thing(noun) and _does(noun) not in _DOINGS


def _does(word: str) -> str:
    """The verb that a word may be a form of: "undergoes" of "undergo", "has" of "have"."""
    stem = _singular(word)
    return {"ha": "have", "undergoe": "undergo"}.get(stem, stem)


_OF = re.compile(" (?:of|per|in|at|for|from|on|to) ")
"""What opens that which tells more of a thing: "doses per day", "heights in cm"."""


def plural(noun: str) -> str:
    """The plural of an English noun, of the last of several words, or of what stands before "of" or what was done."""
    first = _OF.search(noun)
    of, rest = (first[0], noun[first.end() :]) if first else ("", "")
    thing = noun[: first.start()] if first else noun
    head, _, last = thing.rpartition(" ")
    if head and (_is_participle(last) or last in _PREPOSITIONS):
        return f"{plural(head)} {last}{of}{rest}"
    return f"{head} {_plural(last)}{of}{rest}".strip()


def singular(noun: str) -> str:
    """The singular of an English noun, of the last one of several words, or of what stands before "of" or what was done."""
    first = _OF.search(noun)
    if first:
        return singular(noun[: first.start()]) + noun[first.start() :]
    head, _, last = noun.rpartition(" ")
    if head and (_is_participle(last) or last in _PREPOSITIONS):
        return f"{singular(head)} {last}"
    return f"{head} {_singular(last)}".strip()


def _is_participle(word: str) -> bool:
    in_ed = len(word) > 3 and word.endswith("ed") and not word.endswith(("eed", "bed"))
    return word in _PARTICIPLES or (in_ed and word not in _NO_PARTICIPLES)


def _plural(word: str) -> str:
    if not word.isascii() or not word.isalpha() or word in _AS_THEY_ARE or word in _SINGULAR:
        return word
    if word in _IRREGULAR:
        return _IRREGULAR[word]
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word  # it is one
    if word.endswith(("s", "x", "z", "ch", "sh")):
        return f"{word}es"
    if word.endswith("y") and word[-2:-1] not in tuple("aeiou"):
        return f"{word[:-1]}ies"
    return f"{word}s"


def _singular(word: str) -> str:
    if not word.isascii() or not word.isalpha() or word in _AS_THEY_ARE:
        return word
    if word in _SINGULAR:
        return _SINGULAR[word]
    if word.endswith("ies") and word[:-1] in _IN_IE:
        return word[:-1]
    if word.endswith("ies") and len(word) > 4:
        return f"{word[:-3]}y"
    if word.endswith(("sses", "xes", "zzes", "ches", "shes", "uses")) and not word.endswith("ouses"):
        return word[:-2]
    return word[:-1] if word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
