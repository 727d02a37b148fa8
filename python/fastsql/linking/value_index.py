"""Which known values a text mentions: n-gram look-up by hash, the longest match wins."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from fastsql.linking.folding import keys, words

_FORMS = 3
"""Values that one span may stand for, as where two differ in punctuation only."""

_STOPWORDS = frozenset(
    """a about after again all also am among an and any are as at be been before being below between both but by can could did
    do does during each every few for from had has have he her him his how i if in into is it its last list many may me
    more most much my no not now of off on once one only or other our out over own per please same she show since so some
    such tell than that the their them then there these they this those through time times to today total under until up
    us was we were what when where which while who whom whose why will with within would yes yet you your
    first second third next two three four five six seven eight nine ten day days month months year years""".split()
) | frozenset(["多少", "什么", "哪些", "哪个", "一个", "有没有", "可以", "名称", "编号"])


@dataclass(frozen=True)
class ValueMatch:
    """A place in the question, characters ``[start, end)``, and the values it may stand for with the columns that hold each."""

    start: int
    end: int
    values: tuple[tuple[str, tuple[int, ...]], ...]


class ValueIndex:
    """Values by the sequence of their words; case, blanks and punctuation do not count.

    Memory is about 250 bytes a value; a question of n words costs at most n times the number of distinct lengths among the
    values that begin with one of its words. Immutable once built, so threads may share it.
    """

    def __init__(self, entries: Iterable[tuple[str, tuple[int, ...]]]) -> None:
        """`entries` are distinct values, each with the columns that hold it, in ascending order."""
        self._entries = list(entries)
        by_key: dict[str, tuple[int, ...]] = {}
        lengths: dict[str, set[int]] = {}
        for number, (value, _) in enumerate(self._entries):
            value_words = keys(value)
            key = " ".join(value_words)
            by_key[key] = (*by_key[key], number) if key in by_key else (number,)
            if _is_telling(value_words):
                lengths.setdefault(value_words[0], set()).add(len(value_words))
        self._by_key = by_key
        self._lengths = {first: tuple(sorted(found, reverse=True)) for first, found in lengths.items()}

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> list[tuple[str, tuple[int, ...]]]:
        """Every value with its columns, in the order given."""
        return list(self._entries)

    def match(self, text: str) -> tuple[ValueMatch, ...]:
        """Matches in `text` in their order; of two where one lies inside the other, the longer.

        A value of one letter, of function words only, or of fewer than four digits matches nothing.
        """
        found = words(text)
        sequence = [word.key for word in found]
        matches: list[ValueMatch] = []
        reached = 0
        for start, first in enumerate(sequence):
            for length in self._lengths.get(first, ()):
                end = start + length
                # Whatever ends at or before the furthest end so far lies inside an earlier match.
                if end <= reached:
                    break
                if end > len(sequence):
                    continue
                numbers = self._by_key.get(" ".join(sequence[start:end]))
                if numbers is None or not _is_telling(sequence[start:end]):
                    continue
                place = (found[start].start, found[end - 1].end)
                matches.append(ValueMatch(*place, self._forms(numbers, text, *place)))
                reached = end
                break
        return tuple(matches)

    def find(self, text: str) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Values equal to `text` but for letter case and outer blanks, each with its columns."""
        wanted = text.strip().casefold()
        numbers = self._by_key.get(" ".join(keys(text)), ())
        return tuple(self._entries[number] for number in numbers if self._entries[number][0].casefold() == wanted)

    def _forms(
        self, numbers: tuple[int, ...], text: str, start: int, end: int
    ) -> tuple[tuple[str, tuple[int, ...]], ...]:
        """Values of one key. Where one is written in the text, punctuation and all, the others are not meant."""
        forms = [self._entries[number] for number in numbers]
        if len(forms) > 1:
            lowered = text.lower()
            longest = 0
            written: list[tuple[str, tuple[int, ...]]] = []
            for form in forms:
                value = form[0].lower()
                # The value may begin or end with punctuation that no word holds, as in "(urojet)".
                near = lowered.find(value, max(0, start - 4), end + 4 + len(value))
                if near < 0 or near > start or len(value) < longest:
                    continue
                written = [*written, form] if len(value) == longest else [form]
                longest = len(value)
            forms = written or forms
        return tuple(forms[:_FORMS])


def _is_telling(value_words: list[str]) -> bool:
    """Whether the words are enough to recognise a value by."""
    if not value_words:
        return False
    if len(value_words) == 1:
        word = value_words[0]
        return len(word) >= (4 if word[0].isdigit() and word.replace(".", "").isdigit() else 2) and word not in _STOPWORDS
    if all(len(word) == 1 and not word.isascii() for word in value_words):
        return "".join(value_words) not in _STOPWORDS
    return any(not word.replace(".", "").isdigit() and word not in _STOPWORDS for word in value_words)
