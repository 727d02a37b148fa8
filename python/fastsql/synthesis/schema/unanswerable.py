"""Questions that no query over a schema answers, of several kinds, in the words of those that have one.

A query that was drawn is asked with one thing in it that the schema lacks; or what it is about stands in a frame that asks
for what SQL cannot say. `foreign_words.py` holds the words of each language.
"""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property

from sqlglot import exp

from fastsql.linking.relations import split_words
from fastsql.profile.model import Profile
from fastsql.schema import Schema
from fastsql.synthesis.phrases import expand
from fastsql.synthesis.schema.chinese import nouns
from fastsql.synthesis.schema.chinese.degrees import degree
from fastsql.synthesis.schema.chinese.foreign_words import ENDS, TO_WORRY_ABOUT
from fastsql.synthesis.schema.chinese.foreign_words import FRAMES as CHINESE_FRAMES
from fastsql.synthesis.schema.chinese.foreign_words import OUTSIDE as CHINESE_OUTSIDE
from fastsql.synthesis.schema.chinese.foreign_words import TO_CHOOSE as CHINESE_TO_CHOOSE
from fastsql.synthesis.schema.chinese.foreign_words import TO_PERSONS as CHINESE_TO_PERSONS
from fastsql.synthesis.schema.clauses import conditions_of, is_column
from fastsql.synthesis.schema.contents import Contents
from fastsql.synthesis.schema.contrast import width
from fastsql.synthesis.schema.foreign_words import (
    ATTRIBUTES,
    CONCEPTS,
    FRAMES,
    OUTSIDE,
    TO_PERSONS,
    Attribute,
    Foreign,
)
from fastsql.synthesis.schema.kinds import AMOUNT, CODE, KEY, ORDERED, TEXTS, TIME, YEAR
from fastsql.synthesis.schema.questions import ask, describe
from fastsql.synthesis.schema.sorts import PERSON, sort_of
from fastsql.synthesis.schema.words import CHINESE, UnsayableError, Words, plural, singular

KINDS = ("attribute", "table", "value", "ambiguous", *FRAMES, "domain")
"""What is wrong with a question:

attribute    it asks for what no column holds
table        it is about things of which there is no table
value        it names a value that its column does not hold
ambiguous    it names a column by what several columns of the table are called
reference    it refers to what was not said before
prediction, opinion, cause, action   it asks for what a query does not do
domain       it is about something else altogether
"""
CHINESE_KINDS = ("value", "ambiguous", *CHINESE_FRAMES, "domain")
"""The kinds for which there are Chinese words."""
MOST_READ = 100
"""Columns whose values are looked through for words that a schema knows: each costs a query."""
_OF_MANY = ("prediction", "opinion", "cause")
"""Kinds whose frames speak of rows in general: how many there are, or what becomes of them."""
_OF_NAMES = ("first", "last", "given", "family")
_CONTEXT = 2
"""Characters that decide on the next one of an invented name."""
_SHORTEST, _LONGEST = 4, 20
_DRAWS = 20


