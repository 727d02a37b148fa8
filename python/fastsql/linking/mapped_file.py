"""A file that is read in place: its blocks are checked when they are first read, and it must not change meanwhile."""

from __future__ import annotations

import mmap
import os
import zlib
from io import BufferedReader

import numpy as np
from numpy.typing import NDArray

from fastsql.errors import ModelError

BLOCK = 4096
"""Bytes that have a checksum of their own."""


class MappedFile:
    """Bytes ``[begin, end)`` of a file, mapped into memory, with the CRC-32 of each block. Threads may share it."""

    def __init__(
        self, stream: BufferedReader, begin: int, end: int, checksums: NDArray[np.uint32], remedy: str
    ) -> None:
        """Map a file, which `stream` stays open for; `begin` is a multiple of the block size. Raises OSError.

        `checksums` uint32[blocks] are those that the blocks had when they were written.
        """
        self.checksums = checksums
        self._remedy = remedy
        self._stream = stream
        self._stamp = _stamp(stream)
        # An empty part cannot be mapped, and there is nothing in it.
        self._map = mmap.mmap(stream.fileno(), end, access=mmap.ACCESS_READ) if end > begin else b""
        self.body = memoryview(self._map)[begin:end]
        self._checked = bytearray(len(checksums))

    @property
    def where(self) -> str:
        """The file's path."""
        return str(self._stream.name)

    def check(self, begin: int, end: int) -> None:
        """Raise ModelError unless bytes ``[begin, end)`` of `body` are those that were written."""
        for block in range(begin // BLOCK, -(-end // BLOCK)):
            if not self._checked[block]:
                if zlib.crc32(self.body[block * BLOCK : (block + 1) * BLOCK]) != self.checksums[block]:
                    raise self._wrong("its content is damaged")
                self._checked[block] = 1

    def expect_unchanged(self) -> None:
        """Raise ModelError where somebody has written into the file since it was opened.

        Writing in place takes bytes away under the reader, which ends the process if it reads them in that moment. Another
        file moved to its place does no harm.
        """
        if _stamp(self._stream) != self._stamp:
            raise self._wrong("it was changed while it was in use")

    def _wrong(self, why: str) -> ModelError:
        return ModelError(
            f"the value dictionary cannot be read further: {why}", where=self.where, remedy=self._remedy
        )


def block_checksums(body: memoryview) -> NDArray[np.uint32]:
    """uint32[blocks]: the CRC-32 of each block of `body`, the last of which may be short."""
    return np.array(
        [zlib.crc32(body[begin : begin + BLOCK]) for begin in range(0, len(body), BLOCK)], dtype=np.uint32
    )


def _stamp(stream: BufferedReader) -> tuple[int, int]:
    found = os.fstat(stream.fileno())
    return found.st_size, found.st_mtime_ns
