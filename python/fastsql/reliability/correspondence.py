"""Whether a question is of the kind that databases answer, told from its words alone.

The question correspondence model of the AIRI team at EHRSQL 2024 (Somov et al., Clinical NLP 2024, section 3.2): a logistic
regression over how many of the question's words the schema has, how the question opens, and how long it is. It needs no
parser, so it is the baseline that fastsql's own evidence is measured against, and a feature beside it.

Which openings count is learnt from the training questions, in whatever language these are.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fastsql.linking.relations import split_words
from fastsql.reliability.regression import is_number, malformed

SHARED, LENGTH = "shared", "length"
_OPENING_WORDS = 2
PER_CHARACTERS = 100.0
WIDEST = 8.0


@dataclass(frozen=True)
class Correspondence:
    """Log-odds of being unanswerable: an intercept, and weights of the two figures and of the openings."""

    intercept: float = 0.0
    figures: Mapping[str, float] = field(default_factory=dict)
    openings: Mapping[str, float] = field(default_factory=dict)

    @classmethod
    def from_settings(cls, found: object, where: str) -> Correspondence:
        """Read {"intercept", "figures": {"shared", "length"}, "openings": {words: weight}}; raises ModelError."""
        if not isinstance(found, Mapping):
            raise malformed("it has no weights", where)
        figures, openings = found.get("figures"), found.get("openings")
        if (
            not isinstance(figures, Mapping)
            or not isinstance(openings, Mapping)
            or set(figures) != {SHARED, LENGTH}
        ):
            raise malformed("it has no weights of figures and openings", where)
        if not all(map(is_number, (found.get("intercept"), *figures.values(), *openings.values()))):
            raise malformed("a weight is not a number", where)
        return cls(float(found["intercept"]), dict(figures), dict(openings))

    def to_settings(self) -> dict[str, Any]:
        """The inverse of `from_settings`."""
        return {
            "intercept": round(self.intercept, 5),
            "figures": {name: round(weight, 5) for name, weight in self.figures.items()},
            "openings": {words: round(weight, 5) for words, weight in self.openings.items()},
        }

    def log_odds(self, question: str, names: frozenset[str]) -> float:
        """Log-odds within +-8 that no query over a schema with these `names` (`SchemaNames.words`) answers the question."""
        figures = correspondence_figures(question, names)
        z = self.intercept + sum(self.figures.get(name, 0.0) * value for name, value in figures.items())
        z += sum(self.openings.get(words, 0.0) for words in openings_of(question))
        return min(max(z, -WIDEST), WIDEST)


def correspondence_figures(question: str, names: frozenset[str]) -> dict[str, float]:
    """Share of the question's words that the schema's names have, and its length in hundreds of characters."""
    words = [word for word, _, _ in split_words(question)]
    shared = sum(word in names for word in words) / max(len(words), 1)
    return {SHARED: shared, LENGTH: len(question) / PER_CHARACTERS}


def openings_of(question: str) -> tuple[str, ...]:
    """The first word, and the first two."""
    words = [word for word, _, _ in split_words(question)[:_OPENING_WORDS]]
    return tuple(" ".join(words[:count]) for count in range(1, len(words) + 1))


def common_openings(questions: Iterable[str], least: int = 5) -> tuple[str, ...]:
    """Openings of at least `least` questions, sorted."""
    counts = Counter(opening for question in questions for opening in openings_of(question))
    return tuple(sorted(opening for opening, count in counts.items() if count >= least))
