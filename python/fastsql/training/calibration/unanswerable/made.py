"""Questions that are to be refused, made to look like those that are not.

A data set's own unanswerable questions are few and of a few dozen templates. Four further kinds are made:

removed   an answerable question over a schema that lacks a table or column which its query needs
vague     nobody can tell what is asked
outside   something that no such database holds
writing   a request to change the data

What could tell them from answerable questions without reading them is made equal: each is drawn to have the length of
an answerable question and, like it, to name a patient or not; and numbers are those of answerable questions
(`with_numbers_of`). In EHRSQL 2024, 63 % of the answerable questions name a patient by 8 digits and no unanswerable one
does, so a model that could see this would learn it.
"""

from __future__ import annotations

import random
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from fastsql.grammar.program import ColumnRef, Literal, Program
from fastsql.linking.canonical import compared_columns
from fastsql.schema import Schema
from fastsql.training.calibration.unanswerable.general_wordings import GENERAL_TAILS, GENERAL_WORDING
from fastsql.training.calibration.unanswerable.hospital_wordings import TAILS, WORDING

REMOVED = "removed"
_ID = re.compile(r"(?<![\w-])(?<!\d\.)\d{4,}(?!\w)", re.ASCII)
_CHOICE = re.compile(r"\[([^\]]*)\]")
_YEARS = range(1900, 2200)
_LONGEST_NAME = 40
_PLACES = ("item", "part", "name", "patient")
_DRAWN_PER_QUESTION = 8
_IDEOGRAPH = re.compile(r"[\u3400-\u9fff]")


@dataclass(frozen=True)
class Refusal:
    """A made question that is to be refused. `group` names what it was drawn from: a wording, or what was removed.

    `removed` are the columns, by index, that the schema is to lack.
    """

    question: str
    kind: str
    group: str
    removed: frozenset[int] = frozenset()


@dataclass(frozen=True)
class Wording:
    """A way to ask for what no database holds, with places to fill in, and what may follow it."""

    kind: str
    group: str
    text: str
    tails: tuple[str, ...]


# ---------------------------------------------------------------- numbers


def numbers(question: str) -> list[str]:
    """What may be a patient's or a stay's number in a question: four digits or more that are no year."""
    return [found for found in _ID.findall(question) if not (len(found) == 4 and int(found) in _YEARS)]


def with_numbers_of(question: str, pool: Sequence[str], rng: random.Random) -> str:
    """The question with its `numbers` exchanged for some of `pool`; as it is where the pool is empty."""
    if not pool:
        return question
    own = set(numbers(question))
    return _ID.sub(lambda found: rng.choice(pool) if found.group() in own else found.group(), question)


# ---------------------------------------------------------------- a schema that lacks what is needed


def removals(schema: Schema, question: str, program: Program) -> dict[str, frozenset[int]]:
    """What may be taken from a schema so that a query's question has no answer left: columns by a name for them.

    A column that the query uses, that is no key and no time, and whose name no other column has; alone, or with its
    whole table. Keys and times are passed over since other tables often have the like, and so are columns that are
    compared with what the question does not say: such a condition may only repeat what another one says.
    """
    names = Counter(column.name.lower() for column in schema.columns)
    passed = {index for key in schema.foreign_keys for index in (*key.columns, *key.references)}
    passed |= {index for table in schema.tables for index in table.primary_key}
    for item, index in zip(program, compared_columns(program), strict=True):
        if (
            isinstance(item, Literal)
            and index is not None
            and str(item.value).lower() not in question.lower()
        ):
            passed.add(index)
    found: dict[str, frozenset[int]] = {}
    for index in sorted({item.column for item in program if isinstance(item, ColumnRef)}):
        column = schema.columns[index]
        if index in passed or column.type == "time" or names[column.name.lower()] > 1:
            continue
        table = schema.tables[column.table]
        found[table.name] = frozenset(table.columns)
        if len(table.columns) > 1:
            found[schema.qualified_name(index)] = frozenset((index,))
    return found


