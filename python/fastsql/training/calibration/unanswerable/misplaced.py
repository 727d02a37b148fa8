"""Questions that are asked of the wrong database, or of the right one for something that it does not hold.

elsewhere   a question of another database, over a schema that has no word for its tables
lacking     a question that asks for a column of another database in place of one that it needs

Both read as answerable questions do, word for word: what tells them is whether the schema has what they name.
"""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, Program, TableRef
from fastsql.linking.relations import split_words
from fastsql.reliability.names import schema_names
from fastsql.schema import Schema
from fastsql.training.calibration.unanswerable.made import Refusal, numbers

ELSEWHERE, LACKING = "elsewhere", "lacking"
_SHORTEST = 3
"""Letters of a word that tells what a name is about."""


@dataclass(frozen=True)
class Asking:
    """A question that is answerable over its own schema."""

    question: str
    program: Program
    schema: Schema


def ask_elsewhere(
    asked: Iterable[Asking], schema: Schema, count: int, rng: random.Random
) -> tuple[Refusal, ...]:
    """At most `count` of the questions that mention a table of their own which `schema` has no word for.

    At least half of what they mention of their own schema must be unknown to this one, too.
    """
    known = schema_names(schema).words
    fitting: dict[str, Refusal] = {}
    for one in asked:
        tables, mentioned = _mentioned(one)
        if tables and not tables & known and 2 * len(mentioned & known) <= len(mentioned):
            group = f"{ELSEWHERE} {one.schema.name}"
            fitting.setdefault(one.question, Refusal(one.question, ELSEWHERE, group))
    return tuple(rng.sample(list(fitting.values()), min(count, len(fitting))))


def ask_for_lacking(
    asked: Iterable[Asking], labels: Sequence[str], count: int, rng: random.Random
) -> tuple[Refusal, ...]:
    """At most `count` of the questions, the label of a column that each needs exchanged for one of `labels`.

    A label is taken whose words neither the schema nor the question has. Keys are not exchanged, and neither are columns
    whose label is part of what a table is called: much would still be answered without them.
    """
    pool = {label: words for label in labels if _is_plain(words := frozenset(_words(label)))}
    made: dict[str, Refusal] = {}
    order = list(asked)
    rng.shuffle(order)
    for one in order:
        if len(made) >= count:
            break
        places = _labels_in(one)
        taken = schema_names(one.schema).words | frozenset(_words(one.question))
        free = [label for label, words in pool.items() if not words & taken]
        if not places or not free or numbers(one.question):
            continue
        start, end = rng.choice(places)
        text = f"{one.question[:start]}{rng.choice(free).lower()}{one.question[end:]}"
        made.setdefault(text, Refusal(text, LACKING, f"{LACKING} {one.schema.name}"))
    return tuple(made.values())


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
    tables = {item.table for item in one.program if isinstance(item, TableRef)}
    columns = {item.column for item in one.program if isinstance(item, ColumnRef)}
    of_tables = {word for index in tables for word in _words(one.schema.tables[index].label)}
    of_columns = {word for index in columns for word in _words(one.schema.columns[index].label)}
    return said & of_tables, said & (of_tables | of_columns)


def _labels_in(one: Asking) -> list[tuple[int, int]]:
    """Characters [start, end) of the question where the label of a column stands that its query needs."""
    words = split_words(one.question)
    said = [word for word, _, _ in words]
    of_tables = {word for table in one.schema.tables for word in _words(table.label)}
    keys = _keys(one.schema)
    found: list[tuple[int, int]] = []
    for index in sorted({item.column for item in one.program if isinstance(item, ColumnRef)} - keys):
        label = _words(one.schema.columns[index].label)
        if not label or set(label) & of_tables:
            continue
        found += [
            (words[place][1], words[place + len(label) - 1][2])
            for place in range(len(said) - len(label) + 1)
            if said[place : place + len(label)] == label
        ]
    return found


def _keys(schema: Schema) -> set[int]:
    keys = {index for key in schema.foreign_keys for index in (*key.columns, *key.references)}
    return keys | {index for table in schema.tables for index in table.primary_key}
