"""The SQLite files of a data set: plain, gzipped, or in a tar archive; packed ones are unpacked to a temporary folder."""

from __future__ import annotations

import gzip
import tarfile
import tempfile
import zlib
from collections.abc import Collection
from pathlib import Path, PurePosixPath
from types import TracebackType
from typing import IO

from fastsql.datasets.examples import DatasetError

_SUFFIXES = (".sqlite", ".db", ".sqlite3")
_HEADER = b"SQLite format 3\0"
_LARGEST = 8 * 2**30
"""Bytes an unpacked database may have: an archive can claim far more than a disk holds."""


class DatabaseFiles:
    """Finds the SQLite file of each database id, in one file or in a folder.

    A folder holds ``ID.sqlite``, ``ID.db`` or ``ID/ID.sqlite``, each also with ``.gz``, or tar archives of such files.
    A single file serves the id that it is named after, or, if there is only one id, that one. Use it as a context
    manager: unpacked copies are removed at its end.

    Raises:
        DatasetError: no such file or folder, or a file found is damaged or is not an SQLite database.
    """

    def __init__(self, source: str | Path | None, db_ids: Collection[str]) -> None:
        self._db_ids = frozenset(db_ids)
        self._found: dict[str, Path] = {}
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        if source is None:
            return
        path = Path(source)
        if isinstance(source, str) and "://" in source:  # not repeated: it may hold a password
            raise DatasetError(
                "queries of a data set run in SQLite files, not in a server",
                where="databases",
                remedy="Give an SQLite file or a folder of them.",
            )
        if not path.exists():
            raise DatasetError(
                "no such file or folder", where=str(path), remedy="Check the path of the databases."
            )
        try:
            if path.is_dir():
                self._search(path)
            elif ".tar" in path.suffixes:
                self._unpack_archive(path)
            else:
                self._take(path)
        except BaseException:
            self.close()
            raise

    def path(self, db_id: str) -> Path | None:
        """The SQLite file of a database, or None where the data set has none."""
        return self._found.get(db_id)

    def __enter__(self) -> DatabaseFiles:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Remove the unpacked copies."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None
        self._found = {}

    def _take(self, path: Path) -> None:
        name = _stem(path.name)
        if name in self._db_ids:
            self._add(name, path)
        elif len(self._db_ids) == 1:
            self._add(next(iter(self._db_ids)), path)
        else:
            raise DatasetError(
                f"is not named after any of the {len(self._db_ids)} databases asked for",
                where=str(path),
                remedy="Give a folder with one file a database, named after its id.",
            )

    def _search(self, folder: Path) -> None:
        for db_id in sorted(self._db_ids):
            if db_id != Path(db_id).name:
                continue
            names = [f"{db_id}{suffix}{packed}" for packed in ("", ".gz") for suffix in _SUFFIXES]
            paths = [place / name for name in names for place in (folder, folder / db_id)]
            found = next((path for path in paths if path.is_file()), None)
            if found is not None:
                self._add(db_id, found)
        for archive in sorted(folder.glob("*.tar*")):
            if self._db_ids - self._found.keys():
                self._unpack_archive(archive)

    def _add(self, db_id: str, path: Path) -> None:
        if path.suffix == ".gz":
            try:
                with gzip.open(path, "rb") as packed:
                    self._unpack(db_id, packed, path)
            except (OSError, EOFError, zlib.error) as error:
                raise _damaged(path, error) from error
            return
        with path.open("rb") as file:
            _check_header(file.read(len(_HEADER)), path)
        self._found[db_id] = path

    def _unpack_archive(self, archive: Path) -> None:
        try:
            with tarfile.open(archive, "r:*") as members:
                for member in members:
                    # Only the content of a regular file is taken, under a name of ours: what paths, links and modes an
                    # archive claims does not matter.
                    db_id = _stem(PurePosixPath(member.name).name)
                    if not member.isfile() or db_id not in self._db_ids or db_id in self._found:
                        continue
                    if not member.name.endswith(_SUFFIXES):
                        continue
                    content = members.extractfile(member)
                    if content is not None:
                        self._unpack(db_id, content, archive)
        except (OSError, EOFError, tarfile.TarError, zlib.error) as error:
            raise _damaged(archive, error) from error

    def _unpack(self, db_id: str, packed: IO[bytes] | gzip.GzipFile, origin: Path) -> None:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="fastsql-")
        target = Path(self._folder.name) / f"{len(self._found)}.sqlite"
        header = packed.read(len(_HEADER))
        _check_header(header, origin)
        with target.open("wb") as file:
            file.write(header)
            while block := packed.read(2**20):
                file.write(block)
                if file.tell() > _LARGEST:
                    raise DatasetError(
                        f"unpacks to more than {_LARGEST:,} bytes",
                        where=str(origin),
                        remedy="Unpack it yourself.",
                    )
        self._found[db_id] = target


def _stem(name: str) -> str:
    name = name.removesuffix(".gz")
    return next((name.removesuffix(suffix) for suffix in _SUFFIXES if name.endswith(suffix)), name)


def _check_header(header: bytes, path: Path) -> None:
    if header != _HEADER:
        raise DatasetError(
            "is not an SQLite database", where=str(path), remedy="Give a .sqlite file, or one packed as .gz."
        )


def _damaged(path: Path, error: Exception) -> DatasetError:
    return DatasetError(
        f"cannot be unpacked ({type(error).__name__})", where=str(path), remedy="Download the file again."
    )
