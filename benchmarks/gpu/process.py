"""Commands that may not take longer than they are given, with whatever they started in turn."""

from __future__ import annotations

if __name__ == "__main__":
    import sys
    from pathlib import Path

    sys.path.insert(0, str(Path(__file__).parents[1]))
    from parts import explain

    explain(__file__)

import contextlib
import os
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path

_GRACE = 5.0
"""Seconds between asking a command to end and ending it."""


def limited(
    arguments: Sequence[str | Path],
    seconds: float,
    environment: Mapping[str, str] | None = None,
    folder: Path | None = None,
) -> tuple[int | None, str]:
    """Exit status, None where the time was up, and what was written to both streams until then."""
    process = subprocess.Popen(
        list(map(str, arguments)),
        env=None if environment is None else dict(environment),
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        errors="replace",
        start_new_session=True,  # a group of its own, which ends as a whole
    )
    try:
        output, _ = process.communicate(timeout=max(seconds, 0.0))
    except subprocess.TimeoutExpired:
        return None, _end(process)
    except BaseException:  # the caller is being stopped: nothing may stay behind
        _end(process)
        raise
    return process.returncode, output


def _end(process: subprocess.Popen[str]) -> str:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with contextlib.suppress(ProcessLookupError):  # all of the group has ended by itself
            os.killpg(process.pid, number)
        try:
            return process.communicate(timeout=_GRACE)[0]
        except subprocess.TimeoutExpired:
            continue
    return ""
