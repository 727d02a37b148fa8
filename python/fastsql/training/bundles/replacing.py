"""A bundle takes another's place as a whole: whenever the writer dies, the folder holds the old bundle or the new one."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from fastsql.errors import ModelError
from fastsql.model.bundle import LISTED, MANIFEST, open_bundle

_AT_FDCWD, _RENAME_EXCHANGE = -100, 2
_NO_EXCHANGE = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP)


@contextmanager
def replacing(folder: str | Path) -> Iterator[Path]:
    """An empty folder to write a bundle into; at the end of the block it takes the place of `folder`.

    It does so only once every file is on the disk and the bundle opens; an error leaves `folder` as it was. Other files in
    `folder` stay there. A process that is killed may leave the unfinished bundle beside it, as `.NAME.writing-…`.

    Raises ModelError where the folder cannot be replaced (a mount point, or a parent that may not be written), or where
    what was written is no sound bundle.
    """
    place = Path(os.path.realpath(folder))  # of a link, what it leads to is replaced
    if place.exists() and not place.is_dir():
        raise ModelError("it is not a folder", where=str(folder), remedy="Give the folder of a bundle.")
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        workshop = Path(tempfile.mkdtemp(prefix=f".{place.name}.writing-", dir=place.parent))
    except OSError as error:
        raise _irreplaceable(folder, error) from error
    try:
        new = workshop / "new"
        new.mkdir()
        if place.exists():
            new.chmod(place.stat().st_mode & 0o7777)
        yield new
        open_bundle(new)
        for path in new.iterdir():
            _sync(path)
        try:
            before = _put(new, place, workshop)
        except OSError as error:
            raise _irreplaceable(folder, error) from error
        for path in _others(before):
            path.rename(place / path.name)
    finally:
        # Only a rename that failed leaves here what would be lost.
        before = workshop / "before"
        if not (_others(workshop / "new") or _others(before) or (before.exists() and not place.exists())):
            shutil.rmtree(workshop, ignore_errors=True)


def copy_files(bundle: Path, new: Path) -> None:
    """Copies a bundle's files, but for the manifest, into the folder that is to replace it."""
    for name in LISTED:
        shutil.copy2(bundle / name, new / name)


def _put(new: Path, place: Path, workshop: Path) -> Path:
    """Makes `new` lie at `place`, and says where what lay there lies now."""
    if not place.exists():
        new.rename(place)
        return new
    if _exchange(new, place):
        return new
    # Here a kill between two renames leaves the old bundle whole, but in `before`.
    before = workshop / "before"
    place.rename(before)
    try:
        new.rename(place)
    except BaseException:
        before.rename(place)
        raise
    return before


def _others(folder: Path) -> list[Path]:
    """What lies in a folder and is no part of a bundle."""
    return (
        [path for path in folder.iterdir() if path.name not in (*LISTED, MANIFEST)] if folder.is_dir() else []
    )


def _exchange(one: Path, other: Path) -> bool:
    """Whether two folders changed places, in one step, as Linux can. Raises OSError where they could not be moved at all."""
    if not sys.platform.startswith("linux"):
        return False
    rename = getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), _RENAME_EXCHANGE) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NO_EXCHANGE:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _sync(path: Path) -> None:
    """Waits until a file's content is on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _irreplaceable(folder: str | Path, error: OSError) -> ModelError:
    return ModelError(
        f"it cannot be replaced as a whole ({error.strerror or type(error).__name__})",
        where=str(folder),
        remedy="Nothing was changed. Work on a copy of the bundle, in a folder that you may write.",
    )