class Unanswerables:
    """Makes questions to refuse from queries over one schema."""

    def __init__(self, schema: Schema, profile: Profile, words: Words, contents: Contents) -> None:
        self._schema = schema
        self._profile = profile
        self._words = words
        self._contents = contents
        self._is_chinese = words.language == CHINESE
        self._frames: Mapping[str, Sequence[str]] = CHINESE_FRAMES if self._is_chinese else FRAMES
        self.kinds: Sequence[str] = CHINESE_KINDS if self._is_chinese else KINDS
        self._makers: Mapping[str, Callable[[exp.Select, random.Random], str]] = {
            "attribute": self._attribute,
            "table": self._table,
            "value": self._value,
            "ambiguous": self._ambiguous,
            "domain": self._outside,
        }

    def ask(self, query: exp.Query, kind: str, rng: random.Random) -> str:
        """A question of a kind, made from a query. Raises UnsayableError where none can be made from this one."""
        if not isinstance(query, exp.Select):
            raise UnsayableError("set operation")
        return self._makers[kind](query, rng) if kind in self._makers else self._framed(query, kind, rng)

    @cached_property
    def _known(self) -> frozenset[str]:
        """Singular words of everything that the schema, its profile and the values of its columns say."""
        return frozenset(singular(word.lower()) for text in self._texts for word, _, _ in split_words(text))

    @cached_property
    def _texts(self) -> Sequence[str]:
        """Everything that the schema, its profile and the values of its columns say."""
        profile, schema = self._profile, self._schema
        texts = [table.name for table in schema.tables] + [column.name for column in schema.columns]
        for table in profile.tables:
            texts += [table.called, table.words, table.description, *table.synonyms]
        for known in profile.columns:
            texts += [known.called, known.words, known.description, *known.synonyms]
            texts += [str(name) for value, names in known.values.items() for name in (value, *names)]
        named = [column for column in range(len(schema.columns)) if self._words.kind_of(column) in TEXTS]
        for column in named[:MOST_READ]:
            texts += [str(value) for value in self._contents.values(column)]
        return texts

    def _is_foreign(self, one: Foreign) -> bool:
        """Whether none of its telling words occurs anywhere; a Chinese one may stand within a text."""
        if self._is_chinese:
            return not any(word in text for word in one.words for text in self._texts)
        return not any(singular(word.lower()) in self._known for word in one.words)

    def _foreign(self, kind: str, table: int, rng: random.Random) -> Attribute:
        """What a table's things can have and no column holds, of a kind. Raises UnsayableError where all is known."""
        sort = sort_of(self._schema, self._profile, table)
        found = [one for one in ATTRIBUTES[_group(kind)] if sort in one.of and self._is_foreign(one)]
        if not found:
            raise UnsayableError("every attribute is known")
        return rng.choice(found)

    def _attribute(self, query: exp.Select, rng: random.Random) -> str:
        columns = list(self._shown(query))
        if not columns:
            raise UnsayableError("no column that can be exchanged")
        column = rng.choice(columns)
        found = self._foreign(self._words.kind(column), self._words.owner(column), rng)
        number = self._words.number(column)
        renamed = self._words.renamed(columns={number: found.name})
        return self._asked(self._with_amounts(query, {number: found}, rng), renamed, found.name, rng)

    def _with_amounts(
        self, query: exp.Select, found: Mapping[int, Attribute], rng: random.Random
    ) -> exp.Select:
        """The query with other numbers, where columns that stand for an attribute are compared with some."""
        edited = query.copy()
        for node in list(edited.find_all(exp.Predicate)):
            column = node.this.this if isinstance(node.this, (exp.Avg, exp.Max, exp.Min)) else node.this
            attribute = found.get(self._words.number(column)) if is_column(column) else None
            numbers = [one for one in node.find_all(exp.Literal) if one.parent is node and not one.is_string]
            if attribute is None or attribute.between is None:
                continue
            for literal, number in zip(
                numbers, sorted(_some(attribute.between, rng) for _ in numbers), strict=True
            ):
                literal.replace(exp.Literal.number(number))
        return edited

    def _shown(self, query: exp.Select) -> Iterator[exp.Column]:
        """Columns of tables that are selected, put together or sorted by, or compared as an amount; no keys, no codes."""
        columns = [one for one in query.find_all(exp.Column) if not isinstance(one.this, exp.Star)]
        compared = {self._words.number(one) for one in columns if one.find_ancestor(exp.Predicate, exp.Group)}
        for column in columns:
            if column.find_ancestor(exp.Join, exp.Subquery):
                continue
            kind = self._words.kind(column)
            if kind in ORDERED or (kind in TEXTS and self._words.number(column) not in compared):
                yield column

    def _table(self, query: exp.Select, rng: random.Random) -> str:
        """About things of which there is no table, with what such things have in place of the columns.

        Of a query over one table: what patients have to do with lighthouses nobody would know.
        """
        tables = {self._words.source(node) for node in query.find_all(exp.Table)}
        if len(tables) != 1:
            raise UnsayableError("several tables")
        foreign = [one for one in CONCEPTS if self._is_foreign(one)]
        if not foreign:
            raise UnsayableError("every concept is known")
        concept = rng.choice(foreign)
        left = {kind: rng.sample(ones, len(ones)) for kind, ones in concept.has.items()}
        said: dict[int, Attribute] = {}
        for column in query.find_all(exp.Column):
            if isinstance(column.this, exp.Star):
                continue
            kind = self._words.kind(column)
            if isinstance(column.parent, exp.Count) and self._words.is_primary(column):
                continue
            if kind not in (*ORDERED, *TEXTS) or (kind in TEXTS and column.find_ancestor(exp.Predicate)):
                raise UnsayableError("keys, codes or values of another table")
            if self._words.number(column) in said:
                continue
            if not left[_group(kind)]:
                raise UnsayableError("too many columns")
            said[self._words.number(column)] = left[_group(kind)].pop()
        names = {number: one.name for number, one in said.items()}
        renamed = self._words.renamed(dict.fromkeys(tables, concept.name), names)
        return self._asked(self._with_amounts(query, said, rng), renamed, concept.name, rng)

    def _value(self, query: exp.Select, rng: random.Random) -> str:
        equal = [
            one
            for one in conditions_of(query)
            if isinstance(one, exp.EQ) and is_column(one.this) and isinstance(one.expression, exp.Literal)
        ]
        named = [one for one in equal if self._words.kind(one.this) in TEXTS]
        if not named:
            raise UnsayableError("no text is compared")
        condition = rng.choice(named)
        name = self._invented(self._words.number(condition.this), rng)
        edited = query.copy()
        for literal in edited.find_all(exp.Literal):
            if literal.parent == condition:
                literal.replace(exp.Literal.string(name))
                return self._asked(edited, self._words, name, rng)
        raise UnsayableError("no text is compared")

    def _invented(self, column: int, rng: random.Random) -> str:
        """A name put together as the values of a column are, that is none of them and none of their words."""
        values = [value for value in self._contents.values(column) if isinstance(value, str)]
        # Two ideographs in a row mostly have one that may follow: what they make up is a value again.
        context = 1 if nouns.is_chinese("".join(values)) else _CONTEXT
        following: defaultdict[str, list[str]] = defaultdict(list)
        for value in values:
            padded = " " * context + value
            for place in range(context, len(padded) + 1):
                following[padded[place - context : place]].append(padded[place : place + 1])
        held = " ".join(values).casefold()
        for _ in range(_DRAWS):
            name = ""
            while len(name) <= _LONGEST:
                character = rng.choice(following.get((" " * context + name)[-context:], [""]))
                if not character:
                    break
                name += character
            is_part = name.casefold() in held or any(value.casefold() in name.casefold() for value in values)
            is_held = is_part or self._contents.holds(column, name)
            if _SHORTEST <= width(name) <= _LONGEST and name == name.strip() and not is_held:
                return name
        raise UnsayableError("too few values to make up another")

    def _ambiguous(self, query: exp.Select, rng: random.Random) -> str:
        found = [(column, name) for column in self._shown(query) for name in self._shared_names(column)]
        if not found:
            raise UnsayableError("no name that columns share")
        column, name = rng.choice(found)
        return self._asked(query, self._words.renamed(columns={self._words.number(column): name}), name, rng)

    def _shared_names(self, column: exp.Column) -> Iterator[str]:
        """What a column and others of its table and kind are called, each with a word more: "date" of birth."""
        number = self._words.number(column)
        alike = (number, *self._words.alike(number))
        if self._is_chinese:
            yield from self._shared_ends(number, alike)
            return
        parts = [self._profile.columns[one].called.lower().split() for one in alike]
        table = self._schema.tables[self._schema.columns[number].table]
        own = {self._profile.columns[one].called.lower() for one in table.columns}
        row = {name.lower() for name in self._profile.tables[self._schema.columns[number].table].row}
        named = {
            word
            for one in alike
            if self._schema.columns[one].name.lower() in row
            for word in self._profile.columns[one].called.lower().split()
        }
        known = self._profile.tables[self._schema.columns[number].table]
        things = {singular(word) for name in (known.called, known.words) for word in name.lower().split()}
        if any(words[0] in _OF_NAMES for words in parts):
            named.add("name")
        for place in (0, -1):
            if parts[0][place] in named:
                continue  # "the name" of a person is the first and the last
            if singular(parts[0][place]) in things:
                continue  # "the medication" of medications is the row itself
            others = [words for words in parts[1:] if len(words) > 1 and words[place] == parts[0][place]]
            if others and len(parts[0]) > 1 and parts[0][place] not in own:
                yield parts[0][place]

    def _shared_ends(self, number: int, alike: Sequence[int]) -> Iterator[str]:
        """How the Chinese names of a column and of others end: 日期 of 入院日期."""
        called = [self._profile.columns[one].called for one in alike]
        table = self._schema.columns[number].table
        own = {self._profile.columns[one].called for one in self._schema.tables[table].columns}
        if self._schema.columns[number].name in self._profile.tables[table].row:
            return  # the name of a person is the one that tells people apart
        for end in ENDS:
            if end not in own and called[0].endswith(end) and any(one.endswith(end) for one in called[1:]):
                yield end

    def _framed(self, query: exp.Select, kind: str, rng: random.Random) -> str:
        """What a query is about in a frame that asks for what no query says."""
        if any(query.args.get(clause) is not None for clause in ("group", "order", "limit", "having")):
            raise UnsayableError("groups, or rows in an order")
        if kind in _OF_MANY and any(map(self._finds_one, conditions_of(query))):
            raise UnsayableError("a single row")
        table = self._words.source(query.args["from_"].this)
        out_of_place = self._out_of_place(table, rng)
        said = {self._words.number(column) for column in query.find_all(exp.Column)}
        columns = [
            column
            for column in self._schema.tables[table].columns
            if self._words.kind_of(column) == AMOUNT and column not in said
        ]
        frames = [
            one for one in self._frames[kind] if (columns or "{label" not in one) and one not in out_of_place
        ]
        text = expand(rng.choice(frames), rng)
        one = self._words.one(table, rng)
        rows = describe(query, self._words, rng, table) if "{rows}" in text else ""
        label = self._words.label(rng.choice(columns), rng) if columns else ""
        if self._is_chinese:
            words = degree(label)
            much, little = (most.removeprefix("最") for most in (words.most, words.least))
            return text.format(
                rows=rows, one=one, label=label, unit=nouns.measure(one), high=much, low=little
            )
        filled = text.format(
            rows=rows, one=one, many=plural(one), label=label, labels=plural(label), an=_article(one)
        )
        filled = " ".join(filled.split())
        return filled[:1].upper() + filled[1:]

    def _out_of_place(self, table: int, rng: random.Random) -> Sequence[str]:
        """Frames that make no sense of the rows of a table."""
        if not self._is_chinese:
            return () if sort_of(self._schema, self._profile, table) == PERSON else TO_PERSONS
        one = self._words.one(table, rng)
        is_person, is_staff = nouns.is_person(one), nouns.is_staff(one)
        return (
            *(() if is_person else CHINESE_TO_PERSONS),
            *(() if is_staff or not (is_person or nouns.is_event(one)) else CHINESE_TO_CHOOSE),
            *(() if is_person and not is_staff else (TO_WORRY_ABOUT,)),
        )

    def _finds_one(self, condition: exp.Expr) -> bool:
        """Whether a condition finds a row by its key, its code or its name, or as the highest or lowest."""
        if not isinstance(condition, exp.In) and condition.find(exp.Subquery):
            return True
        if not isinstance(condition, exp.EQ) or not is_column(condition.this):
            return False
        number = self._words.number(condition.this)
        if self._is_chinese and self._words.is_another_in_each(condition.this):
            return True
        naming = self._words.naming(self._words.owner(condition.this))
        return self._words.kind_of(number) in (KEY, CODE) or number in naming

    def _outside(self, query: exp.Select, rng: random.Random) -> str:
        outside = CHINESE_OUTSIDE if self._is_chinese else OUTSIDE
        foreign = [one for one in outside if self._is_foreign(one)]
        if not foreign:
            raise UnsayableError("every domain is known")
        return expand(rng.choice(foreign).name, rng)

    def _asked(self, query: exp.Select, words: Words, name: str, rng: random.Random) -> str:
        """The question of a query in words of which one is made up. Raises UnsayableError where that one does not occur."""
        question = ask(query, words, rng)
        if not any(form.lower() in question.lower() for form in (name, plural(name))):
            raise UnsayableError("what is lacking is not said")
        return question


def _group(kind: str) -> str:
    """How attributes of a kind of column are listed."""
    return AMOUNT if kind == AMOUNT else TIME if kind in (TIME, YEAR) else "text"


def _some(between: tuple[int, int], rng: random.Random) -> int:
    """A number between two, of two digits that are not 0 at most."""
    number = rng.randint(*between)
    zeros = max(len(str(number)) - 2, 0)
    return max(int(str(number)[:2] + "0" * zeros), between[0])


def _article(noun: str) -> str:
    return "an" if noun[:1] in tuple("aeio") else "a"
