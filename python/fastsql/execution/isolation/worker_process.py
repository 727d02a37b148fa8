"""A worker process as its parent sees it: started, asked, answered, and killed when it does not answer in time."""

from __future__ import annotations

import fcntl
import os
import select
import signal
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

from fastsql.errors import ExecutionError
from fastsql.execution.deadline import Deadline
from fastsql.execution.executor import too_late
from fastsql.execution.isolation.wire import LENGTH, WireError, frame, message, raise_error
from fastsql.execution.isolation.worker_setup import WorkerSetup, kill_after

_PACKAGES = str(Path(__file__).resolve().parents[2])
_INHERITED = ("LD_LIBRARY_PATH", "TZ", "SystemRoot")
"""Variables without which an interpreter may not start, or SQLite's local time would be another."""
_SET_PIPE_SIZE = 1031
"""Linux's F_SETPIPE_SZ."""
_CHUNK = 2**20
_ENDING = 0.25
"""Seconds that are waited, once, for a killed process to be gone; a busy machine may take longer, which holds nobody."""


class WorkerDiedError(ExecutionError):
    """The worker process of an isolated executor ended within a query; another one takes its place."""


class WorkerProcess:
    """One worker process; serves one caller at a time.

    Args:
        setup: what it is told first.

    Raises:
        ExecutionError: no process can be started.
    """

    def __init__(self, setup: WorkerSetup) -> None:
        # As JSON writes it, a character may take six bytes; and there are columns and rows of no cells.
        self._longest = 6 * setup.bounds.byte_limit + 2**20
        self._started = self._owes_answer = self._has_query = self._killed = False
        self._parent = os.getpid()
        self._begun = time.monotonic()
        self._process = _start()
        self._requests = self._process.stdin.fileno()  # type: ignore[union-attr] # both are pipes
        self._answers = self._process.stdout.fileno()  # type: ignore[union-attr]
        for end in (self._requests, self._answers):
            os.set_blocking(end, False)
        with suppress(
            OSError
        ):  # a pipe that holds a large schema spares the first query that part of the start
            fcntl.fcntl(self._requests, _SET_PIPE_SIZE, _CHUNK)
        self._unsent = memoryview(frame(setup.message()))
        with suppress(_EndedError):  # found when it is waited for
            self._unsent = self._send(self._unsent, 0.0)

    @property
    def pid(self) -> int:
        """Its identifier."""
        return self._process.pid

    @property
    def age(self) -> float:
        """Seconds since it was started."""
        return time.monotonic() - self._begun

    def is_alive(self) -> bool:
        """Whether it has not ended, and was not told to."""
        return not self._killed and self._process.poll() is None

    def is_settled(self) -> bool:
        """Whether it is between queries: no answer is under way, no query open. Otherwise it must not be asked another."""
        return not (self._owes_answer or self._has_query)

    def wait_until_ready(self, moment: float) -> bool:
        """Whether it is ready by a moment of `time.monotonic`; it goes on starting where it is not.

        Raises:
            ExecutionError: it cannot open the database, or did not start at all.
        """
        if self._started:
            return True
        try:
            self._unsent = self._send(self._unsent, moment)
            ready = not self._unsent and self._ready(self._answers, select.POLLIN, moment)
            if not ready:
                return False
            raise_error(self._receive(moment))
        except (_EndedError, WireError):
            self.kill()
        else:
            self._started = True
            return True
        raise WorkerDiedError(
            f"a worker process did not start ({self._ending()})",
            where="executor",
            remedy="Check that this Python can be started again, and that memory_limit leaves it enough room.",
        )

    def ask(self, request: dict[str, Any], deadline: Deadline) -> dict[str, Any]:
        """The answer to a request. After any exception but those that the worker sent, it has been killed.

        Raises:
            QueryTimeoutError: it gave none in time.
            WorkerDiedError: it ended.
            FastSQLError: what it says that went wrong.
        """
        try:
            sent = memoryview(frame({**request, "seconds": deadline.remaining()}))
        except ValueError:
            sent = None
        if sent is None:  # not while the other is handled: that one holds the text
            raise ExecutionError("is not text", where="query", remedy="Give a SELECT statement.")
        moment = self._last_moment(deadline)
        self._owes_answer = True
        self._has_query |= "start" in request
        try:
            if self._send(sent, moment):
                raise _EndedError
        except BaseException as error:
            self.kill()
            if not isinstance(error, _EndedError):
                raise
        found = self.answer(deadline)
        self._has_query &= "end" not in request
        return found

    def answer(self, deadline: Deadline) -> dict[str, Any]:
        """The next answer; raises as :meth:`ask`."""
        found = None
        try:
            found = self._receive(self._last_moment(deadline))
        except (_EndedError, WireError):
            self.kill()
        except BaseException:
            self.kill()
            raise
        if found is not None:
            self._owes_answer = bool(found.get("more"))
            self._has_query &= "error" not in found
            raise_error(found)
            return found
        if deadline.passed() or self._process.returncode == -signal.SIGALRM:
            raise too_late(deadline.time_limit)
        raise WorkerDiedError(
            f"the worker process ended ({self._ending()})",
            where="query",
            remedy="Ask for less: it may have needed more memory than memory_limit.",
        )

    def was_killed(self) -> bool:
        """Whether it ended by a signal."""
        return (self._process.returncode or 0) < 0

    def kill(self, *, wait: bool = True) -> None:
        """End the process, whatever it does. Another thread may be waiting for its answer.

        Args:
            wait: until it is gone, for a moment.
        """
        if self._parent == os.getpid() and not self._killed and self._process.returncode is None:
            self._killed = True
            self._process.kill()
            if not wait:
                return
            with suppress(subprocess.TimeoutExpired):  # in the kernel's hands; it is collected later
                self._process.wait(_ENDING)

    def drop(self) -> None:
        """End the process and close the pipes; nobody may be waiting."""
        self.kill()
        self.forget()

    def forget(self) -> None:
        """Close the pipes; in a forked child, where the process is the parent's."""
        for end in (self._process.stdin, self._process.stdout):
            if end is not None:
                end.close()
        if self._parent != os.getpid():
            self._process.returncode = 0  # lest it be waited for

    # Pipes --------------------------------------------------------------------------------------------------

    def _last_moment(self, deadline: Deadline) -> float:
        return deadline.moment - deadline.time_limit + kill_after(deadline.time_limit)

    def _send(self, data: memoryview, moment: float) -> memoryview:
        """What could not be sent by a moment."""
        while data:
            written = self._write(data)
            data = data[written:]
            if not written and not self._ready(self._requests, select.POLLOUT, moment):
                break
        return data

    def _write(self, data: memoryview) -> int:
        """How many bytes the pipe took."""
        try:
            return os.write(self._requests, data)
        except BlockingIOError:
            return 0
        except BrokenPipeError:
            raise _EndedError from None

    def _receive(self, moment: float) -> dict[str, Any]:
        (length,) = LENGTH.unpack(self._read(LENGTH.size, moment))
        if length > self._longest:
            raise WireError("a frame beyond the budget")
        return message(self._read(length, moment))

    def _read(self, size: int, moment: float) -> bytes | bytearray:
        data = bytearray()
        while len(data) < size:
            try:
                chunk = os.read(self._answers, min(size - len(data), _CHUNK))
            except BlockingIOError:
                if not self._ready(self._answers, select.POLLIN, moment):
                    raise _EndedError from None
                continue
            if not chunk:
                raise _EndedError
            data += chunk
        return data

    def _ready(self, end: int, event: int, moment: float) -> bool:
        """Whether a pipe becomes ready, or breaks, by a moment."""
        poll = select.poll()
        poll.register(end, event)
        return bool(poll.poll(max(0.0, moment - time.monotonic()) * 1_000))

    def _ending(self) -> str:
        code = self._process.returncode
        if code is None:
            return "not yet gone"
        return signal.Signals(-code).name if code < 0 else f"exit status {code}"


