"""How strange a question's words are to the model: the best sign that it asks for what the model cannot know.

A model writes SQL for whatever it is asked, and is often sure of it: "What should patient 10004235 do before the
operation?" is to it a question about a patient's operation. What gives it away is a word that no training question
holds. A bundle therefore carries the words of its training questions with their counts. Values, numbers and names of
the tables and columns that the query uses do not count as strange: they are explained.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastsql.errors import ModelError
from fastsql.linking.relations import split_words


@dataclass(frozen=True)
class Familiarity:
    """Words of `questions` questions: in how many of them each occurs."""

    questions: int = 0
    words: Mapping[str, int] = field(default_factory=dict)

    @classmethod
    def from_questions(cls, questions: Iterable[str]) -> Familiarity:
        """Counts words, without plural s and letter case; what holds a digit is no word."""
        counts: Counter[str] = Counter()
        total = 0
        for question in questions:
            total += 1
            counts.update({word for word, _, _ in _words(question)})
        return cls(total, dict(sorted(counts.items())))

    @classmethod
    def from_settings(cls, settings: Mapping[str, Any]) -> Familiarity:
        """From a bundle's settings: ``familiarity`` holds "questions" and "words". Raises ModelError for another form."""
        found = settings.get("familiarity")
        if found is None:
            return cls()
        if isinstance(found, Mapping) and isinstance(words := found.get("words"), Mapping):
            counts = [found.get("questions"), *words.values()]
            if all(isinstance(n, int) and not isinstance(n, bool) and n >= 0 for n in counts):
                return cls(found["questions"], dict(words))
        raise ModelError(
            "it holds no counts",
            where="setting 'familiarity' of the model bundle",
            remedy="Get the model bundle anew.",
        )

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        return {"questions": self.questions, "words": dict(self.words)}

    def strangeness(self, question: str, explained: Iterable[tuple[int, int]]) -> float:
        """-log of the share of training questions that hold the strangest word outside the `explained` spans.

        0 where all is explained, or no words are known at all. `explained`: characters [start, end).
        """
        if not self.questions:
            return 0.0
        taken = {place for start, end in explained for place in range(start, end)}
        counts = [self.words.get(word, 0) for word, start, _ in _words(question) if start not in taken]
        # Half a question more: a word never met is stranger than one met once, but not infinitely so.
        return max(0.0, math.log(self.questions / (min(counts) + 0.5))) if counts else 0.0


def _words(text: str) -> list[tuple[str, int, int]]:
    return [found for found in split_words(text) if not any(map(str.isdigit, found[0]))]
