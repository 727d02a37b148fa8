"""Databases are found by id, in a file, a folder or an archive; packed ones are unpacked and removed again."""

from __future__ import annotations

import gzip
import io
import sqlite3
import tarfile
from pathlib import Path

import pytest

from fastsql.datasets import DatabaseFiles, DatasetError

from ..worlds.database import write_database


@pytest.fixture
def database(tmp_path: Path) -> Path:
    folder = tmp_path / "made"
    folder.mkdir()
    return write_database(folder / "ward.sqlite", "CREATE TABLE t (x INT); INSERT INTO t VALUES (7);")


def only_cell(path: Path | None) -> object:
    assert path is not None
    connection = sqlite3.connect(path)
    try:
        return connection.execute("SELECT x FROM t").fetchone()[0]
    finally:
        connection.close()


def pack(database: Path, archive: Path, names: list[str]) -> Path:
    with tarfile.open(archive, "w:xz") as members:
        for name in names:
            members.add(database, arcname=name)
    return archive


def test_a_file_serves_the_id_it_is_named_after(database: Path) -> None:
    with DatabaseFiles(database, {"ward", "other"}) as files:
        assert only_cell(files.path("ward")) == 7
        assert files.path("other") is None


def test_a_file_of_any_name_serves_the_only_id(database: Path) -> None:
    with DatabaseFiles(database, {"hospital"}) as files:
        assert files.path("hospital") == database


def test_a_file_that_could_be_any_of_several_is_refused(database: Path) -> None:
    with pytest.raises(DatasetError, match="not named after any of the 2 databases"):
        DatabaseFiles(database, {"a", "b"})


def test_a_gzipped_file_is_unpacked_and_removed_at_the_end(database: Path) -> None:
    packed = database.with_name("ward.sqlite.gz")
    packed.write_bytes(gzip.compress(database.read_bytes()))
    with DatabaseFiles(packed, {"ward"}) as files:
        unpacked = files.path("ward")
        assert only_cell(unpacked) == 7
    assert unpacked is not None
    assert not unpacked.exists()


@pytest.mark.parametrize("place", ["ward.sqlite", "ward.db", "ward/ward.sqlite"])
def test_a_folder_is_searched(database: Path, tmp_path: Path, place: str) -> None:
    target = tmp_path / "databases" / place
    target.parent.mkdir(parents=True)
    target.write_bytes(database.read_bytes())
    with DatabaseFiles(tmp_path / "databases", {"ward", "absent"}) as files:
        assert only_cell(files.path("ward")) == 7
        assert files.path("absent") is None


def test_archives_of_a_folder_give_what_is_not_found_beside_them(database: Path, tmp_path: Path) -> None:
    folder = tmp_path / "databases"
    folder.mkdir()
    pack(database, folder / "more.tar.xz", ["deep/inside/ward.sqlite", "icu.sqlite", "notes.txt"])
    with DatabaseFiles(folder, {"ward", "icu"}) as files:
        assert only_cell(files.path("ward")) == only_cell(files.path("icu")) == 7


def test_an_archive_writes_nothing_outside_its_own_folder(database: Path, tmp_path: Path) -> None:
    archive = pack(database, tmp_path / "evil.tar.xz", ["../../ward.sqlite"])
    before = set(tmp_path.rglob("*"))
    with DatabaseFiles(archive, {"ward"}) as files:
        assert only_cell(files.path("ward")) == 7
        assert set(tmp_path.rglob("*")) == before


def test_links_in_an_archive_are_not_followed(tmp_path: Path) -> None:
    archive = tmp_path / "links.tar"
    with tarfile.open(archive, "w") as members:
        link = tarfile.TarInfo("ward.sqlite")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        members.addfile(link, io.BytesIO())
    with DatabaseFiles(archive, {"ward"}) as files:
        assert files.path("ward") is None


def test_an_id_is_no_path(database: Path, tmp_path: Path) -> None:
    (tmp_path / "databases").mkdir()
    with DatabaseFiles(tmp_path / "databases", {"../made/ward"}) as files:
        assert files.path("../made/ward") is None


@pytest.mark.parametrize("name", ["ward.sqlite", "ward.sqlite.gz", "ward.tar.xz"])
def test_a_damaged_file_is_an_error_naming_it(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"no database")
    with pytest.raises(DatasetError, match=name):
        DatabaseFiles(path, {"ward"})


def test_without_a_source_there_are_no_databases() -> None:
    with DatabaseFiles(None, {"ward"}) as files:
        assert files.path("ward") is None


def test_a_missing_source_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(DatasetError, match="no such file or folder"):
        DatabaseFiles(tmp_path / "none", {"ward"})


def test_a_server_is_refused_without_its_password() -> None:
    with pytest.raises(DatasetError, match="not in a server") as refused:
        DatabaseFiles("postgresql://me:geheim@host/ward", ["ward"])
    assert "geheim" not in str(refused.value)
