"""One thread that ends what would hold its caller too long: a server that does not answer, a call that does not return."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

from fastsql.forking import renew_in_child

_NEVER = float("inf")


class Watch:
    """Something that must be over by a moment of `time.monotonic`."""

    __slots__ = ("act", "fired", "lock", "moment")

    def __init__(self, moment: float, act: Callable[[], None]) -> None:
        self.moment = moment
        self.act = act
        self.fired = False
        self.lock = threading.Lock()


class Watchdog:
    """Acts on every watch that is not ended by its moment. Shared by all executors and threads.

    Its thread starts with the first watch and then sleeps until the earliest moment that it knows of, even where that watch
    has ended: so queries that follow each other do not wake it, and a watch costs about two microseconds.
    """

    def __init__(self) -> None:
        self.renew_after_fork()
        renew_in_child(self)

    def renew_after_fork(self) -> None:
        """Forget everything: in a forked child there is no thread, and a lock may be held by nobody."""
        self._changed = threading.Condition(threading.Lock())
        self._live: set[Watch] = set()
        self._wakes = _NEVER
        self._thread: threading.Thread | None = None

    def begin(self, moment: float, act: Callable[[], None]) -> Watch:
        """Call `act` in the watchdog's thread at a moment of `time.monotonic`, unless the watch ends before.

        `act` must return soon and raise nothing: all other watches wait for it.
        """
        watch = Watch(moment, act)
        with self._changed:
            self._live.add(watch)
            if self._thread is None or not self._thread.is_alive():
                self._thread = threading.Thread(target=self._run, name="fastsql watchdog", daemon=True)
                self._thread.start()
            elif moment < self._wakes:
                self._changed.notify()
        return watch

    def end(self, watch: Watch) -> bool:
        """Whether the watchdog has acted on a watch; once this has returned, it will not any more."""
        with watch.lock:
            with self._changed:
                self._live.discard(watch)
            return watch.fired

    def _run(self) -> None:
        while True:
            for watch in self._due():
                with watch.lock:
                    with self._changed:
                        ended = watch not in self._live
                        self._live.discard(watch)
                    if not ended:
                        watch.fired = True
                        watch.act()

    def _due(self) -> list[Watch]:
        """The watches whose moment has come, as soon as there is one."""
        with self._changed:
            while True:
                now = time.monotonic()
                due = [watch for watch in self._live if watch.moment <= now]
                if due:
                    return due
                self._wakes = min((watch.moment for watch in self._live), default=_NEVER)
                self._changed.wait(None if self._wakes == _NEVER else self._wakes - now)


WATCHDOG = Watchdog()
"""The one that all executors of a process share."""