class _EndedError(Exception):
    """The process has gone, or does not answer. Never leaves this file."""


def _start() -> subprocess.Popen[bytes]:
    if not sys.executable:
        raise ExecutionError(
            "the path of the running Python is unknown, so a second process cannot be started",
            where="isolated=True",
            remedy="Set sys.executable, or run without isolated=True.",
        )
    try:
        return subprocess.Popen(
            [sys.executable, "-m", "fastsql.execution.isolation.worker"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            bufsize=0,
            cwd="/",  # also what ``-m`` puts into the path
            env=_environment(),
            close_fds=True,
            start_new_session=True,  # the terminal's interrupt is the parent's
        )
    except OSError as error:
        failure = ExecutionError(
            f"a worker process cannot be started ({type(error).__name__})",
            where="isolated=True",
            remedy="Check the limits of processes and memory of this user.",
        )
    raise failure


def _environment() -> dict[str, str]:
    """As little as an interpreter needs that finds the same packages."""
    packages = [entry for entry in sys.path if entry and Path(entry).is_absolute()]
    if _PACKAGES not in packages:
        packages.append(_PACKAGES)
    return {
        **{name: os.environ[name] for name in _INHERITED if name in os.environ},
        "LC_ALL": "C.UTF-8",
        "MALLOC_ARENA_MAX": "2",  # each arena reserves address space, which is limited
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": os.pathsep.join(packages),
        "PYTHONSAFEPATH": "1",
    }
