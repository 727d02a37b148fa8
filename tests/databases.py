"""Private database servers for tests and benchmarks.

    with postgres_server() as server:
        server.create_database("hospital")
        psycopg.connect(server.conninfo("hospital"))

A server of its own: a new data directory in a temporary folder, reached through a Unix socket in that folder and no port at
all, gone at the end. Nothing of a PostgreSQL that may already run on the machine is touched.
"""

from __future__ import annotations

import getpass
import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

SUPERUSER = "postgres"
"""The database role that owns the cluster, whoever runs the server."""
_DEBIAN = Path("/usr/lib/postgresql")
_START_SECONDS = 60.0
_GUARDIAN = """
cat >/dev/null
kill -QUIT "$1" 2>/dev/null
while kill -0 "$1" 2>/dev/null; do sleep 0.1; done
rm -rf "$2"
"""
"""Shell that stops the server when its own input ends: at the end of the block, or when this process is killed before.
SIGQUIT is an immediate shutdown: statements that hear no other signal end, too, and the data are not kept."""
_SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "full_page_writes": "off",
    "synchronous_commit": "off",
    "autovacuum": "off",
    "max_connections": "20",
    "shared_buffers": "32MB",
    "timezone": "UTC",
}


class DatabaseMissingError(Exception):
    """A server or driver is not installed; the message says what would install it."""


@dataclass(frozen=True)
class PostgresServer:
    """A running cluster. `folder` holds its data, its log and its socket."""

    folder: Path

    def conninfo(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        """A connection string for libpq and psycopg."""
        return f"host={self.folder} dbname={database} user={user}"

    def url(self, database: str = "postgres", user: str = SUPERUSER) -> str:
        """A SQLAlchemy URL, with psycopg as the driver."""
        return f"postgresql+psycopg://{user}@/{database}?{urlencode({'host': str(self.folder)})}"

    def create_database(self, name: str) -> None:
        """An empty database, in place of one of that name."""
        import psycopg
        from psycopg import sql

        with psycopg.connect(self.conninfo(), autocommit=True) as connection:
            connection.execute(
                sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(sql.Identifier(name))
            )
            connection.execute(sql.SQL("CREATE DATABASE {}").format(sql.Identifier(name)))


@contextmanager
def postgres_server() -> Iterator[PostgresServer]:
    """A new PostgreSQL cluster for the time of the block.

    Raises:
        DatabaseMissingError: the server's programs or psycopg are not installed.
        RuntimeError: it does not start; the message holds the end of its log.
    """
    programs = _postgres_programs()
    try:
        import psycopg  # noqa: F401 - the server is of no use without its driver
    except ImportError as error:
        raise DatabaseMissingError("pip install '.[postgres]' to run this") from error
    # Not under pytest's folders: those are closed to other users, and a socket's path must be short.
    folder = Path(tempfile.mkdtemp(prefix="fastsql-pg-"))
    try:
        owner = _server_user(folder)
        data = folder / "data"
        _checked(
            [
                str(programs / "initdb"),
                f"--pgdata={data}",
                f"--username={SUPERUSER}",
                "--auth=trust",
                "--encoding=UTF8",
                "--no-locale",
                "--no-sync",
            ],
            owner,
        )
        with _running(programs, folder, data, owner):
            yield PostgresServer(folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _postgres_programs() -> Path:
    """The folder of `initdb` and `postgres`, of the newest version installed."""
    versions = sorted(_DEBIAN.glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    onpath = shutil.which("postgres")
    for folder in [*versions, *([Path(onpath).resolve().parent] if onpath else [])]:
        if (folder / "initdb").is_file() and (folder / "postgres").is_file():
            return folder
    raise DatabaseMissingError("install a PostgreSQL server (Debian: apt-get install postgresql) to run this")


def _server_user(folder: Path) -> dict[str, Any]:
    """Arguments that make a subprocess run as whom PostgreSQL accepts: not root. `folder` is handed over to that user."""
    if os.geteuid() != 0:
        return {}
    for name in (SUPERUSER, "nobody"):
        try:
            account = pwd.getpwnam(name)
        except KeyError:
            continue
        os.chown(folder, account.pw_uid, account.pw_gid)
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": []}
    raise DatabaseMissingError(
        f"{getpass.getuser()} may not run PostgreSQL, and there is no user to run it as"
    )


@contextmanager
def _running(programs: Path, folder: Path, data: Path, owner: dict[str, Any]) -> Iterator[None]:
    settings = [f"-c{name}={value}" for name, value in _SETTINGS.items()]
    log = folder / "log"
    with log.open("wb") as output:
        process = subprocess.Popen(
            [
                str(programs / "postgres"),
                "-D",
                str(data),
                f"-cunix_socket_directories={folder}",
                *settings,
            ],
            stdout=output,
            stderr=output,
            stdin=subprocess.DEVNULL,
            cwd=folder,
            start_new_session=True,
            **owner,
        )
    guardian = subprocess.Popen(
        ["/bin/sh", "-c", _GUARDIAN, "sh", str(process.pid), str(folder)],
        stdin=subprocess.PIPE,
        start_new_session=True,
        **owner,
    )
    try:
        _await_start(process, data, log)
        yield
    finally:
        assert guardian.stdin is not None
        guardian.stdin.close()
        process.wait(timeout=60)
        guardian.wait(timeout=60)


def _await_start(process: subprocess.Popen[bytes], data: Path, log: Path) -> None:
    """Return when the server says in its own file that it is ready."""
    deadline = time.monotonic() + _START_SECONDS
    status = data / "postmaster.pid"
    while time.monotonic() < deadline and process.poll() is None:
        lines = status.read_text().splitlines() if status.exists() else []
        # The eighth line is the state: "starting", "ready", "stopping".
        if len(lines) >= 8 and lines[7].strip() == "ready":
            return
        time.sleep(0.02)
    raise RuntimeError(f"PostgreSQL does not start: {log.read_text(errors='replace')[-2000:]}")


def _checked(command: list[str], owner: dict[str, Any]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd="/", **owner)
    if done.returncode:
        raise RuntimeError(f"{Path(command[0]).name} failed: {done.stderr[-2000:]}")
