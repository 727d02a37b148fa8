"""The program helps, and turns every error into a message and an exit status."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest

from .conftest import Outcome

Run = Callable[..., Outcome]
COMMANDS = [
    *("demo", "parse", "chat", "eval", "train", "export", "calibrate", "card", "augment", "renumber"),
    "fit-ranking",
    "doctor",
]


def test_help_names_every_command_and_shows_examples(run: Run) -> None:
    outcome = run("--help")
    assert outcome.status == 0
    assert "examples:" in outcome.out
    for command in COMMANDS:
        assert f"fastsql {command}" in outcome.out or f"    {command}" in outcome.out


@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_has_help_with_examples(run: Run, command: str) -> None:
    outcome = run(command, "--help")
    assert outcome.status == 0
    assert f"examples:\n  fastsql {command}" in outcome.out


def test_without_a_command_help_is_shown(run: Run) -> None:
    outcome = run()
    assert outcome.status == 2
    assert "usage: fastsql" in outcome.out


def test_the_version_is_told(run: Run) -> None:
    assert run("--version").out.startswith("fastsql ")


def test_an_unknown_command_is_a_usage_error(run: Run) -> None:
    outcome = run("translate")
    assert outcome.status == 2
    assert "invalid choice" in outcome.err


def test_an_unknown_option_is_said_with_the_usage_of_its_command(run: Run) -> None:
    outcome = run("doctor", "--wrong", "5")
    assert outcome.status == 2
    assert outcome.err.startswith("usage: fastsql doctor ")
    assert outcome.err.endswith("fastsql doctor: error: unrecognized arguments: --wrong 5\n")


def test_errors_are_messages_without_a_traceback(run: Run) -> None:
    outcome = run("parse", "Who?", "--schema", "CREATE TABLE t (x INT)", "--model", "nowhere")
    assert outcome.status == 2
    assert outcome.err == "fastsql: nowhere: no such model. Give a bundled model or a folder.\n"


def test_asking_for_help_imports_nothing_heavy() -> None:
    code = (
        "import sys; from fastsql.cli.main import build_parser; build_parser().format_help();"
        "heavy = {'numpy', 'sqlglot', 'tokenizers', 'safetensors', 'onnxruntime', 'torch', 'sqlalchemy', 'rich',"
        " 'prompt_toolkit'};"
        "print(sorted(heavy & set(sys.modules)))"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert (found.stdout.strip(), found.stderr) == ("[]", "")


def test_a_reader_that_goes_away_is_no_error() -> None:
    found = subprocess.run(
        f"{sys.executable} -m fastsql.cli doctor | head -n 1",
        shell=True,
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.stdout.startswith("fastsql ")
    assert "Traceback" not in found.stderr
    assert "BrokenPipe" not in found.stderr
