"""What the operating system lets a worker process do: so much memory, no files of any size, no core dumps, no new rights."""

from __future__ import annotations

import ctypes
import resource
import sys
from pathlib import Path

_STATM = Path("/proc/self/statm")
_FILES = 64
"""Descriptors that may be open: a database, its log, a socket, and what the interpreter holds."""
_PR_SET_DUMPABLE, _PR_SET_NO_NEW_PRIVS = 4, 38


def is_possible() -> bool:
    """Whether the operating system keeps such limits: Linux does."""
    return sys.platform == "linux" and _STATM.exists()


def leave_no_traces() -> None:
    """Before any cell is read: no core dump, no other process of the user may look into this one, no new rights."""
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    prctl = ctypes.CDLL(None, use_errno=True).prctl
    for option, value in ((_PR_SET_DUMPABLE, 0), (_PR_SET_NO_NEW_PRIVS, 1)):
        if prctl(option, value, 0, 0, 0) != 0:
            raise OSError(ctypes.get_errno(), "prctl")


def limit_resources(memory: int, file_bytes: int) -> None:
    """Set limits that cannot be raised again.

    Args:
        memory: bytes of address space beyond what is in use now.
        file_bytes: to what size a file may grow by writing.
    """
    pages = int(_STATM.read_text(encoding="ascii").split()[0])
    most = pages * resource.getpagesize() + memory
    for kind, value in (
        (resource.RLIMIT_AS, most),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NOFILE, _FILES),
    ):
        hard = resource.getrlimit(kind)[1]
        value = value if hard == resource.RLIM_INFINITY else min(value, hard)
        resource.setrlimit(kind, (value, value))