def remove_needed(
    questions: Iterable[tuple[str, Program]], schema: Schema, count: int, schemas: int, rng: random.Random
) -> tuple[Refusal, ...]:
    """At most `count` of the questions, over at most `schemas` schemas that lack what is needed.

    `questions`: with their programs over `schema`. What is removed is drawn among what most questions need.
    """
    need: defaultdict[str, list[str]] = defaultdict(list)
    columns: dict[str, frozenset[int]] = {}
    for question, program in questions:
        for name, gone in removals(schema, question, program).items():
            need[name].append(question)
            columns[name] = gone
    chosen = sorted(need, key=lambda name: (-len(need[name]), name))[: 2 * schemas]
    chosen = sorted(rng.sample(chosen, min(schemas, len(chosen))))
    made: list[Refusal] = []
    for number, name in enumerate(chosen):
        share = (count - len(made)) // (len(chosen) - number)
        here = need[name]
        made += [
            Refusal(question, REMOVED, f"{REMOVED} {name}", columns[name])
            for question in rng.sample(here, min(share, len(here)))
        ]
    return tuple(made)


# ---------------------------------------------------------------- questions that are no query's


def hospital_wordings(language: str) -> tuple[Wording, ...]:
    """Everything that nobody may ask of a hospital's database."""
    return _wordings(WORDING[language], TAILS[language])


def general_wordings(language: str, part: int, parts: int) -> tuple[Wording, ...]:
    """One of `parts` disjoint shares of what nobody may ask of any database: what is fitted on one is not met in another."""
    return _wordings(
        {kind: texts[part::parts] for kind, texts in GENERAL_WORDING[language].items()},
        GENERAL_TAILS[language],
        f"general {part} ",
    )


def _wordings(
    kinds: Mapping[str, Sequence[str]], tails: Sequence[str], prefix: str = ""
) -> tuple[Wording, ...]:
    return tuple(
        Wording(kind, f"{kind} {prefix}{place}", text, tuple(tails))
        for kind, texts in kinds.items()
        for place, text in enumerate(texts)
    )


def write_refusals(
    answerable: Sequence[str],
    names: Sequence[str],
    count: int,
    rng: random.Random,
    wordings: Sequence[Wording] | None = None,
    labels: Mapping[str, Sequence[str]] | None = None,
) -> tuple[Refusal, ...]:
    """About `count` vague, outside and writing questions in the language of the `answerable` ones.

    `names`: drugs, diseases and the like that answerable questions name. `wordings`: hospital ones unless given, with
    what `labels` holds for "item" and "part". Each question is the one of several drawn that is nearest in length to an
    answerable question, and it names a number where that does.
    """
    if not answerable or not names:
        return ()
    if wordings is None:
        wordings = hospital_wordings(language_of(answerable))
    short = [name for name in names if len(name) <= _LONGEST_NAME] or list(names)
    pool = sorted({number for question in answerable for number in numbers(question)})
    fill = {**(labels or {}), "name": short, "patient": pool}
    named = [wording for wording in wordings if "{patient}" in wording.text]
    unnamed = [wording for wording in wordings if "{patient}" not in wording.text]
    made: dict[str, Refusal] = {}
    for _ in range(count if unnamed else 0):
        like = rng.choice(answerable)
        drawn = []
        for _ in range(_DRAWN_PER_QUESTION):
            wording = rng.choice(named if named and numbers(like) and pool else unnamed)
            drawn.append(Refusal(_write(wording, fill, rng), wording.kind, wording.group))
        best = min(drawn, key=lambda one: abs(len(one.question) - len(like)))
        made.setdefault(best.question, best)
    return tuple(made.values())


def language_of(questions: Sequence[str]) -> str:
    """The key of `WORDING` for questions: "zh" where most of them hold an ideograph, else "en"."""
    return "zh" if 2 * sum(map(bool, map(_IDEOGRAPH.search, questions))) > len(questions) else "en"


def _write(wording: Wording, fill: Mapping[str, Sequence[str]], rng: random.Random) -> str:
    text = wording.text
    mark = text[-1] if text[-1] in "?？" else ""
    whole = _CHOICE.sub(
        lambda found: rng.choice(found.group(1).split("|")),
        f"{text.removesuffix(mark)}{rng.choice(wording.tails)}",
    )
    for place in _PLACES:
        first, *others = whole.split(f"{{{place}}}")
        whole = first + "".join(rng.choice(fill[place]) + other for other in others)
    return f"{whole}{mark}"
