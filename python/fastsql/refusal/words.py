"""Words of a question that nothing in the schema is called, and no value.

A model knows of each word how often it named something in the questions that it was trained on: "nurse" nearly always, "how"
never (`Familiarity`). Words that nothing explains and that mostly name something are what is missing. Where most words
are strange, as in another language, none says anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from fastsql.linking.relations import split_words
from fastsql.refusal.suggestions import Span, UnknownWords
from fastsql.refusal.texts import listed, quoted, sentence

if TYPE_CHECKING:
    from fastsql.reliability.familiarity import Familiarity

_SURELY = 0.75
"""The probability of naming something from which a word is missed."""
_LIKELY = 0.5
"""The same for a neighbour of such a word, which then counts as a part of its name: "operating system"."""
_MET = 0.5
"""The share of a question's words that training must have met for the others to say something."""
_INITIALS = range(3, 6)
"""Letters of names that may be initials."""
_MOST = 3
_LONGEST_NAME = 4
"""Words of the longest run that is quoted as one name."""
_SAYS_NOTHING = frozenset(
    (
        *(
            "able",
            "another",
            "anyone",
            "anything",
            "else",
            "everyone",
            "everything",
            "necessary",
            "next",
            "other",
        ),
        *("please", "someone", "something", "think", "whether", "whom", "whose", "why"),
        *("although", "because", "could", "into", "might", "ought", "shall", "should", "though", "would"),
        *("date", "day", "detail", "hour", "left", "minute", "month", "question", "time", "year"),
        *("afternoon", "evening", "midnight", "morning", "night", "noon", "tomorrow", "week", "weekend"),
    )
)
"""English words that name nothing but are rare in questions to databases."""
_RARE = 3
"""Training questions that have a word which is hardly known."""
_BEFORE_VERBS = frozenset(("can", "he", "i", "must", "not", "she", "they", "to", "we", "will", "you"))
_VERBAL = re.compile(r"\w+(ed|ing|ly)")
"""English words that, hardly met, are rather verbs and adverbs than names."""


@dataclass(frozen=True)
class Missing:
    """Words that nothing explains, as the question has them; `surely` is the probability that they name something."""

    words: str
    span: Span
    surely: float


def missing_words(
    question: str, explained: Iterable[Span], names: frozenset[str], familiarity: Familiarity
) -> tuple[Missing, ...]:
    """The runs of words that should name something and do not which most surely do so, each once, in order of the question.

    `explained` are characters that the query accounts for, `names` the words of the schema's names. The first word is left
    out: it is a command or a question word.
    """
    found = split_words(question)
    met = [word for word, _, _ in found if word in familiarity.words]
    if not familiarity.named or len(met) < _MET * len(found):
        return ()
    explained = (*explained, *_spelled_out(found, names))
    taken = {place for start, end in explained for place in range(start, end)}
    shares = [
        familiarity.names(word)
        if place
        and start not in taken
        and word not in names
        and _may_name(word, found[place - 1][0], familiarity)
        else 0.0
        for place, (word, start, _) in enumerate(found)
    ]
    runs: list[list[int]] = []
    for place, share in enumerate(shares):
        if share < _LIKELY:
            continue
        joined = (
            runs and runs[-1][-1] == place - 1 and question[found[place - 1][2] : found[place][1]].isspace()
        )
        if joined and len(runs[-1]) < _LONGEST_NAME:
            runs[-1].append(place)
        else:
            runs.append([place])
    missing = []
    for run in runs:
        while (
            run and shares[run[-1]] < _SURELY
        ):  # what is missed comes last: "operating system", not "documents required"
            run.pop()
        if run:
            start, end = found[run[0]][1], found[run[-1]][2]
            surely = max(shares[place] for place in run)
            missing.append(Missing(question[start:end], (start, end), surely))
    return _surest(missing)


def _spelled_out(words: Sequence[tuple[str, int, int]], names: frozenset[str]) -> list[Span]:
    """Runs of words whose initials are a name of the schema: "date of birth" where a column is called dob."""
    initials = "".join(word[0] for word, _, _ in words)
    runs = (
        (place, place + size)
        for size in _INITIALS
        for place in range(len(words) - size + 1)
        if initials[place : place + size] in names
    )
    return [(words[first][1], words[end - 1][2]) for first, end in runs]


def _surest(missing: Sequence[Missing]) -> tuple[Missing, ...]:
    first = {one.words.casefold(): one for one in reversed(missing)}
    return tuple(
        sorted(sorted(first.values(), key=lambda one: -one.surely)[:_MOST], key=lambda one: one.span)
    )


def _may_name(word: str, before: str, familiarity: Familiarity) -> bool:
    """Whether a word may be a name at all; one that training hardly met may be a verb, by its form or its place."""
    if len(word) < 2 or not word.isalpha() or word in _SAYS_NOTHING:
        return False
    rare = familiarity.words.get(word, 0) <= _RARE
    return not rare or not (_VERBAL.fullmatch(word) or before in _BEFORE_VERBS)


def unknown_words(missing: Sequence[Missing], language: str) -> UnknownWords | None:
    """What is missing, as a suggestion; None where nothing is."""
    if not missing:
        return None
    shown = listed(language, [quoted(language, one.words) for one in missing], "before last or")
    return UnknownWords(
        sentence(language, "no such name", words=shown),
        tuple(one.words for one in missing),
        tuple(one.span for one in missing),
    )
