"""Forks while other threads work: locks and connections are made anew in the child, and others are waited for.

A fork copies memory, but of all threads only the one that forks: a lock that another thread held stays held in the child
for ever. So whatever owns locks, threads or connections is told in the child to make them anew. SQLite's allocator has a
lock of its own that nobody can make anew, and so has every module while it is imported, which much of this package is when
it is first needed. So a fork waits until no thread is inside SQLite, except where it holds no lock, and none imports.
"""

from __future__ import annotations

import functools
import os
import sys
import threading
import time
import weakref
from typing import Protocol

_PATIENCE = 0.5
"""Seconds that a fork waits for SQLite at most: one call may take minutes, but then it computes, and locks nothing."""
_IMPORT_PATIENCE = 2.0
"""Seconds that a fork waits for imports at most: a module may itself wait, for this very thread even."""
_IMPORT_POLL = 0.001
"""Seconds between looks at the imports under way, which tell nobody when they end."""


class Renewable(Protocol):
    """What owns locks, threads or connections that a forked process must not share."""

    def renew_after_fork(self) -> None:
        """Make them anew. Called in the child, where no other thread runs; must neither wait nor raise."""


class _Gate:
    """Counts the threads inside SQLite, and keeps them out, or where they hold no lock, while the process forks."""

    def __init__(self) -> None:
        self.renew_after_fork()

    def renew_after_fork(self) -> None:
        self.closed = False
        self._changed = threading.Condition()
        self._inside: set[int] = set()

    def enter(self) -> None:
        with self._changed:
            self._come_in(threading.get_ident())

    def leave(self) -> None:
        self.forget(threading.get_ident())

    def step_aside(self) -> None:
        """Let a fork pass. Called by a thread inside, at a place where it holds no lock of SQLite's allocator."""
        thread = threading.get_ident()
        with self._changed:
            self._inside.discard(thread)
            self._changed.notify_all()
            self._come_in(thread)

    def forget(self, thread: int | None) -> None:
        """No longer wait for a thread."""
        with self._changed:
            self._inside.discard(thread or 0)
            if self.closed:
                self._changed.notify_all()

    def _come_in(self, thread: int) -> None:
        while self.closed:
            self._changed.wait()
        self._inside.add(thread)

    def close(self) -> None:
        with self._changed:
            while self.closed:  # another thread forks
                self._changed.wait()
            self.closed = True
            self._changed.wait_for(lambda: not self._inside, _PATIENCE)

    def open(self) -> None:
        with self._changed:
            self.closed = False
            self._changed.notify_all()


_gate = _Gate()
_renewables: weakref.WeakSet[Renewable] = weakref.WeakSet()


def renew_in_child(owner: Renewable) -> None:
    """Have an object told of every fork in the child, as long as it lives."""
    _renewables.add(owner)


class inside_sqlite:  # noqa: N801 - a context manager, entered at every query
    """A stretch of calls of SQLite, which a fork waits for; a long one calls :func:`let_forks_pass` now and then."""

    __slots__ = ()

    def __enter__(self) -> None:
        _gate.enter()

    def __exit__(self, *_: object) -> None:
        _gate.leave()


def let_forks_pass() -> int:
    """Wait here while the process forks; cheap where it does not. As a progress handler, gives 0: go on."""
    if _gate.closed:
        _gate.step_aside()
    return 0


def forget_thread(thread: int | None) -> None:
    """Let no fork wait for a thread, by its identifier: it was given up."""
    _gate.forget(thread)


def _before() -> None:
    _gate.close()
    if not _imports_here():
        end = time.monotonic() + _IMPORT_PATIENCE
        while _is_importing() and time.monotonic() < end:
            time.sleep(_IMPORT_POLL)


def _is_importing() -> bool:
    """Whether a module is being imported, by any thread."""
    specs = [getattr(module, "__spec__", None) for module in list(sys.modules.values())]
    return any(getattr(spec, "_initializing", False) for spec in specs)


def _imports_here() -> bool:
    """Whether this thread is at an import itself, so that waiting for the end of all would be in vain."""
    frame = sys._getframe()
    while (caller := frame.f_back) is not None:
        frame = caller
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            return True
    return False


def _renew() -> None:
    _gate.renew_after_fork()
    _renew_cached_properties()
    for owner in list(_renewables):
        owner.renew_after_fork()


def _renew_cached_properties() -> None:
    """Before Python 3.12 every cached property has one lock for all objects of its class."""
    if sys.version_info >= (3, 12):
        return
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] == __package__:
            for found in list(vars(module).values()):
                if isinstance(found, type):
                    for entry in list(vars(found).values()):
                        if isinstance(entry, functools.cached_property):
                            entry.lock = threading.RLock()  # type: ignore[attr-defined]


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_gate.open, after_in_child=_renew)
