"""Each file of the benchmarks is a command with help, or a part of some, which says so when it is started."""

from __future__ import annotations

import re
import runpy
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
FILES = sorted((ROOT / "benchmarks").rglob("*.py"))
COMMANDS = [file for file in FILES if "argparse.ArgumentParser(" in file.read_text("utf-8")]
PARTS = [file for file in FILES if file not in COMMANDS]


def named(file: Path) -> str:
    return file.relative_to(ROOT).as_posix()


def start(file: Path, *arguments: str) -> int:
    """Run a file as ``python FILE`` does; its exit status."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [named(file), *arguments])
        patch.setattr(sys, "path", [str(file.parent), *sys.path])
        with pytest.raises(SystemExit) as end:
            runpy.run_path(str(file), run_name="__main__")
    return 0 if end.value.code is None else int(end.value.code)


@pytest.mark.parametrize("file", COMMANDS, ids=named)
def test_a_command_has_help_that_says_how_it_is_started(
    file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert start(file, "--help") == 0
    told = capsys.readouterr().out
    assert told.startswith("usage:")
    assert f"python {named(file)}" in told


@pytest.mark.parametrize("file", PARTS, ids=named)
@pytest.mark.parametrize("arguments", [(), ("--help",)], ids=["bare", "help"])
def test_a_part_says_which_commands_use_it(
    file: Path, arguments: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert start(file, *arguments) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert said.err.startswith(f"{named(file)} does nothing by itself.")
    users = re.findall(r"^    python (\S+)", said.err, re.MULTILINE)
    assert users
    assert {ROOT / user for user in users} <= set(COMMANDS)


def test_users_are_found_through_other_parts(capsys: pytest.CaptureFixture[str]) -> None:
    """The grammar of a subset of SQL is read by the part that drives the peers, and that by the measurement of the mask."""
    start(ROOT / "benchmarks" / "sql_subset.py")
    users = re.findall(r"python (\S+)", capsys.readouterr().err)
    assert users == ["benchmarks/mask.py"]
    start(ROOT / "benchmarks" / "gpu" / "table.py")
    assert re.findall(r"python (\S+)", capsys.readouterr().err) == ["benchmarks/gpu/run.py"]
