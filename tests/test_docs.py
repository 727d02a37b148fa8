"""What the documents show as output is what their code prints, and what they name is there."""

from __future__ import annotations

import contextlib
import io
import json
import re
import runpy
import shlex
import sys
from collections.abc import Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from fastsql.cli.main import main
from fastsql.parser import BUNDLED

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
DOCUMENTS = [*sorted(ROOT.glob("*.md")), *sorted(DOCS.glob("*.md"))]
FOLDERS = (".ci", "benchmarks", "configs", "csrc", "docs", "python/fastsql", "scripts", "tests")
ELSEWHERE = {"preprocess.sh", "onnxruntime.py", "test_it.py"}
"""Files of data sets, and files that tests write."""
_BLOCK = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_FILE = re.compile(r"(?<![\w/.<$*{}~-])(?:[\w-]+/)*[\w-]+\.(?:py|pyi|cc|cu|h|md|sh)\b(?![\w(*/])")
_FOLDER = re.compile(rf"(?<![\w/.<$*{{}}~-])(?:{'|'.join(FOLDERS[1:])})/[\w/-]*[\w-](?![\w./*{{<-])")
_MODULE = re.compile(r"\bfastsql(?:\.[a-z_]\w*)+")


def steps(document: str) -> list[tuple[str, str | None]]:
    """Python blocks of a document, each with the block without a language that follows it before any other."""
    blocks = _BLOCK.findall((DOCS / document).read_text(encoding="utf-8"))
    following = [*blocks[1:], ("end", "")]
    return [
        (code, output if kind == "" else None)
        for (language, code), (kind, output) in zip(blocks, following, strict=True)
        if language == "python"
    ]


@pytest.mark.parametrize(
    "document",
    [
        "../README.md",
        "answers.md",
        "conversations.md",
        "dialects.md",
        "encoders.md",
        "how-it-works.md",
        "profile.md",
        "schemas.md",
    ],
)
def test_code_in_a_document_prints_what_stands_below_it(
    document: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = steps(document)
    assert any(output is not None for _, output in found)
    if (
        any(re.search(r"fastsql\.(load|parse|ask)\(", code) for code, _ in found)
        and not (BUNDLED / "ehr-en").is_dir()
    ):
        pytest.skip("the bundled model ehr-en runs this")
    if any("sqlalchemy" in code for code, _ in found):
        pytest.importorskip("sqlalchemy", reason="pip install 'fastsql[db]' runs this")
    if any("onnxruntime" in code for code, _ in found):
        pytest.importorskip("onnxruntime", reason="pip install 'fastsql[cpu]' runs this")
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for code, output in found:
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile(code, document, "exec"), names)
        if output is not None:
            assert printed.getvalue() == output


def commands(document: Path) -> Iterator[list[str]]:
    """The words of the commands in a document's shell blocks that start fastsql, Python or pytest, settings left out."""
    for language, block in _BLOCK.findall(document.read_text(encoding="utf-8")):
        for line in block.replace("\\\n", " ").splitlines() if language == "bash" else ():
            words = shlex.split(line, comments=True)
            while words and re.match(r"[A-Z_]+=", words[0]):
                words.pop(0)
            if words[:1] in (["fastsql"], ["python"], ["pytest"]) and words[1:2] != ["-"]:
                yield words


def run(command: Sequence[str]) -> None:
    """Run what begins with `fastsql`, `python FILE` or `python -m MODULE`, in this process."""
    program, *arguments = command
    if program == "fastsql":
        main(arguments)
    elif arguments[0] == "-m":
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__")
    else:
        sys.argv, sys.path = arguments, [str((ROOT / arguments[0]).parent), *sys.path]
        runpy.run_path(str(ROOT / arguments[0]), run_name="__main__")


