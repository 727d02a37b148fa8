"""Questions that are asked of the wrong database, or of the right one for something that it does not hold.

elsewhere   a question of another database, over a schema that has no word for its tables
lacking     a question that asks for a column of another database in place of one that it needs
another     a question that asks about a table of another database in place of one that it needs

All read as answerable questions do, word for word: what tells them is whether the schema has what they name.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, Program, TableRef
from fastsql.linking.relations import split_words
from fastsql.reliability.names import schema_names
from fastsql.schema import Schema
from fastsql.synthesis.schema.words import plural, singular
from fastsql.training.calibration.unanswerable.made import Refusal, numbers

ELSEWHERE, LACKING, ANOTHER = "elsewhere", "lacking", "another"
_SHORTEST = 3
"""Letters of a word that tells what a name is about."""


@dataclass(frozen=True)
class Asking:
    """A question that is answerable over its own schema."""

    question: str
    program: Program
    schema: Schema


def ask_elsewhere(
    asked: Iterable[Asking],
    schema: Schema,
    count: int,
    rng: random.Random,
    said: frozenset[str] = frozenset(),
) -> tuple[Refusal, ...]:
    """At most `count` of the questions that mention a table of their own which `schema` has no word for.

    At least half of what they mention of their own schema must be unknown to this one, too. `said`: words that this one is
    asked with, and so may know.
    """
    known = schema_names(schema).words | said
    fitting: dict[str, Refusal] = {}
    for one in asked:
        tables, mentioned = _mentioned(one)
        if tables and not tables & known and 2 * len(mentioned & known) <= len(mentioned):
            group = f"{ELSEWHERE} {one.schema.name}"
            fitting.setdefault(one.question, Refusal(one.question, ELSEWHERE, group))
    return tuple(rng.sample(list(fitting.values()), min(count, len(fitting))))


def ask_for_others(
    kind: str,
    asked: Iterable[Asking],
    labels: Sequence[str],
    count: int,
    rng: random.Random,
    said: frozenset[str] = frozenset(),
) -> tuple[Refusal, ...]:
    """At most `count` of the questions, the label of a column (`LACKING`) or a table (`ANOTHER`) of each exchanged.

    It is one that the query needs, and gives way to one of `labels` whose words neither the schema nor the question has, nor
    `said`. Keys are not exchanged, and neither are columns whose label is part of what a table is called: much would still
    be answered without them.
    """
    places_of = {LACKING: _column_places, ANOTHER: _table_places}[kind]
    pool = {label: words for label in labels if _is_plain(words := frozenset(_words(label)))}
    made: dict[str, Refusal] = {}
    order = list(asked)
    rng.shuffle(order)
    for one in order:
        if len(made) >= count:
            break
        places = places_of(one)
        taken = schema_names(one.schema).words | frozenset(_words(one.question)) | said
        free = [label for label, words in pool.items() if not words & taken]
        if not places or not free or numbers(one.question):
            continue
        start, end = rng.choice(places)
        label = _in_number_of(one.question[start:end], rng.choice(free).lower())
        text = f"{one.question[:start]}{label}{one.question[end:]}"
        made.setdefault(text, Refusal(text, kind, f"{kind} {one.schema.name}"))
    return tuple(made.values())


def unrelated(schema: Schema, others: Mapping[str, Schema]) -> dict[str, Schema]:
    """Those of the others none of whose tables is called by a word that `schema` has for anything."""
    known = schema_names(schema).words
    return {
        db_id: other
        for db_id, other in others.items()
        if not any(known.intersection(_words(table.label)) for table in other.tables)
    }


def table_labels(asked: Iterable[Asking]) -> list[str]:
    """Labels of tables that questions mention whole, sorted."""
    return sorted(
        {
            one.schema.tables[index].label
            for one in asked
            for index in _tables(one)
            if _places(one.question, _words(one.schema.tables[index].label))
        }
    )


def column_labels(schemas: Mapping[str, Schema]) -> list[str]:
    """Labels of the columns of these schemas but for keys, sorted."""
    return sorted(
        {
            column.label
            for schema in schemas.values()
            for index, column in enumerate(schema.columns)
            if index not in _keys(schema)
        }
    )


def _words(text: str) -> list[str]:
    return [word for word, _, _ in split_words(text)]


def _is_plain(words: frozenset[str]) -> bool:
    """Whether a label is made of words rather than abbreviations and numbers."""
    return bool(words) and all(
        word.isalpha() and (len(word) >= _SHORTEST or not word.isascii()) for word in words
    )


def _mentioned(one: Asking) -> tuple[set[str], set[str]]:
    """The question's words that name tables of its query, and those that name anything of it."""
    said = set(_words(one.question))
    columns = {item.column for item in one.program if isinstance(item, ColumnRef)}
    of_tables = {word for index in _tables(one) for word in _words(one.schema.tables[index].label)}
    of_columns = {word for index in columns for word in _words(one.schema.columns[index].label)}
    return said & of_tables, said & (of_tables | of_columns)


def _in_number_of(text: str, label: str) -> str:
    """The label in the plural where the text that it stands for is."""
    return label if not label.isascii() or singular(text) == text else plural(singular(label))


def _column_places(one: Asking) -> list[tuple[int, int]]:
    """Characters [start, end) of the question where the label of a column stands that its query needs."""
    of_tables = {word for table in one.schema.tables for word in _words(table.label)}
    needed = {item.column for item in one.program if isinstance(item, ColumnRef)} - _keys(one.schema)
    labels = [_words(one.schema.columns[index].label) for index in sorted(needed)]
    return [
        place
        for label in labels
        if not of_tables.intersection(label)
        for place in _places(one.question, label)
    ]


def _table_places(one: Asking) -> list[tuple[int, int]]:
    """The same of the tables that it needs."""
    labels = [_words(one.schema.tables[index].label) for index in _tables(one)]
    return [place for label in labels for place in _places(one.question, label)]


def _tables(one: Asking) -> list[int]:
    return sorted({item.table for item in one.program if isinstance(item, TableRef)})


def _places(question: str, label: Sequence[str]) -> list[tuple[int, int]]:
    """Characters [start, end) of the question where the words of a label stand; none for a label without words."""
    words = split_words(question)
    said = [word for word, _, _ in words]
    return [
        (words[place][1], words[place + len(label) - 1][2])
        for place in range(len(said) - len(label) + 1 if label else 0)
        if said[place : place + len(label)] == list(label)
    ]


def _keys(schema: Schema) -> set[int]:
    keys = {index for key in schema.foreign_keys for index in (*key.columns, *key.references)}
    return keys | {index for table in schema.tables for index in table.primary_key}
