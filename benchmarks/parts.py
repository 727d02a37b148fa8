"""What a file that is a part of benchmarks, and none itself, says when it is started: which benchmarks use it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NoReturn

BENCHMARKS = Path(__file__).resolve().parent


def explain(file: str) -> NoReturn:
    """Say which benchmarks a part belongs to, and end with status 2."""
    path = Path(file).resolve()
    users = commands_with(path)
    width = max((len(_shown(user)) for user in users), default=0)
    lines = [f"    python {_shown(user):<{width}}  {_question(user)}" for user in users]
    print(
        f"{_shown(path)} does nothing by itself. It is a part of:",
        *lines,
        "Each of these has --help.",
        sep="\n",
        file=sys.stderr,
    )
    raise SystemExit(2)


def commands_with(part: Path) -> list[Path]:
    """The benchmarks that import a part, or import what imports it."""
    files = sorted(BENCHMARKS.rglob("*.py"))
    imports = {file: set(_imported(file)) for file in files}
    found, left = {part}, [part]
    while left:
        wanted = left.pop()
        new = [file for file in files if wanted in imports[file] and file not in found]
        found.update(new)
        left += new
    return [file for file in files if file in found and not is_part(file)]


def is_part(file: Path) -> bool:
    """Whether a file says that it does nothing by itself: it is this one, or imports it."""
    return file == Path(__file__).resolve() or Path(__file__).resolve() in _imported(file)


def _imported(file: Path) -> Iterator[Path]:
    """The files of this folder that a file imports, and the packages that they lie in."""
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names = [node.module]
        for name in names:
            module = BENCHMARKS.joinpath(*name.split("."))
            for place in (module.with_suffix(".py"), module / "__init__.py", module.parent / "__init__.py"):
                if place.is_file():
                    yield place


def _shown(file: Path) -> str:
    return file.relative_to(BENCHMARKS.parent).as_posix()


def _question(file: Path) -> str:
    """The first line of its docstring."""
    return (ast.get_docstring(ast.parse(file.read_text(encoding="utf-8"))) or "").partition("\n")[0]


if __name__ == "__main__":
    explain(__file__)