@cache
def help_of(*command: str) -> str:
    """What a command prints for ``--help``."""
    printed = io.StringIO()
    with contextlib.redirect_stdout(printed), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [])
        patch.setattr(sys, "path", [str(ROOT), *sys.path])
        with pytest.raises(SystemExit, match=r"^0$"):
            run([*command, "--help"])
    return printed.getvalue()


def begin(words: list[str]) -> tuple[str, ...]:
    """The words of a command that say which program it runs."""
    if words[0] == "fastsql":
        return tuple(words[:2]) if len(words) > 1 and not words[1].startswith("-") else ("fastsql",)
    return tuple(words[:3] if words[1] == "-m" else words[:2])


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_commands_in_a_document_exist_with_their_options(document: Path) -> None:
    for words in commands(document):
        if words[0] == "pytest":
            paths = [word.partition("::")[0] for word in words[1:] if word.startswith("tests")]
            assert [path for path in paths if not (ROOT / path).exists()] == []
            continue
        options = {word.partition("=")[0] for word in words if re.match(r"--\w", word)}
        known = set(re.findall(r"(?<![\w-])--[\w-]+", help_of(*begin(words)))) | {"--help"}
        assert options <= known, " ".join(words)


RESULTS = {
    path.stem: json.loads(path.read_text(encoding="utf-8"))
    for path in sorted((ROOT / "benchmarks" / "results").glob("*.json"))
}


@pytest.mark.parametrize("name", [name for name, found in RESULTS.items() if "ex" in found])
def test_a_row_of_the_benchmarks_has_the_figures_of_an_evaluation(name: str) -> None:
    found = RESULTS[name]
    accuracy = [
        f"{found['details']['answerable']:,}",
        *(f"{found[name]:.1f}" for name in ("ex", "em") if found[name] is not None),
    ]
    refusals = [
        f"{found['rs'][penalty]:.1f}" for penalty in ("0", "5", "10") if found["rs"][penalty] is not None
    ]
    rows = [
        line
        for line in (DOCS / "benchmarks.md").read_text(encoding="utf-8").splitlines()
        if line.startswith("|")
    ]
    expected = [figures for figures in (accuracy, refusals) if figures]
    assert any(all(figure in row for figure in figures) for row in rows for figures in expected)


def sources() -> list[Path]:
    """All that people write here: documents, code, tests and scripts."""
    found = [
        path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if "__pycache__" not in path.parts
    ]
    return sorted(path for path in [*ROOT.glob("*"), *found] if path.is_file())


def is_module(name: str) -> bool:
    """Whether a dotted name is a module of the package, or a name that one mentions."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        place = ROOT / "python" / Path(*parts[:count])
        for file in (place.with_suffix(".py"), place / "__init__.py", place.with_suffix(".pyi")):
            if file.is_file():
                return (
                    count == len(parts)
                    or re.search(rf"\b{parts[count]}\b", file.read_text("utf-8")) is not None
                )
    return False


def test_files_folders_and_modules_that_texts_name_exist() -> None:
    files = sources()
    paths = [path.relative_to(ROOT) for path in files]
    tails = {"/".join(path.parts[start:]) for path in paths for start in range(len(path.parts))}
    folders = {folder.as_posix() for path in paths for folder in path.parents}
    lost = []
    for path, file in zip(paths, files, strict=True):
        if (
            file.suffix not in (".py", ".pyi", ".cc", ".cu", ".h", ".md", ".sh", ".txt", ".toml", "")
            or file.name == "LICENSE"
        ):
            continue
        if "fixtures" in path.parts or "models" in path.parts:
            continue
        for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
            if line.lstrip().startswith("#include"):
                continue
            named = [name for name in _FILE.findall(line) if name not in tails | ELSEWHERE]
            named += [name for name in _FOLDER.findall(line) if name not in folders and name not in tails]
            if path.parts[0] != "tests":
                named += [name for name in _MODULE.findall(line) if not is_module(name)]
            lost += [f"{path}:{number}: {name}" for name in named]
    assert lost == []
