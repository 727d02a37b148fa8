"""The native side of `SchemaLinks`: names as numbers for C++, a question's words looked up among them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from types import ModuleType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fastsql.linking.candidate import Candidate

Grams = Mapping[tuple[str, ...], NDArray[np.intp]]
Lists = tuple[NDArray[np.int32], NDArray[np.int32]]
"""Lists of integers one behind the other: where each begins and the last ends, and the entries."""


class NativeLinks:
    """Builds the relations of a question in C++; immutable once built, so threads may share it."""

    def __init__(
        self,
        core: ModuleType,
        exact: Grams,
        part: Grams,
        numbers: Mapping[str, int],
        static: NDArray[np.uint8],
        table_of: NDArray[np.intp],
        fits: Mapping[str, NDArray[np.bool_]],
    ) -> None:
        """What `SchemaLinks` knows of a schema; `core` is the native module."""
        grams = list(dict.fromkeys((*exact, *part)))
        words = dict.fromkeys(word for gram in grams for word in gram)
        self._words = {word: number for number, word in enumerate(words)}
        self._kinds = {kind: number for number, kind in enumerate(fits)}
        none = np.zeros(0, dtype=np.intp)
        self._links: Any = core.SchemaLinks(
            _lists([self._words[word] for word in gram] for gram in grams),
            _lists(part.get(gram, none) for gram in grams),
            _lists(exact.get(gram, none) for gram in grams),
            dict(numbers),
            static,
            table_of.astype(np.int32),
            np.array(list(fits.values()), dtype=np.uint8).reshape(len(fits), len(table_of)),
        )

    def relations(
        self,
        words: Sequence[tuple[str, int, int]],
        shortened: Iterable[tuple[int, int, str]],
        offsets: NDArray[np.int32],
        candidates: Sequence[Candidate],
    ) -> NDArray[np.uint8]:
        """uint8[N, N], as `SchemaLinks.relations`.

        `words` are those of `split_words`, `shortened` runs of them with the word of a name that abbreviates them.
        """
        known = self._words.get
        relations: NDArray[np.uint8] = self._links.relations(
            [known(word, -1) for word, _, _ in words],
            [place for _, *span in words for place in span],
            [place for begin, end, named in shortened for place in (begin, end, known(named, -1))],
            offsets,
            [place for candidate in candidates for place in candidate.span],
            [self._kinds.get(candidate.kind, -1) for candidate in candidates],
            [candidate.columns for candidate in candidates],
        )
        return relations


def _lists(lists: Iterable[Sequence[int] | NDArray[np.intp]]) -> Lists:
    arrays = [np.asarray(one, dtype=np.int32) for one in lists]
    starts = np.cumsum([0, *map(len, arrays)], dtype=np.int32)
    return starts, np.concatenate([*arrays, np.zeros(0, dtype=np.int32)])
