"""How strange a question's words are to the model, and which of them should have named something.

A model writes SQL for whatever it is asked, and is often sure of it: "What should patient 10004235 do before the
operation?" is to it a question about a patient's operation. What gives it away is a word that no training question
holds. A bundle therefore carries the words of its training questions with their counts. Values, numbers and names of
the tables and columns that the query uses do not count as strange: they are explained.

On a schema never seen, many a word is strange and yet a name of the schema, and a word may be familiar and ask for what this
schema lacks: "How many singers are there?" of a clinic. So the bundle also knows how often each word named something where
it stood in a training question: "singer" nearly always, "how" never. The surest of those that name nothing here is what
is not met (`unmet`).

On a schema trained on, words of questions about other schemas are no more familiar than new ones: "nurse" named something
in many a database, and no question here was ever about nurses. So the words of the questions over schemas trained on are
known beside the others (`home`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from fastsql.errors import ModelError
from fastsql.linking.relations import split_words

_LIKE_RARE = 2.0
_COMMON = 0.02
"""The share of the training questions from which a word counts as one of the language, not of what is asked."""
_NUMBER = re.compile(r"\d+(?:[.,:/-]\d+)*")


@dataclass(frozen=True)
class Familiarity:
    """Words of `questions` questions: in how many of them each occurs, and in how many it names something.

    `named` holds no word that never does. `home` are the words of the questions over the schemas that a bundle knows best.
    Both are empty in bundles from before.
    """

    questions: int = 0
    words: Mapping[str, int] = field(default_factory=dict)
    named: Mapping[str, int] = field(default_factory=dict)
    home: frozenset[str] = frozenset()

    @classmethod
    def from_questions(cls, questions: Iterable[TrainingQuestion | str]) -> Familiarity:
        """Counts words, without plural s and letter case; what holds a digit is no word. A text alone names nothing."""
        counts: Counter[str] = Counter()
        named: Counter[str] = Counter()
        home: set[str] = set()
        total = 0
        for asked in questions:
            total += 1
            one = TrainingQuestion(asked) if isinstance(asked, str) else asked
            taken = _places(one.spans())
            words = _words(one.question)
            counts.update({word for word, _, _ in words})
            named.update({word for word, start, _ in words if word in one.names or start in taken})
            if one.at_home:
                home.update(word for word, _, _ in words)
        return cls(total, dict(sorted(counts.items())), dict(sorted(named.items())), frozenset(home))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Familiarity:
        """From a bundle's settings: ``familiarity`` holds "questions", "words", "named" and "home". Raises ModelError."""
        found = settings.get("familiarity")
        if found is None:
            return cls()
        if isinstance(found, Mapping):
            words, named, home = found.get("words"), found.get("named", {}), found.get("home", [])
            if isinstance(words, Mapping) and isinstance(named, Mapping) and _are_texts(home):
                counts = [found.get("questions"), *words.values(), *named.values()]
                if all(isinstance(n, int) and not isinstance(n, bool) and 0 <= n < 2**63 for n in counts):
                    return cls(found["questions"], dict(words), dict(named), frozenset(home))
        raise ModelError(
            "it holds no counts",
            where="setting 'familiarity' of the model bundle",
            remedy="Install the model bundle again.",
        )

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        counts = {"questions": self.questions, "words": dict(self.words), "named": dict(self.named)}
        return {**counts, "home": sorted(self.home)}

    def strangeness(self, question: str, explained: Iterable[tuple[int, int]]) -> float:
        """-log of the share of training questions that hold the strangest word outside the `explained` spans.

        0 where all is explained, or no words are known at all. `explained`: characters [start, end).
        """
        if not self.questions:
            return 0.0
        taken = _places(explained)
        counts = [self.words.get(word, 0) for word, start, _ in _words(question) if start not in taken]
        # Half a question more: a word never met is stranger than one met once, but not infinitely so.
        return max(0.0, math.log(self.questions / (min(counts) + 0.5))) if counts else 0.0

    def unexplained(self, question: str, explained: Iterable[tuple[int, int]]) -> float:
        """The share of a question's words that carry meaning and stand outside the `explained` spans.

        Meaning is what a word has that few training questions hold, in whatever language: "unpaid", and not "how". 0 where
        no words are known at all. `explained`: characters [start, end).
        """
        taken = _places(explained)
        most = _COMMON * self.questions
        rare = sum(
            self.words.get(word, 0) < most for word, start, _ in _words(question) if start not in taken
        )
        return rare / max(len(split_words(question)), 1)

    def unmet(self, question: str, explained: Iterable[tuple[int, int]], names: frozenset[str]) -> float:
        """The highest probability that a word names something which is neither explained nor among the schema's `names`.

        0 where there is no such word, or nothing is known of what words name. `explained`: characters [start, end).
        """
        return max((probability for _, probability in self._unmet(question, explained, names)), default=0.0)

    def unmet_at_home(
        self, question: str, explained: Iterable[tuple[int, int]], names: frozenset[str]
    ) -> float:
        """The same of words that no question over the schemas trained on holds; 0 where these are not known."""
        if not self.home:
            return 0.0
        found = self._unmet(question, explained, names)
        return max((probability for word, probability in found if word not in self.home), default=0.0)

    def left_out(self, question: str, explained: Iterable[tuple[int, int]]) -> float:
        """How many things a question names outside the `explained` spans: its words by `names`, its numbers as one each.

        0 where nothing is known of what words name. `explained`: characters [start, end).
        """
        if not self.named:
            return 0.0
        taken = _places(explained)
        words = sum(self.names(word) for word, start, _ in _words(question) if start not in taken)
        numbers = sum(taken.isdisjoint(range(*one.span())) for one in _NUMBER.finditer(question))
        return words + numbers

    def _unmet(
        self, question: str, explained: Iterable[tuple[int, int]], names: frozenset[str]
    ) -> Iterator[tuple[str, float]]:
        if not self.named:
            return
        taken = _places(explained)
        for word, start, _ in _words(question):
            if start not in taken and word not in names:
                yield word, self.names(word)

    def names(self, word: str) -> float:
        """The probability that a word names something of the schema that it is asked of, 0 to 1.

        The share of the training questions with the word in which it did. A word that is rare or new there is taken for one
        like those that are met once, as if `_LIKE_RARE` of them had been seen.
        """
        return (self.named.get(word, 0) + _LIKE_RARE * self._rare) / (self.words.get(word, 0) + _LIKE_RARE)

    @cached_property
    def _rare(self) -> float:
        """The share of words met once that named something."""
        once = [word for word, count in self.words.items() if count == 1]
        return sum(self.named.get(word, 0) for word in once) / max(len(once), 1)


@dataclass(frozen=True)
class TrainingQuestion:
    """A question that was trained on, the words in the names of its schema, and the texts of the values that it names.

    `at_home`: whether its schema is one of those that a bundle knows best.
    """

    question: str
    names: frozenset[str] = frozenset()
    values: tuple[str, ...] = ()
    at_home: bool = False

    def spans(self) -> list[tuple[int, int]]:
        """Where the values stand, characters [start, end), without letter case."""
        text = self.question.lower()
        found = []
        for value in filter(None, map(str.lower, self.values)):
            start = text.find(value)
            while start >= 0:
                found.append((start, start + len(value)))
                start = text.find(value, start + 1)
        return found


def _places(spans: Iterable[tuple[int, int]]) -> set[int]:
    return {place for start, end in spans for place in range(start, end)}


def _words(text: str) -> list[tuple[str, int, int]]:
    return [found for found in split_words(text) if not any(map(str.isdigit, found[0]))]


def _are_texts(found: object) -> bool:
    return isinstance(found, list) and all(isinstance(one, str) for one in found)
