"""Files that are there whole or as they were, whenever their writing ends."""

from __future__ import annotations

import os
from pathlib import Path


def write_whole(path: Path, content: bytes, *, private: bool = False) -> None:
    """Write a file under another name first; one that is there keeps its mode. Raises OSError.

    `private`: a new one is its owner's alone to read.
    """
    temporary = path.absolute().with_name(f".{path.name}.{os.getpid()}.new")
    try:
        with open(temporary, "xb", opener=_open_private if private else None) as file:
            file.write(content)
            file.flush()
            os.fsync(file.fileno())
        if path.exists():
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
