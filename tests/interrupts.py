"""Ctrl-C, as a test needs it."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

SECONDS = 0.2


@contextmanager
def interrupted() -> Iterator[None]:
    """Ctrl-C comes a moment after the block began, and has to end it. For the main thread."""
    timer = threading.Timer(SECONDS, signal.pthread_kill, (threading.main_thread().ident, signal.SIGINT))
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        timer.start()
        with pytest.raises(KeyboardInterrupt):
            yield
    finally:
        timer.cancel()
        signal.signal(signal.SIGINT, before)
