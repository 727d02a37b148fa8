"""What a parser remembers: pairs by schema, found again by the likeness of their questions."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import ExampleError, LimitError
from fastsql.forking import renew_in_child

if TYPE_CHECKING:
    from fastsql.memory.example import Example

Kept: TypeAlias = "dict[int, Example]"


class Memory:
    """Remembered pairs by the digest of a schema's names, numbered from 1 in each. Thread-safe.

    A pickle of it holds the pairs.
    """

    def __init__(self, most: int) -> None:
        """`most`: pairs, over all schemas."""
        self.most = most
        self._kept: dict[str, Kept] = {}
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Wait for no thread of the other process."""
        self._lock = threading.Lock()

    def add(self, schema: str, example: Example) -> int:
        """The number of a pair from now on; one with the same question gives its number up to it.

        Raises LimitError where there are too many.
        """
        with self._lock:
            kept = self._kept.get(schema, {})
            number = next((n for n, one in kept.items() if one.asked == example.asked), None)
            if number is None:
                found = 1 + sum(map(len, self._kept.values()))
                if found > self.most:
                    raise LimitError.exceeded("examples", found, self.most, where="remembered pairs")
                number = max(kept, default=0) + 1
            # What another thread reads stays as it is.
            self._kept[schema] = {**kept, number: example}
            return number

    def of(self, schema: str) -> Kept:
        """The pairs of a schema by number, not to be changed."""
        return self._kept.get(schema, {})

    def forget(self, schema: str, number: int | None = None) -> int:
        """Forget a pair, or all of a schema; gives how many that were. Raises ExampleError where none has this number."""
        with self._lock:
            kept = self._kept.get(schema, {})
            if number is None:
                left: Kept = {}
            elif number in kept:
                left = {n: one for n, one in kept.items() if n != number}
            else:
                raise ExampleError(
                    f"no remembered pair has the number {number!r}", remedy="See `Parser.examples`."
                )
            self._kept[schema] = left
            return len(kept) - len(left)

    def __bool__(self) -> bool:
        return any(self._kept.values())

    def __getstate__(self) -> dict[str, Any]:
        return {"most": self.most, "_kept": self._kept}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["most"])  # type: ignore[misc]
        self._kept = state["_kept"]


def nearest(kept: Kept, vector: NDArray[np.float32], most: int) -> list[tuple[int, Example, float]]:
    """The pairs whose questions are likest to one of a vector float32[d]: number, pair, cosine, likest first."""
    cosines = np.stack([one.vector for one in kept.values()]) @ direction(vector)
    order = np.argsort(-cosines, kind="stable")[:most].tolist()
    numbers = list(kept)
    return [(numbers[place], kept[numbers[place]], min(float(cosines[place]), 1.0)) for place in order]


def direction(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    """A vector float32[d] at length 1; as it is where its length is 0."""
    found: NDArray[np.float32] = vector / (np.linalg.norm(vector) or 1)
    return found
