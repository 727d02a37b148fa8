"""A file is there whole or as it was."""

from __future__ import annotations

from pathlib import Path

import pytest

from fastsql.whole_file import write_whole


def test_a_new_file_is_its_owner_s_alone_where_it_is_private(tmp_path: Path) -> None:
    write_whole(tmp_path / "rows", b"cells", private=True)
    write_whole(tmp_path / "plain", b"words")
    (tmp_path / "usual").write_bytes(b"")
    modes = {path.name: path.stat().st_mode & 0o777 for path in tmp_path.iterdir()}
    assert modes["rows"] == 0o600
    assert modes["plain"] == modes["usual"]


def test_a_file_that_is_there_keeps_its_mode(tmp_path: Path) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"old")
    path.chmod(0o640)
    write_whole(path, b"new", private=True)
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640


def test_what_cannot_be_written_leaves_what_was_there_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "rows"
    path.write_bytes(b"old")

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(OSError, match="No space left"):
        write_whole(path, b"new")
    assert (path.read_bytes(), list(tmp_path.iterdir())) == (b"old", [path])
