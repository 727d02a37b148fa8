"""Concurrent calls that are answered together: what a GPU does for one question it does for many in hardly more time."""

from __future__ import annotations

import threading
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from fastsql.forking import renew_in_child

Key = TypeVar("Key", bound=Hashable)
Item = TypeVar("Item")
Answer = TypeVar("Answer")


@dataclass(eq=False)
class _Request(Generic[Key, Item, Answer]):
    key: Key
    item: Item
    answer: Answer | BaseException | None = None
    woken: threading.Event = field(default_factory=threading.Event)
    """Set once there is an answer, or it is this caller's turn to answer."""


class Gathering(Generic[Key, Item, Answer]):
    """Gathers what threads ask while an answer is under way. Thread-safe.

    One thread at a time answers: for itself, and for all that wait with the same key, `most` at a time; then whoever has
    waited longest does. Nobody waits for company: a caller that is alone is answered alone, at once.
    """

    def __init__(
        self, answer: Callable[[Key, Sequence[Item]], Sequence[Answer | BaseException]], most: int
    ) -> None:
        """`answer` gives an answer or an exception for each item, in their order; what it raises, all of them get."""
        self._answer = answer
        self._most = most
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Forget the callers of the other process, none of whom is here."""
        self._waiting: list[_Request[Key, Item, Answer]] = []
        self._turn: _Request[Key, Item, Answer] | None = None
        self._lock = threading.Lock()

    def ask(self, key: Key, item: Item) -> Answer:
        """The answer to one item. Raises what stands in its place."""
        request: _Request[Key, Item, Answer] = _Request(key, item)
        try:
            with self._lock:
                self._waiting.append(request)
                self._turn_to_next()
            request.woken.wait()
            if request.answer is None:
                self._serve(key)
        finally:  # whoever is interrupted leaves the others theirs
            with self._lock:
                self._waiting = [other for other in self._waiting if other is not request]
                if self._turn is request:
                    self._turn = None
                    self._turn_to_next()
        if isinstance(request.answer, BaseException):
            raise request.answer
        assert request.answer is not None
        return request.answer

    def _turn_to_next(self) -> None:
        if self._turn is None and self._waiting:
            self._turn = self._waiting[0]
            self._turn.woken.set()

    def _serve(self, key: Key) -> None:
        """Answers the first that wait with a key, among them whose turn it is."""
        with self._lock:
            served = [request for request in self._waiting if request.key == key][: self._most]
            taken = {id(request) for request in served}
            self._waiting = [request for request in self._waiting if id(request) not in taken]
        answers: Sequence[Answer | BaseException]
        try:
            answers = self._answer(key, [request.item for request in served])
            if len(answers) != len(served):
                raise RuntimeError(f"{len(answers)} answers to {len(served)} questions")
        except Exception as error:  # noqa: BLE001  # each of them raises it where it was asked for
            answers = [error] * len(served)
        except BaseException:
            with self._lock:
                self._waiting[:0] = served
            raise
        for request, answer in zip(served, answers, strict=True):
            request.answer = answer
            request.woken.set()
