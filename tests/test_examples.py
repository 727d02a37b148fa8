"""Every question that help, documents and the package itself show as an example is answered by the bundled model."""

from __future__ import annotations

import io
import re
import shlex
from pathlib import Path

import pytest

import fastsql
from fastsql import Parser, Schema
from fastsql.cli.main import main
from fastsql.demo import QUESTIONS, create_hospital

from .test_docs import DOCUMENTS, ROOT, commands, help_of

_REMARK = re.compile(r" {4,}\S.*")
"""What an example of a help says behind a command."""
_ASKING = ("parse", "demo")


def examples() -> list[list[str]]:
    """The commands of help and documents that ask questions, as words, but for those that need a server."""
    helps = [help_of("fastsql"), *(help_of("fastsql", command) for command in _ASKING)]
    lines = [line for text in helps for line in text.splitlines() if line.startswith("  fastsql ")]
    found = [shlex.split(_REMARK.sub("", line.strip())) for line in lines]
    found += [words for document in DOCUMENTS for words in commands(document) if words[0] == "fastsql"]
    asking = [
        words
        for words in found
        if words[1:2] and words[1] in _ASKING and len(words) > 2 and "://" not in " ".join(words)
    ]
    return list({tuple(words): words for words in asking}.values())


@pytest.fixture(scope="module")
def filled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the files that the examples name."""
    folder = tmp_path_factory.mktemp("examples")
    create_hospital(folder / "hospital.sqlite")
    schema = Schema.from_sqlite(folder / "hospital.sqlite")
    (folder / "schema.sql").write_text(schema.to_ddl(), encoding="utf-8")
    (folder / "clinic.toml").write_text("format = 1\n", encoding="utf-8")
    (folder / "questions.txt").write_text(
        "How many patients were prescribed warfarin?\nWhat are the five most common diagnoses?\n",
        encoding="utf-8",
    )
    return folder


@pytest.fixture
def folder(filled: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The same, as the folder where commands run."""
    monkeypatch.chdir(filled)
    return filled


def test_examples_of_each_kind_are_found() -> None:
    shown = [" ".join(words) for words in examples()]
    assert len(shown) >= 7
    for part in ("parse", "demo", "--values", "--explain", "--json", "--ask", "< questions.txt"):
        assert any(part in line for line in shown), part


@pytest.mark.parametrize("words", examples(), ids=" ".join)
def test_an_example_is_answered(
    ehr_en: Parser,
    folder: Path,
    words: list[str],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if "<" in words:
        place = words.index("<")
        typed = (folder / words[place + 1]).read_text(encoding="utf-8")
        words = words[:place] + words[place + 2 :]
        monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    assert main(words[1:]) == 0
    captured = capsys.readouterr()
    told = (captured.out + captured.err).casefold()
    refusals = told.count("refused: ") + told.count("拒绝回答：")
    own_questions = words[1] == "demo" and "--ask" not in words
    assert refusals == (1 if own_questions else 0)
    assert "SELECT" in captured.out


def test_the_readme_shows_what_the_demo_prints(
    ehr_en: Parser, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    shown = re.search(
        r"\n```\n(A synthetic hospital.*?)\n```", (ROOT / "README.md").read_text("utf-8"), re.DOTALL
    )
    assert shown is not None
    assert main(["demo"]) == 0
    printed = capsys.readouterr().out.splitlines()
    lines = [line for line in shown[1].splitlines() if not re.search(r"\d ms|ms: ", line)]
    assert len(lines) > 15
    assert [line for line in lines if line not in printed] == []


def test_the_readme_and_the_package_ask_what_is_answered(ehr_en: Parser, folder: Path) -> None:
    (question,) = re.findall(r'fastsql\.parse\("([^"]+)", "hospital\.sqlite"\)', fastsql.__doc__ or "")
    assert ehr_en.parse(question, folder / "hospital.sqlite", penalty=10).sql
    assert question not in QUESTIONS
