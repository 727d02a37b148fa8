"""Words that a schema's names only hint at: ``dept`` for department, ``adm`` for admission, ``dob`` for date of birth.

Finding them is off unless a model was trained with it: it adds links to the graph that an older model has never seen.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from fastsql.linking.word_match import CUT, SQUEEZED, closeness

_SHORTEST = 2
_LONGEST_INITIALS = 5


class Abbreviations:
    """The words of a schema's names, by first letter. Immutable once built."""

    def __init__(self, words: Iterable[str]) -> None:
        self._by_letter: dict[str, list[str]] = {}
        for word in sorted(set(words)):
            if word.isascii() and word.isalpha() and len(word) >= _SHORTEST:
                self._by_letter.setdefault(word[0], []).append(word)
        self._all = frozenset(word for held in self._by_letter.values() for word in held)

    def find(self, said: Sequence[str]) -> Iterator[tuple[int, int, str]]:
        """Words `said[begin:end]` of the question (lower case) with the word of the schema that abbreviates them.

        What the schema spells out is no abbreviation, and neither is a longer word of the schema one of the question's.
        """
        for begin, word in enumerate(said):
            if word in self._all:
                continue
            for named in self._by_letter.get(word[:1], ()):
                if len(named) < len(word) and closeness(word, named) in {CUT, SQUEEZED}:
                    yield begin, begin + 1, named
        for begin in range(len(said)):
            for end in range(begin + 3, min(begin + _LONGEST_INITIALS, len(said)) + 1):
                letters = "".join(word[0] for word in said[begin:end])
                if letters in self._all:
                    yield begin, end, letters
